package otlp_test

import (
	"errors"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"sonde/storage/otlp"
)

// deepValue is a value of depth key-value lists and arrays in turn, with a byte
// value and a string at each level, also at the one where pdata stops reading.
func deepValue(depth int) *commonpb.AnyValue {
	v := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: "core"}}
	for i := range depth {
		raw := &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: []byte{byte(i), 0xff}}}
		if i%3 == 0 {
			v = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{
				Values: []*commonpb.AnyValue{raw, v, {}}}}}
			continue
		}
		v = &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{
			Values: []*commonpb.KeyValue{{Key: "bytes", Value: raw}, {Key: "deeper", Value: v}}}}}
	}
	return v
}

func deepAttributes(depth int) []*commonpb.KeyValue {
	return []*commonpb.KeyValue{{Key: "deep", Value: deepValue(depth)}}
}

// TestDecodeDeep puts values that pdata refuses for their depth at every place
// that has values.
func TestDecodeDeep(t *testing.T) {
	for _, depth := range []int{31, 32, 33, 34, 50, otlp.MaxDepth} {
		attributes := deepAttributes(depth)
		resource := &resourcepb.Resource{Attributes: attributes}
		scope := &commonpb.InstrumentationScope{Attributes: attributes}

		logs := &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{Resource: resource, ScopeLogs: []*logspb.ScopeLogs{{
			Scope: scope, LogRecords: []*logspb.LogRecord{{Body: deepValue(depth), Attributes: attributes}}}}}}}
		checkItems(t, otlp.Logs, marshal(t, logs), []proto.Message{logs})

		traces := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{Resource: resource, ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: scope, Spans: []*tracepb.Span{{TraceId: traceID, SpanId: spanID, Attributes: attributes, Status: &tracepb.Status{},
				Events: []*tracepb.Span_Event{{Attributes: attributes}},
				Links:  []*tracepb.Span_Link{{Attributes: attributes}}}}}}}}}
		checkItems(t, otlp.Traces, marshal(t, traces), []proto.Message{traces})

		for _, m := range deepMetrics(attributes) {
			m.Metadata = attributes
			metrics := &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{Resource: resource,
				ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: scope, Metrics: []*metricspb.Metric{m}}}}}}
			checkItems(t, otlp.Metrics, marshal(t, metrics), []proto.Message{metrics})
		}
	}
}

func deepMetrics(attributes []*commonpb.KeyValue) []*metricspb.Metric {
	exemplars := []*metricspb.Exemplar{{FilteredAttributes: attributes}}
	numbers := []*metricspb.NumberDataPoint{{TimeUnixNano: 1, Attributes: attributes, Exemplars: exemplars}}
	return []*metricspb.Metric{
		{Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: numbers}}},
		{Data: &metricspb.Metric_Sum{Sum: &metricspb.Sum{DataPoints: numbers}}},
		{Data: &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{DataPoints: []*metricspb.HistogramDataPoint{
			{TimeUnixNano: 1, Attributes: attributes, Exemplars: exemplars}}}}},
		{Data: &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{
			DataPoints: []*metricspb.ExponentialHistogramDataPoint{{TimeUnixNano: 1, Attributes: attributes, Exemplars: exemplars,
				Positive: &metricspb.ExponentialHistogramDataPoint_Buckets{}, Negative: &metricspb.ExponentialHistogramDataPoint_Buckets{}}}}}},
		{Data: &metricspb.Metric_Summary{Summary: &metricspb.Summary{DataPoints: []*metricspb.SummaryDataPoint{
			{TimeUnixNano: 1, Attributes: attributes}}}}},
	}
}

func TestDecodeWithoutEnvelopes(t *testing.T) {
	logs, err := otlp.DecodeLog(nil, nil, fixed64(1, 7))
	if err != nil {
		t.Fatal(err)
	}
	if got := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Timestamp(); got != 7 {
		t.Errorf("time of the decoded record = %d, want 7", got)
	}
}

func TestDecodeCopies(t *testing.T) {
	record := field(5, field(1, "before"))
	logs, err := otlp.DecodeLog(nil, nil, record)
	if err != nil {
		t.Fatal(err)
	}
	copy(record[4:], "after!")
	body := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str()
	if body != "before" {
		t.Errorf("body after the record was overwritten = %q, want %q", body, "before")
	}
}

func TestDecodeErrors(t *testing.T) {
	bad := wire{0x08}
	for name, err := range map[string]error{
		"log":      second(otlp.DecodeLog(nil, nil, bad)),
		"resource": second(otlp.DecodeLog(bad, nil, nil)),
		"scope":    second(otlp.DecodeSpan(nil, bad, goodIDs)),
		"span":     second(otlp.DecodeSpan(nil, nil, bad)),
		"point":    second(otlp.DecodePoint(nil, nil, field(5, ""), bad)),
		"metric":   second(otlp.DecodePoint(nil, nil, bad, point())),
		"no data":  second(otlp.DecodePoint(nil, nil, field(1, "name"), point())),
		"nothing":  second(otlp.DecodePoint(nil, nil, nil, point())),
	} {
		if !errors.Is(err, otlp.ErrMalformed) {
			t.Errorf("decoding a bad %s = %v, want ErrMalformed", name, err)
		}
	}
	if _, err := otlp.DecodeLog(nil, nil, field(5, nested(otlp.MaxDepth+1, false))); !errors.Is(err, otlp.ErrTooDeep) {
		t.Errorf("decoding a body nested too deeply = %v, want ErrTooDeep", err)
	}
}

func second[T any](_ T, err error) error { return err }
