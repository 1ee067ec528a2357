package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// The benchmarks' data: requests of 1,000 items over one day, compacted.
const (
	benchRequests = 200
	benchItems    = 1000
	benchStep     = 24 * time.Hour / (benchRequests * benchItems)
)

func appendTo(b *testing.B, store *storage.Store, sig otlp.Signal, payload []byte, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	request, err := otlp.Walk(sig, payload, base)
	if err != nil {
		b.Fatal(err)
	}
	if err := store.Append(b.Context(), request); err != nil {
		b.Fatal(err)
	}
}

func benchStore(b *testing.B, add func(*storage.Store, *rand.Rand, int)) *query.Engine {
	b.Helper()
	store := storagetest.Open(b, storage.Options{Now: func() time.Time { return time.Unix(0, base) }})
	r := rand.New(rand.NewPCG(1, 2))
	for i := range benchRequests {
		add(store, r, i)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	if err := store.WaitCompacted(ctx); err != nil {
		b.Fatal(err)
	}
	return query.New(store)
}

func putBenchResource(r pcommon.Resource, i int) {
	r.Attributes().PutStr("service.name", fmt.Sprintf("service-%d", i%20))
	r.Attributes().PutStr("k8s.pod.name", fmt.Sprintf("service-%d-7d9f8b6c5-%05d", i%20, i%60))
	r.Attributes().PutStr("deployment.environment", "production")
}

var benchBodies = []string{
	"GET /api/v1/cart/%d 200 in %d ms",
	"user %d logged in from 10.1.%d.7",
	"cache miss for key session:%d, loading took %d us",
	"published order %d to queue orders, partition %d",
	"connection to payments-db lost after %d ms, retry %d",
	"slow query: SELECT * FROM orders WHERE customer_id = %d took %d ms",
}

func addBenchLogs(b *testing.B) func(*storage.Store, *rand.Rand, int) {
	return func(store *storage.Store, r *rand.Rand, request int) {
		logs := plog.NewLogs()
		rl := logs.ResourceLogs().AppendEmpty()
		putBenchResource(rl.Resource(), request)
		sl := rl.ScopeLogs().AppendEmpty()
		sl.Scope().SetName("io.example.http")
		for i := range benchItems {
			record := sl.LogRecords().AppendEmpty()
			at := pcommon.Timestamp(base + (request*benchItems+i)*int(benchStep))
			record.SetTimestamp(at)
			record.SetObservedTimestamp(at + pcommon.Timestamp(r.IntN(1e6)))
			record.SetSeverityNumber(plog.SeverityNumberInfo)
			record.SetSeverityText("INFO")
			if r.IntN(100) == 0 {
				record.SetSeverityNumber(plog.SeverityNumberError)
				record.SetSeverityText("ERROR")
			}
			record.Body().SetStr(fmt.Sprintf(benchBodies[r.IntN(len(benchBodies))], r.IntN(1e6), r.IntN(1000)))
			record.Attributes().PutStr("http.request.method", "GET")
			record.Attributes().PutInt("http.response.status_code", int64(200+r.IntN(4)))
			record.Attributes().PutStr("user.id", fmt.Sprintf("u-%06d", r.IntN(1e6)))
			if i%5 > 1 {
				record.SetTraceID(benchTraceID(request*benchItems/10 + i/10))
				record.SetSpanID(pcommon.SpanID{1, byte(r.IntN(256)), byte(r.IntN(256))})
			}
		}
		payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
		appendTo(b, store, otlp.Logs, payload, err)
	}
}

func benchTraceID(n int) pcommon.TraceID {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	var id pcommon.TraceID
	for i := range id {
		id[i] = byte(r.Uint32())
	}
	return id
}

// reportRows reports how many of the stored items an operation gets through.
func reportRows(b *testing.B) {
	b.ReportMetric(float64(benchRequests*benchItems)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportAllocs()
}

func BenchmarkLogs(b *testing.B) {
	e := benchStore(b, addBenchLogs(b))
	id := benchTraceID(12345)
	for _, bb := range []struct {
		name   string
		filter query.LogFilter
		want   int // records
	}{
		{"newest100", query.LogFilter{}, 100},
		{"absent word", query.LogFilter{Contains: "zorblatt"}, 0},
		{"absent hex", query.LogFilter{Contains: "deadbeef"}, 0},
		{"absent number", query.LogFilter{Contains: "9999999999"}, 0},
		{"absent umlaut", query.LogFilter{Contains: "Ärger"}, 0},
		{"common word", query.LogFilter{Contains: "Orders"}, 100},
		{"severity", query.LogFilter{Severity: query.SeverityRange{Min: 17, Max: 24}}, 100},
		{"trace", query.LogFilter{TraceID: mustTraceID(b, fmt.Sprintf("%x", id[:]))}, 6},
	} {
		b.Run(bb.name, func(b *testing.B) {
			bb.filter.Limit = 100
			for b.Loop() {
				page, err := e.Logs(b.Context(), bb.filter)
				if err != nil || len(page.Records) != bb.want {
					b.Fatalf("Logs(%+v) = %d records, %v, want %d", bb.filter, len(page.Records), err, bb.want)
				}
			}
			reportRows(b)
		})
	}
}

func BenchmarkTraces(b *testing.B) {
	e := benchStore(b, func(store *storage.Store, r *rand.Rand, request int) {
		traces := ptrace.NewTraces()
		rs := traces.ResourceSpans().AppendEmpty()
		putBenchResource(rs.Resource(), request)
		spans := rs.ScopeSpans().AppendEmpty().Spans()
		for i := range benchItems {
			span := spans.AppendEmpty()
			span.SetTraceID(benchTraceID(request*benchItems/10 + i/10))
			span.SetSpanID(pcommon.SpanID{1, byte(request), byte(i >> 8), byte(i)})
			if i%10 > 0 {
				span.SetParentSpanID(pcommon.SpanID{1, byte(request), byte(i / 10 * 10 >> 8), byte(i / 10 * 10)})
			}
			span.SetName(fmt.Sprintf("GET /api/v1/route%d", r.IntN(50)))
			at := pcommon.Timestamp(base + (request*benchItems+i)*int(benchStep))
			span.SetStartTimestamp(at)
			span.SetEndTimestamp(at + pcommon.Timestamp(r.ExpFloat64()*1e7))
			span.Attributes().PutInt("http.response.status_code", int64(200+r.IntN(4)))
		}
		payload, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
		appendTo(b, store, otlp.Traces, payload, err)
	})
	for _, bb := range []struct {
		name   string
		filter query.SpanFilter
		want   int // traces
	}{
		{"newest20", query.SpanFilter{}, 20},
		{"slow", query.SpanFilter{MinDuration: 100 * time.Millisecond}, 10},
		{"name", query.SpanFilter{Name: "*/route7"}, 20},
	} {
		b.Run(bb.name, func(b *testing.B) {
			bb.filter.Limit = 20
			for b.Loop() {
				page, err := e.Traces(b.Context(), bb.filter)
				if err != nil || len(page.Traces) < bb.want {
					b.Fatalf("Traces(%+v) = %d, %v, want %d", bb.filter, len(page.Traces), err, bb.want)
				}
			}
			reportRows(b)
		})
	}
	b.Run("one", func(b *testing.B) {
		id := benchTraceID(12345)
		whole := mustTraceID(b, fmt.Sprintf("%x", id[:]))
		for b.Loop() {
			trace, err := e.Trace(b.Context(), whole, 100)
			if err != nil || len(trace.Spans) != 10 {
				b.Fatalf("Trace(%v) = %d spans, %v, want 10", whole, len(trace.Spans), err)
			}
		}
		reportRows(b)
	})
}

func BenchmarkMetricNames(b *testing.B) {
	e := benchStore(b, func(store *storage.Store, r *rand.Rand, request int) {
		metrics := pmetric.NewMetrics()
		rm := metrics.ResourceMetrics().AppendEmpty()
		putBenchResource(rm.Resource(), request)
		list := rm.ScopeMetrics().AppendEmpty().Metrics()
		for i := range 50 {
			m := list.AppendEmpty()
			m.SetName(fmt.Sprintf("metric.%d", i))
			points := m.SetEmptyGauge().DataPoints()
			for j := range benchItems / 50 {
				point := points.AppendEmpty()
				point.SetTimestamp(pcommon.Timestamp(base + request*benchItems*int(benchStep)))
				point.SetDoubleValue(r.Float64())
				point.Attributes().PutStr("route", fmt.Sprintf("/route/%d", j))
				point.Attributes().PutInt("status", int64(200+j%5))
			}
		}
		payload, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(metrics)
		appendTo(b, store, otlp.Metrics, payload, err)
	})
	for b.Loop() {
		page, _, err := e.MetricNames(b.Context(), storage.TimeRange{}, 100)
		if err != nil || len(page) != 50 {
			b.Fatalf("MetricNames = %d, %v, want 50", len(page), err)
		}
	}
	reportRows(b)
}
