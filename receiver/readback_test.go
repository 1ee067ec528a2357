package receiver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// The official types of OTLP are the judge of what was kept, since storage
// itself knows pdata: an item and what it belongs to is a ResourceLogs,
// ResourceSpans or ResourceMetrics message with one item in it.

// split cuts an Export*ServiceRequest into its items.
func split(t testing.TB, s otlp.Signal, request []byte) []proto.Message {
	t.Helper()
	var items []proto.Message
	switch s {
	case otlp.Logs:
		var r collectorlogs.ExportLogsServiceRequest
		unmarshal(t, request, &r)
		for _, rl := range r.ResourceLogs {
			for _, sl := range rl.ScopeLogs {
				for _, record := range sl.LogRecords {
					items = append(items, joinLog(rl, sl, record))
				}
			}
		}
	case otlp.Traces:
		var r collectortrace.ExportTraceServiceRequest
		unmarshal(t, request, &r)
		for _, rs := range r.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, span := range ss.Spans {
					items = append(items, joinSpan(rs, ss, span))
				}
			}
		}
	case otlp.Metrics:
		var r collectormetrics.ExportMetricsServiceRequest
		unmarshal(t, request, &r)
		for _, rm := range r.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					for _, point := range pointsOf(m) {
						items = append(items, joinPoint(t, rm, sm, m, point))
					}
				}
			}
		}
	}
	return items
}

func joinLog(rl *logspb.ResourceLogs, sl *logspb.ScopeLogs, record *logspb.LogRecord) proto.Message {
	rl, sl = proto.CloneOf(rl), proto.CloneOf(sl)
	sl.LogRecords = []*logspb.LogRecord{record}
	rl.ScopeLogs = []*logspb.ScopeLogs{sl}
	return rl
}

func joinSpan(rs *tracepb.ResourceSpans, ss *tracepb.ScopeSpans, span *tracepb.Span) proto.Message {
	rs, ss = proto.CloneOf(rs), proto.CloneOf(ss)
	ss.Spans = []*tracepb.Span{span}
	rs.ScopeSpans = []*tracepb.ScopeSpans{ss}
	return rs
}

func joinPoint(t testing.TB, rm *metricspb.ResourceMetrics, sm *metricspb.ScopeMetrics, m *metricspb.Metric, point proto.Message) proto.Message {
	rm, sm, m = proto.CloneOf(rm), proto.CloneOf(sm), proto.CloneOf(m)
	switch data := m.Data.(type) {
	case *metricspb.Metric_Gauge:
		data.Gauge.DataPoints = []*metricspb.NumberDataPoint{point.(*metricspb.NumberDataPoint)}
	case *metricspb.Metric_Sum:
		data.Sum.DataPoints = []*metricspb.NumberDataPoint{point.(*metricspb.NumberDataPoint)}
	case *metricspb.Metric_Histogram:
		data.Histogram.DataPoints = []*metricspb.HistogramDataPoint{point.(*metricspb.HistogramDataPoint)}
	case *metricspb.Metric_ExponentialHistogram:
		data.ExponentialHistogram.DataPoints = []*metricspb.ExponentialHistogramDataPoint{point.(*metricspb.ExponentialHistogramDataPoint)}
	case *metricspb.Metric_Summary:
		data.Summary.DataPoints = []*metricspb.SummaryDataPoint{point.(*metricspb.SummaryDataPoint)}
	default:
		t.Fatalf("metric of type %T", m.Data)
	}
	sm.Metrics = []*metricspb.Metric{m}
	rm.ScopeMetrics = []*metricspb.ScopeMetrics{sm}
	return rm
}

func pointsOf(m *metricspb.Metric) []proto.Message {
	switch {
	case m.GetGauge() != nil:
		return messages(m.GetGauge().DataPoints)
	case m.GetSum() != nil:
		return messages(m.GetSum().DataPoints)
	case m.GetHistogram() != nil:
		return messages(m.GetHistogram().DataPoints)
	case m.GetExponentialHistogram() != nil:
		return messages(m.GetExponentialHistogram().DataPoints)
	default:
		return messages(m.GetSummary().GetDataPoints())
	}
}

func messages[M proto.Message](in []M) []proto.Message {
	out := make([]proto.Message, len(in))
	for i := range in {
		out[i] = in[i]
	}
	return out
}

// readBack returns every item of a signal that the store holds.
func readBack(t testing.TB, store *storage.Store, s otlp.Signal) []proto.Message {
	t.Helper()
	var items []proto.Message
	visit := func(b *block.Block, _ storage.Position) (bool, error) {
		for row := range b.Rows {
			item, err := readRow(t, s, b, row)
			if err != nil {
				return false, err
			}
			items = append(items, item)
		}
		return true, nil
	}
	if err := store.Scan(t.Context(), storage.ScanOptions{Signal: s}, visit); err != nil {
		t.Fatal(err)
	}
	return items
}

func readRow(t testing.TB, s otlp.Signal, b *block.Block, row int) (proto.Message, error) {
	resource, err := b.Dict(block.Resource)
	if err != nil {
		return nil, err
	}
	scope, err := b.Dict(block.Scope)
	if err != nil {
		return nil, err
	}
	message, err := b.AppendMessage(nil, row)
	if err != nil {
		return nil, err
	}
	switch s {
	case otlp.Logs:
		var rl logspb.ResourceLogs
		var sl logspb.ScopeLogs
		var record logspb.LogRecord
		unmarshal(t, resource.At(row), &rl)
		unmarshal(t, scope.At(row), &sl)
		unmarshal(t, message, &record)
		return joinLog(&rl, &sl, &record), nil
	case otlp.Traces:
		var rs tracepb.ResourceSpans
		var ss tracepb.ScopeSpans
		var span tracepb.Span
		unmarshal(t, resource.At(row), &rs)
		unmarshal(t, scope.At(row), &ss)
		unmarshal(t, message, &span)
		return joinSpan(&rs, &ss, &span), nil
	}
	metric, err := b.Dict(block.Metric)
	if err != nil {
		return nil, err
	}
	var rm metricspb.ResourceMetrics
	var sm metricspb.ScopeMetrics
	var m metricspb.Metric
	unmarshal(t, resource.At(row), &rm)
	unmarshal(t, scope.At(row), &sm)
	unmarshal(t, metric.At(row), &m)
	point := emptyPoint(t, &m)
	unmarshal(t, message, point)
	return joinPoint(t, &rm, &sm, &m, point), nil
}

func emptyPoint(t testing.TB, m *metricspb.Metric) proto.Message {
	switch m.Data.(type) {
	case *metricspb.Metric_Gauge, *metricspb.Metric_Sum:
		return new(metricspb.NumberDataPoint)
	case *metricspb.Metric_Histogram:
		return new(metricspb.HistogramDataPoint)
	case *metricspb.Metric_ExponentialHistogram:
		return new(metricspb.ExponentialHistogramDataPoint)
	case *metricspb.Metric_Summary:
		return new(metricspb.SummaryDataPoint)
	}
	t.Fatalf("metric envelope of type %T", m.Data)
	return nil
}

// wantItems reports where two sets of items differ, whatever their order.
func wantItems(t *testing.T, what string, got, want []proto.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d items, want %d", what, len(got), len(want))
		return
	}
	sortItems(t, got)
	sortItems(t, want)
	for i := range want {
		if !proto.Equal(got[i], want[i]) {
			t.Errorf("%s: item %d (-want +got):\n%s", what, i, cmp.Diff(want[i], got[i], protocmp.Transform()))
			return
		}
	}
}

func sortItems(t *testing.T, items []proto.Message) {
	keys := make(map[proto.Message]string, len(items))
	for _, item := range items {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		keys[item] = string(b)
	}
	slices.SortFunc(items, func(a, b proto.Message) int { return strings.Compare(keys[a], keys[b]) })
}
