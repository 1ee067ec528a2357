package otlp_test

import (
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"sonde/storage/otlp"
)

// fieldNumbers pairs every exported field number with its field.
var fieldNumbers = []struct {
	got     int32
	message proto.Message
	field   protoreflect.Name
}{
	{otlp.LogRecordTimeUnixNano, &logspb.LogRecord{}, "time_unix_nano"},
	{otlp.LogRecordSeverityNumber, &logspb.LogRecord{}, "severity_number"},
	{otlp.LogRecordSeverityText, &logspb.LogRecord{}, "severity_text"},
	{otlp.LogRecordBody, &logspb.LogRecord{}, "body"},
	{otlp.LogRecordAttributes, &logspb.LogRecord{}, "attributes"},
	{otlp.LogRecordDroppedAttributesCount, &logspb.LogRecord{}, "dropped_attributes_count"},
	{otlp.LogRecordFlags, &logspb.LogRecord{}, "flags"},
	{otlp.LogRecordTraceID, &logspb.LogRecord{}, "trace_id"},
	{otlp.LogRecordSpanID, &logspb.LogRecord{}, "span_id"},
	{otlp.LogRecordObservedTimeUnixNano, &logspb.LogRecord{}, "observed_time_unix_nano"},
	{otlp.LogRecordEventName, &logspb.LogRecord{}, "event_name"},

	{otlp.SpanTraceID, &tracepb.Span{}, "trace_id"},
	{otlp.SpanSpanID, &tracepb.Span{}, "span_id"},
	{otlp.SpanTraceState, &tracepb.Span{}, "trace_state"},
	{otlp.SpanParentSpanID, &tracepb.Span{}, "parent_span_id"},
	{otlp.SpanName, &tracepb.Span{}, "name"},
	{otlp.SpanKind, &tracepb.Span{}, "kind"},
	{otlp.SpanStartTimeUnixNano, &tracepb.Span{}, "start_time_unix_nano"},
	{otlp.SpanEndTimeUnixNano, &tracepb.Span{}, "end_time_unix_nano"},
	{otlp.SpanAttributes, &tracepb.Span{}, "attributes"},
	{otlp.SpanDroppedAttributesCount, &tracepb.Span{}, "dropped_attributes_count"},
	{otlp.SpanEvents, &tracepb.Span{}, "events"},
	{otlp.SpanDroppedEventsCount, &tracepb.Span{}, "dropped_events_count"},
	{otlp.SpanLinks, &tracepb.Span{}, "links"},
	{otlp.SpanDroppedLinksCount, &tracepb.Span{}, "dropped_links_count"},
	{otlp.SpanStatus, &tracepb.Span{}, "status"},
	{otlp.SpanFlags, &tracepb.Span{}, "flags"},
	{otlp.StatusMessage, &tracepb.Status{}, "message"},
	{otlp.StatusCode, &tracepb.Status{}, "code"},

	{otlp.PointStartTimeUnixNano, &metricspb.NumberDataPoint{}, "start_time_unix_nano"},
	{otlp.PointStartTimeUnixNano, &metricspb.HistogramDataPoint{}, "start_time_unix_nano"},
	{otlp.PointStartTimeUnixNano, &metricspb.ExponentialHistogramDataPoint{}, "start_time_unix_nano"},
	{otlp.PointStartTimeUnixNano, &metricspb.SummaryDataPoint{}, "start_time_unix_nano"},
	{otlp.PointTimeUnixNano, &metricspb.NumberDataPoint{}, "time_unix_nano"},
	{otlp.PointTimeUnixNano, &metricspb.HistogramDataPoint{}, "time_unix_nano"},
	{otlp.PointTimeUnixNano, &metricspb.ExponentialHistogramDataPoint{}, "time_unix_nano"},
	{otlp.PointTimeUnixNano, &metricspb.SummaryDataPoint{}, "time_unix_nano"},
	{otlp.NumberDataPointAsDouble, &metricspb.NumberDataPoint{}, "as_double"},
	{otlp.NumberDataPointAsInt, &metricspb.NumberDataPoint{}, "as_int"},

	{otlp.KeyValueKey, &commonpb.KeyValue{}, "key"},
	{otlp.KeyValueValue, &commonpb.KeyValue{}, "value"},
	{otlp.AnyValueString, &commonpb.AnyValue{}, "string_value"},
	{otlp.AnyValueBool, &commonpb.AnyValue{}, "bool_value"},
	{otlp.AnyValueInt, &commonpb.AnyValue{}, "int_value"},
	{otlp.AnyValueDouble, &commonpb.AnyValue{}, "double_value"},
	{otlp.AnyValueArray, &commonpb.AnyValue{}, "array_value"},
	{otlp.AnyValueKvlist, &commonpb.AnyValue{}, "kvlist_value"},
	{otlp.AnyValueBytes, &commonpb.AnyValue{}, "bytes_value"},
	{otlp.ArrayValueValues, &commonpb.ArrayValue{}, "values"},
	{otlp.KeyValueListValues, &commonpb.KeyValueList{}, "values"},

	{otlp.ResourceEnvelopeResource, &logspb.ResourceLogs{}, "resource"},
	{otlp.ResourceEnvelopeResource, &tracepb.ResourceSpans{}, "resource"},
	{otlp.ResourceEnvelopeResource, &metricspb.ResourceMetrics{}, "resource"},
	{otlp.ResourceEnvelopeSchemaURL, &logspb.ResourceLogs{}, "schema_url"},
	{otlp.ResourceEnvelopeSchemaURL, &tracepb.ResourceSpans{}, "schema_url"},
	{otlp.ResourceEnvelopeSchemaURL, &metricspb.ResourceMetrics{}, "schema_url"},
	{otlp.ScopeEnvelopeScope, &logspb.ScopeLogs{}, "scope"},
	{otlp.ScopeEnvelopeScope, &tracepb.ScopeSpans{}, "scope"},
	{otlp.ScopeEnvelopeScope, &metricspb.ScopeMetrics{}, "scope"},
	{otlp.ScopeEnvelopeSchemaURL, &logspb.ScopeLogs{}, "schema_url"},
	{otlp.ScopeEnvelopeSchemaURL, &tracepb.ScopeSpans{}, "schema_url"},
	{otlp.ScopeEnvelopeSchemaURL, &metricspb.ScopeMetrics{}, "schema_url"},
	{otlp.ResourceAttributes, &resourcepb.Resource{}, "attributes"},
	{otlp.ScopeName, &commonpb.InstrumentationScope{}, "name"},
	{otlp.ScopeVersion, &commonpb.InstrumentationScope{}, "version"},
	{otlp.ScopeAttributes, &commonpb.InstrumentationScope{}, "attributes"},
	{otlp.MetricName, &metricspb.Metric{}, "name"},
	{otlp.MetricDescription, &metricspb.Metric{}, "description"},
	{otlp.MetricUnit, &metricspb.Metric{}, "unit"},
	{otlp.MetricMetadata, &metricspb.Metric{}, "metadata"},
	{otlp.AggregationTemporality, &metricspb.Sum{}, "aggregation_temporality"},
	{otlp.AggregationTemporality, &metricspb.Histogram{}, "aggregation_temporality"},
	{otlp.AggregationTemporality, &metricspb.ExponentialHistogram{}, "aggregation_temporality"},
	{otlp.SumIsMonotonic, &metricspb.Sum{}, "is_monotonic"},

	{int32(otlp.Gauge), &metricspb.Metric{}, "gauge"},
	{int32(otlp.Sum), &metricspb.Metric{}, "sum"},
	{int32(otlp.Histogram), &metricspb.Metric{}, "histogram"},
	{int32(otlp.ExponentialHistogram), &metricspb.Metric{}, "exponential_histogram"},
	{int32(otlp.Summary), &metricspb.Metric{}, "summary"},
}

func TestFieldNumbers(t *testing.T) {
	for _, tt := range fieldNumbers {
		d := tt.message.ProtoReflect().Descriptor()
		if want := int32(d.Fields().ByName(tt.field).Number()); tt.got != want {
			t.Errorf("number of %s.%s = %d, want %d", d.Name(), tt.field, tt.got, want)
		}
	}
}

func TestPointFields(t *testing.T) {
	for kind, point := range map[otlp.PointKind]proto.Message{
		otlp.Gauge:                &metricspb.NumberDataPoint{},
		otlp.Sum:                  &metricspb.NumberDataPoint{},
		otlp.Histogram:            &metricspb.HistogramDataPoint{},
		otlp.ExponentialHistogram: &metricspb.ExponentialHistogramDataPoint{},
		otlp.Summary:              &metricspb.SummaryDataPoint{},
	} {
		number := func(name protoreflect.Name) int32 {
			if f := point.ProtoReflect().Descriptor().Fields().ByName(name); f != nil {
				return int32(f.Number())
			}
			return 0
		}
		want := otlp.PointFields{Attributes: number("attributes"), Exemplars: number("exemplars"), Flags: number("flags")}
		if got := kind.Fields(); got != want {
			t.Errorf("PointKind(%d).Fields() = %+v, want %+v", kind, got, want)
		}
	}
}

func TestMetricKind(t *testing.T) {
	for _, tt := range []struct {
		metric *metricspb.Metric
		want   otlp.PointKind
	}{
		{&metricspb.Metric{Name: "a"}, 0},
		{&metricspb.Metric{Name: "a", Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{}}}, otlp.Gauge},
		{&metricspb.Metric{Unit: "By", Data: &metricspb.Metric_Sum{Sum: &metricspb.Sum{IsMonotonic: true}}}, otlp.Sum},
		{&metricspb.Metric{Data: &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{}}}, otlp.Histogram},
		{&metricspb.Metric{Data: &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{}}}, otlp.ExponentialHistogram},
		{&metricspb.Metric{Data: &metricspb.Metric_Summary{Summary: &metricspb.Summary{}}}, otlp.Summary},
	} {
		raw, err := proto.Marshal(tt.metric)
		if err != nil {
			t.Fatal(err)
		}
		if got := otlp.MetricKind(raw); got != tt.want {
			t.Errorf("MetricKind(%v) = %d, want %d", tt.metric, got, tt.want)
		}
	}
}
