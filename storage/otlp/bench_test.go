package otlp_test

import (
	"bytes"
	"fmt"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"sonde/storage/otlp"
)

const benchItems = 1000

// benchTime is when the items of benchmarks happen: 2026-11-30T12:00:00Z.
const benchTime = 1796040000_000000000

func putAttributes(m pcommon.Map, i int) {
	m.PutStr("http.request.method", "GET")
	m.PutStr("url.path", fmt.Sprintf("/api/products/%d", i%97))
	m.PutInt("http.response.status_code", 200)
	m.PutStr("user.id", fmt.Sprintf("u-%06d", i*7919%1000000))
	m.PutStr("net.peer.name", "checkout-7d9f8b6c5-x2x7k")
}

func putResource(m pcommon.Map) {
	m.PutStr("service.name", "checkout")
	m.PutStr("service.version", "1.4.2")
	m.PutStr("k8s.pod.name", "checkout-7d9f8b6c5-x2x7k")
}

// benchLogs is a request of 1,000 log records of about 300 bytes.
func benchLogs() []byte {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	putResource(rl.Resource().Attributes())
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName("checkout/http")
	for i := range benchItems {
		r := sl.LogRecords().AppendEmpty()
		r.SetTimestamp(pcommon.Timestamp(benchTime + i))
		r.SetObservedTimestamp(pcommon.Timestamp(benchTime + i + 5))
		r.SetSeverityNumber(plog.SeverityNumberInfo)
		r.SetSeverityText("INFO")
		r.Body().SetStr(fmt.Sprintf("request %d to the product service finished in %d ms", i, i%450))
		putAttributes(r.Attributes(), i)
		r.SetTraceID(pcommon.TraceID{1, 2, 3, byte(i), byte(i >> 8)})
		r.SetSpanID(pcommon.SpanID{9, byte(i), byte(i >> 8)})
		r.SetFlags(1)
	}
	raw, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	if err != nil {
		panic(err)
	}
	return raw
}

func benchSpans() []byte {
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	putResource(rs.Resource().Attributes())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("checkout/http")
	for i := range benchItems {
		s := ss.Spans().AppendEmpty()
		s.SetTraceID(pcommon.TraceID{1, 2, 3, byte(i), byte(i >> 8)})
		s.SetSpanID(pcommon.SpanID{9, byte(i), byte(i >> 8)})
		s.SetParentSpanID(pcommon.SpanID{8, byte(i), byte(i >> 8)})
		s.SetName("GET /api/products/{id}")
		s.SetKind(ptrace.SpanKindServer)
		s.SetStartTimestamp(pcommon.Timestamp(benchTime + i))
		s.SetEndTimestamp(pcommon.Timestamp(benchTime + i + 4_000_000))
		s.SetFlags(0x101)
		putAttributes(s.Attributes(), i)
		s.Status().SetCode(ptrace.StatusCodeOk)
	}
	raw, err := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
	if err != nil {
		panic(err)
	}
	return raw
}

// benchPoints is a request of 1,000 points in 200 metrics.
func benchPoints() []byte {
	metrics := pmetric.NewMetrics()
	rm := metrics.ResourceMetrics().AppendEmpty()
	putResource(rm.Resource().Attributes())
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("checkout/http")
	for i := range benchItems / 5 {
		m := sm.Metrics().AppendEmpty()
		m.SetName(fmt.Sprintf("http.server.requests.%d", i))
		m.SetDescription("requests served")
		m.SetUnit("{request}")
		sum := m.SetEmptySum()
		sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		sum.SetIsMonotonic(true)
		for j := range 5 {
			p := sum.DataPoints().AppendEmpty()
			p.SetStartTimestamp(benchTime)
			p.SetTimestamp(pcommon.Timestamp(benchTime + 60_000_000_000))
			p.SetIntValue(int64(i * j))
			putAttributes(p.Attributes(), j)
		}
	}
	raw, err := pmetricotlp.NewExportRequestFromMetrics(metrics).MarshalProto()
	if err != nil {
		panic(err)
	}
	return raw
}

var benchRequests = []struct {
	name      string
	signal    otlp.Signal
	payload   []byte
	unmarshal func([]byte) error
}{
	{"logs", otlp.Logs, benchLogs(), func(b []byte) error { return plogotlp.NewExportRequest().UnmarshalProto(b) }},
	{"spans", otlp.Traces, benchSpans(), func(b []byte) error { return ptraceotlp.NewExportRequest().UnmarshalProto(b) }},
	{"points", otlp.Metrics, benchPoints(), func(b []byte) error { return pmetricotlp.NewExportRequest().UnmarshalProto(b) }},
}

func BenchmarkWalk(b *testing.B) {
	for _, bb := range benchRequests {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.payload)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := otlp.Walk(bb.signal, bb.payload, benchTime)
				if err != nil || len(r.Items) != benchItems {
					b.Fatalf("Walk = %v, %v", r, err)
				}
			}
			b.ReportMetric(benchItems*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkWalkRewrite is the slow way: every record has a span id of zeros.
func BenchmarkWalkRewrite(b *testing.B) {
	payload := field(1, field(2, bytes.Repeat(field(2, msg(fixed64(1, benchTime), field(5, str("request finished")),
		field(6, msg(field(1, "url.path"), field(2, str("/api/products/17")))), field(10, make([]byte, 8)))), benchItems)))
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := otlp.Walk(otlp.Logs, payload, benchTime)
		if err != nil || len(r.Items) != benchItems || len(r.Payload) >= len(payload) {
			b.Fatalf("Walk = %v, %v", r, err)
		}
	}
	b.ReportMetric(benchItems*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkUnmarshal is the decoding into structs that Walk saves.
func BenchmarkUnmarshal(b *testing.B) {
	for _, bb := range benchRequests {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.payload)))
			b.ReportAllocs()
			for b.Loop() {
				if err := bb.unmarshal(bb.payload); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(benchItems*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
