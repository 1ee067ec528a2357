package block

import "sonde/storage/otlp"

// Columns that only AppendMessage and the attribute methods read. Their
// numbers are part of the file format too.
const (
	shapes          Column = 24 + iota // D, all signals: which attributes a row has
	attributeValues                    // all signals: the values of all keys
	statusKind                         // U, spans: 1 where a status was sent
	trigrams                           // logs: see trigramSet
	numColumns
)

// form is how a column is held in memory.
type form uint8

const (
	formUints form = 1 + iota
	formDict
	formStrings
)

// forms lists the columns that the generic code reads and writes.
var forms = [numColumns]form{
	Time: formUints, EventTime: formUints, ObservedTime: formUints, Severity: formUints, BodyKind: formUints,
	Kind: formUints, EndTime: formUints, StatusCode: formUints, StartTime: formUints, ValueKind: formUints,
	Value: formUints, statusKind: formUints,
	Resource: formDict, Scope: formDict, SeverityText: formDict, TraceID: formDict, Name: formDict,
	StatusMessage: formDict, Metric: formDict, shapes: formDict,
	Rest: formStrings, Body: formStrings, SpanID: formStrings, ParentSpanID: formStrings,
}

// signalColumns lists the columns of each signal in the order in which they
// are encoded. Time is first because times of other columns lean on it.
var signalColumns = [...][]Column{
	otlp.Logs: {Time, Resource, Scope, EventTime, ObservedTime, Severity, SeverityText, BodyKind, Body,
		TraceID, SpanID, Rest, shapes, trigrams},
	otlp.Traces: {Time, Resource, Scope, EndTime, Kind, Name, TraceID, SpanID, ParentSpanID,
		statusKind, StatusCode, StatusMessage, Rest, shapes},
	otlp.Metrics: {Time, Resource, Scope, Metric, StartTime, ValueKind, Value, Rest, shapes},
}

// has reports whether a signal has a column.
func has(s otlp.Signal, c Column) bool {
	if int(s) >= len(signalColumns) {
		return false
	}
	for _, have := range signalColumns[s] {
		if have == c {
			return true
		}
	}
	return false
}

// use is what is done with a field of a message.
type use uint8

const (
	useNone      use = iota // no column: goes to Rest
	useNumber               // into the target's U column
	useBytes                // into the target's D or B column
	useAttribute            // a KeyValue
	useBody                 // an AnyValue
	useStatus               // a Status
	useDouble               // a value of a number data point
	useInt                  // likewise
)

// target says where a field of a message goes.
type target struct {
	use    use
	wire   uint8 // fields of another wire type go to Rest
	column Column
}

// schema says where the fields of a message go.
type schema struct {
	targets [32]target // by field number
	time    int32      // the field that is the item's TimeUnixNano, 0 when none is
}

var logSchema = schema{targets: [32]target{
	otlp.LogRecordTimeUnixNano:         {useNumber, wireFixed64, EventTime},
	otlp.LogRecordSeverityNumber:       {useNumber, wireVarint, Severity},
	otlp.LogRecordSeverityText:         {useBytes, wireBytes, SeverityText},
	otlp.LogRecordBody:                 {useBody, wireBytes, Body},
	otlp.LogRecordAttributes:           {useAttribute, wireBytes, Attributes},
	otlp.LogRecordTraceID:              {useBytes, wireBytes, TraceID},
	otlp.LogRecordSpanID:               {useBytes, wireBytes, SpanID},
	otlp.LogRecordObservedTimeUnixNano: {useNumber, wireFixed64, ObservedTime},
}}

var spanSchema = schema{time: otlp.SpanStartTimeUnixNano, targets: [32]target{
	otlp.SpanTraceID:           {useBytes, wireBytes, TraceID},
	otlp.SpanSpanID:            {useBytes, wireBytes, SpanID},
	otlp.SpanParentSpanID:      {useBytes, wireBytes, ParentSpanID},
	otlp.SpanName:              {useBytes, wireBytes, Name},
	otlp.SpanKind:              {useNumber, wireVarint, Kind},
	otlp.SpanStartTimeUnixNano: {useNumber, wireFixed64, Time},
	otlp.SpanEndTimeUnixNano:   {useNumber, wireFixed64, EndTime},
	otlp.SpanAttributes:        {useAttribute, wireBytes, Attributes},
	otlp.SpanStatus:            {useStatus, wireBytes, StatusCode},
}}

// pointSchema returns the schema of data points under a metric.
func pointSchema(metric []byte) *schema {
	switch otlp.MetricKind(metric) {
	case otlp.Gauge, otlp.Sum:
		return &numberSchema
	case otlp.Histogram:
		return &histogramSchema
	case otlp.ExponentialHistogram:
		return &exponentialSchema
	case otlp.Summary:
		return &summarySchema
	}
	return &unknownSchema
}

var (
	numberSchema      = newPointSchema(otlp.Gauge)
	histogramSchema   = newPointSchema(otlp.Histogram)
	exponentialSchema = newPointSchema(otlp.ExponentialHistogram)
	summarySchema     = newPointSchema(otlp.Summary)
	unknownSchema     schema // of a metric without data: all of it is Rest
)

func newPointSchema(k otlp.PointKind) schema {
	s := schema{time: otlp.PointTimeUnixNano, targets: [32]target{
		otlp.PointStartTimeUnixNano: {useNumber, wireFixed64, StartTime},
		otlp.PointTimeUnixNano:      {useNumber, wireFixed64, Time},
	}}
	s.targets[k.Fields().Attributes] = target{useAttribute, wireBytes, Attributes}
	if k == otlp.Gauge {
		s.targets[otlp.NumberDataPointAsDouble] = target{useDouble, wireFixed64, Value}
		s.targets[otlp.NumberDataPointAsInt] = target{useInt, wireFixed64, Value}
	}
	return s
}
