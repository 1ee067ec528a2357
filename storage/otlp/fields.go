package otlp

// Field numbers that readers of stored messages need, from the messages of
// opentelemetry-proto 1.x. Names are MessageField.
const (
	LogRecordTimeUnixNano           = 1
	LogRecordSeverityNumber         = 2
	LogRecordSeverityText           = 3
	LogRecordBody                   = 5
	LogRecordAttributes             = 6
	LogRecordDroppedAttributesCount = 7
	LogRecordFlags                  = 8
	LogRecordTraceID                = 9
	LogRecordSpanID                 = 10
	LogRecordObservedTimeUnixNano   = 11
	LogRecordEventName              = 12
)

// Field numbers of Span and what is inside it.
const (
	SpanTraceID                = 1
	SpanSpanID                 = 2
	SpanTraceState             = 3
	SpanParentSpanID           = 4
	SpanName                   = 5
	SpanKind                   = 6
	SpanStartTimeUnixNano      = 7
	SpanEndTimeUnixNano        = 8
	SpanAttributes             = 9
	SpanDroppedAttributesCount = 10
	SpanEvents                 = 11
	SpanDroppedEventsCount     = 12
	SpanLinks                  = 13
	SpanDroppedLinksCount      = 14
	SpanStatus                 = 15
	SpanFlags                  = 16

	StatusMessage = 2
	StatusCode    = 3
)

// Field numbers that all kinds of data points share. The numbers of the others
// depend on the kind: see PointFields.
const (
	PointStartTimeUnixNano = 2
	PointTimeUnixNano      = 3

	NumberDataPointAsDouble = 4 // double
	NumberDataPointAsInt    = 6 // sfixed64
)

// Field numbers of attributes and values.
const (
	KeyValueKey   = 1
	KeyValueValue = 2

	AnyValueString = 1
	AnyValueBool   = 2
	AnyValueInt    = 3 // varint, two's complement
	AnyValueDouble = 4
	AnyValueArray  = 5
	AnyValueKvlist = 6
	AnyValueBytes  = 7

	ArrayValueValues   = 1
	KeyValueListValues = 1
)

// Field numbers of the envelopes.
const (
	ResourceEnvelopeResource  = 1 // Resource of a ResourceLogs, ResourceSpans or ResourceMetrics
	ResourceEnvelopeSchemaURL = 3
	ScopeEnvelopeScope        = 1 // InstrumentationScope of a ScopeLogs, ScopeSpans or ScopeMetrics
	ScopeEnvelopeSchemaURL    = 3

	ResourceAttributes = 1

	ScopeName       = 1
	ScopeVersion    = 2
	ScopeAttributes = 3

	MetricName        = 1
	MetricDescription = 2
	MetricUnit        = 3
	MetricMetadata    = 12

	// In Sum, Histogram and ExponentialHistogram.
	AggregationTemporality = 2
	SumIsMonotonic         = 3
)

// PointKind is the type of a metric: the field number that its data has in the
// message Metric. The zero value is a metric without data.
type PointKind uint8

// The kinds of data points. Gauges and sums both hold NumberDataPoints.
const (
	Gauge                PointKind = 5
	Sum                  PointKind = 7
	Histogram            PointKind = 9
	ExponentialHistogram PointKind = 10
	Summary              PointKind = 11
)

// PointFields are the field numbers that differ between the kinds of data
// points. 0 means that the kind has no such field.
type PointFields struct{ Attributes, Exemplars, Flags int32 }

// Fields returns the field numbers of the kind's data points.
func (k PointKind) Fields() PointFields {
	switch k {
	case Gauge, Sum:
		return PointFields{Attributes: 7, Exemplars: 5, Flags: 8}
	case Histogram:
		return PointFields{Attributes: 9, Exemplars: 8, Flags: 10}
	case ExponentialHistogram:
		return PointFields{Attributes: 1, Exemplars: 11, Flags: 10}
	case Summary:
		return PointFields{Attributes: 7, Flags: 8}
	}
	return PointFields{}
}

// MetricKind returns the kind of a metric envelope, 0 when it has no data (a
// metric that owns items always has some).
func MetricKind(metric []byte) PointKind {
	var kind PointKind
	for pos := 0; pos < len(metric); {
		num, wire, next, ok := consumeTag(metric, pos)
		if !ok {
			return kind
		}
		end, ok := skipValue(metric, next, wire)
		if !ok {
			return kind
		}
		switch k := PointKind(num); {
		case num > 255:
		case k.Fields().Attributes != 0:
			kind = k
		}
		pos = end
	}
	return kind
}
