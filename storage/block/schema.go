package block

import "sonde/storage/otlp"

// how a field of a message is kept in its column.
type how uint8

const (
	asRest      how = iota // no column: raw, tag included
	asFixed64              // uints
	asVarint               // uints
	asDict                 // length-delimited, in a dictionary
	asString               // length-delimited
	asBody                 // AnyValue: Body and BodyKind
	asAttribute            // KeyValue: Attributes
	asStatus               // Status: StatusMessage and StatusCode
	asDouble               // Value, with ValueDouble
	asInt                  // Value, with ValueInt
	asTime                 // already in Time: dropped on the way in, written from Time on the way out
)

// field says where a message's field goes.
type field struct {
	number int32
	how    how
	column Column
}

// schema is the fields of one message type that have columns. byNumber finds
// them on the way in, fields lists them on the way out.
type schema struct {
	fields   []field
	byNumber [32]field
}

func newSchema(fields ...field) *schema {
	s := &schema{fields: fields}
	for _, f := range fields {
		s.byNumber[f.number] = f
	}
	return s
}

// field returns where the field goes; asRest when it has no column.
func (s *schema) field(number int32) field {
	if int(number) < len(s.byNumber) {
		return s.byNumber[number]
	}
	return field{}
}

var (
	logSchema = newSchema(
		field{otlp.LogRecordTimeUnixNano, asFixed64, EventTime},
		field{otlp.LogRecordSeverityNumber, asVarint, Severity},
		field{otlp.LogRecordSeverityText, asDict, SeverityText},
		field{otlp.LogRecordBody, asBody, Body},
		field{otlp.LogRecordAttributes, asAttribute, Attributes},
		field{otlp.LogRecordTraceID, asDict, TraceID},
		field{otlp.LogRecordSpanID, asString, SpanID},
		field{otlp.LogRecordObservedTimeUnixNano, asFixed64, ObservedTime},
	)
	spanSchema = newSchema(
		field{otlp.SpanTraceID, asDict, TraceID},
		field{otlp.SpanSpanID, asString, SpanID},
		field{otlp.SpanParentSpanID, asString, ParentSpanID},
		field{otlp.SpanName, asDict, Name},
		field{otlp.SpanKind, asVarint, Kind},
		field{otlp.SpanStartTimeUnixNano, asTime, Time},
		field{otlp.SpanEndTimeUnixNano, asFixed64, EndTime},
		field{otlp.SpanAttributes, asAttribute, Attributes},
		field{otlp.SpanStatus, asStatus, StatusCode},
	)
	numberSchema               = pointSchema(otlp.Gauge, field{otlp.NumberDataPointAsDouble, asDouble, Value}, field{otlp.NumberDataPointAsInt, asInt, Value})
	histogramSchema            = pointSchema(otlp.Histogram)
	exponentialHistogramSchema = pointSchema(otlp.ExponentialHistogram)
	summarySchema              = pointSchema(otlp.Summary)
)

func pointSchema(k otlp.PointKind, more ...field) *schema {
	return newSchema(append([]field{
		{otlp.PointStartTimeUnixNano, asFixed64, StartTime},
		{otlp.PointTimeUnixNano, asTime, Time},
		{k.Fields().Attributes, asAttribute, Attributes},
	}, more...)...)
}

// schemaOf returns the schema of a signal's items; metric is the envelope of a
// data point's metric.
func schemaOf(s otlp.Signal, metric []byte) *schema {
	switch s {
	case otlp.Logs:
		return logSchema
	case otlp.Traces:
		return spanSchema
	}
	switch otlp.MetricKind(metric) {
	case otlp.Histogram:
		return histogramSchema
	case otlp.ExponentialHistogram:
		return exponentialHistogramSchema
	case otlp.Summary:
		return summarySchema
	default:
		return numberSchema
	}
}
