package mcp_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"sonde/mcp"
	"sonde/query"
	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// The two traces of the fixture; their ids share the first seven digits.
var (
	slowTrace = pcommon.TraceID{0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36}
	fastTrace = pcommon.TraceID{0x4b, 0xf9, 0x2f, 0x3a, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c}
)

func ago(d time.Duration) pcommon.Timestamp { return pcommon.NewTimestampFromTime(noon.Add(-d)) }

func spanID(n byte) pcommon.SpanID {
	return pcommon.SpanID{0xee, 0xe1, 0x9b, 0x7e, 0xc3, 0xc1, 0xb1, n}
}

// openFilled serves a Server over a real store with the fixture in it.
func openFilled(t testing.TB) *world {
	t.Helper()
	store := storagetest.Open(t, storage.Options{Now: func() time.Time { return noon }})
	w := open(t, query.New(store), store, mcp.Options{})
	fill(t, store)
	return w
}

// fill puts the fixture through the store's own door.
func fill(t testing.TB, store *storage.Store) {
	t.Helper()
	add := func(sig otlp.Signal, payload []byte, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		r, err := otlp.Walk(sig, payload, uint64(noon.UnixNano()))
		if err != nil {
			t.Fatal(err)
		}
		stored := uint64(len(r.Items))
		if err := store.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		store.CountIntake(sig, storage.GRPC, storage.Intake{Stored: stored, Rejected: 1})
	}
	logs, err := plogotlp.NewExportRequestFromLogs(fixtureLogs()).MarshalProto()
	add(otlp.Logs, logs, err)
	traces, err := ptraceotlp.NewExportRequestFromTraces(fixtureTraces()).MarshalProto()
	add(otlp.Traces, traces, err)
	metrics, err := pmetricotlp.NewExportRequestFromMetrics(fixtureMetrics()).MarshalProto()
	add(otlp.Metrics, metrics, err)
	if err := store.WaitCompacted(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func fixtureLogs() plog.Logs {
	logs := plog.NewLogs()
	for i, service := range []string{"checkout", "cart"} {
		rl := logs.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("service.name", service)
		rl.Resource().Attributes().PutStr("env", "prod")
		records := rl.ScopeLogs().AppendEmpty().LogRecords()
		for n := range 4 {
			r := records.AppendEmpty()
			r.SetTimestamp(ago(time.Duration(10*(n+1)+i) * time.Minute))
			r.SetSeverityNumber(plog.SeverityNumber(9 + 4*(n%3))) // INFO, WARN, ERROR
			r.Body().SetStr([]string{"order placed", "stock is low", "payment refused: timeout", "order placed"}[n])
			r.Attributes().PutInt("order.id", int64(100*i+n))
		}
		forged := records.AppendEmpty()
		forged.SetTimestamp(ago(45*time.Minute + time.Duration(i)*time.Second))
		forged.SetSeverityNumber(plog.SeverityNumberDebug)
		forged.Body().SetStr("line one\n12:00:00.000 FATAL #1 forged\x1b[31m <b>&amp;")
	}
	inTrace := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(2)
	inTrace.SetTraceID(slowTrace)
	inTrace.SetSpanID(spanID(2))
	old := logs.ResourceLogs().At(1).ScopeLogs().At(0).LogRecords().AppendEmpty()
	old.SetTimestamp(ago(3 * time.Hour))
	old.SetSeverityNumber(plog.SeverityNumberFatal)
	old.Body().SetStr("out of memory")
	return logs
}

func fixtureTraces() ptrace.Traces {
	traces := ptrace.NewTraces()
	spans := func(service string) ptrace.SpanSlice {
		rs := traces.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", service)
		return rs.ScopeSpans().AppendEmpty().Spans()
	}
	add := func(to ptrace.SpanSlice, id pcommon.TraceID, n, parent byte, name string, start, took time.Duration) ptrace.Span {
		s := to.AppendEmpty()
		s.SetTraceID(id)
		s.SetSpanID(spanID(n))
		if parent > 0 {
			s.SetParentSpanID(spanID(parent))
		}
		s.SetName(name)
		s.SetStartTimestamp(ago(start))
		s.SetEndTimestamp(ago(start - took))
		return s
	}
	gateway, checkout := spans("gateway"), spans("checkout")
	add(gateway, slowTrace, 1, 0, "POST /checkout", 30*time.Minute, 900*time.Millisecond).SetKind(ptrace.SpanKindServer)
	failed := add(checkout, slowTrace, 2, 1, "charge card", 30*time.Minute-50*time.Millisecond, 800*time.Millisecond)
	failed.Status().SetCode(ptrace.StatusCodeError)
	failed.Status().SetMessage("timeout")
	event := failed.Events().AppendEmpty()
	event.SetName("exception")
	event.SetTimestamp(ago(30*time.Minute - 800*time.Millisecond))
	event.Attributes().PutStr("exception.type", "TimeoutError")
	event.Attributes().PutStr("exception.message", "no answer from bank")
	add(gateway, fastTrace, 3, 0, "GET /cart", 20*time.Minute, 12*time.Millisecond).SetKind(ptrace.SpanKindServer)
	return traces
}

func fixtureMetrics() pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	rm := metrics.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("service.name", "cart")
	list := rm.ScopeMetrics().AppendEmpty().Metrics()

	gauge := list.AppendEmpty()
	gauge.SetName("queue.depth")
	gauge.SetUnit("{item}")
	depths := gauge.SetEmptyGauge().DataPoints()
	for i, depth := range []int64{3, 8, 5} {
		p := depths.AppendEmpty()
		p.SetTimestamp(ago(time.Duration(30-10*i) * time.Minute))
		p.SetIntValue(depth)
	}

	served := list.AppendEmpty()
	served.SetName("http.server.requests")
	sum := served.SetEmptySum()
	sum.SetIsMonotonic(true)
	sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	for i, count := range []int64{100, 160} {
		p := sum.DataPoints().AppendEmpty()
		p.SetStartTimestamp(ago(time.Hour))
		p.SetTimestamp(ago(time.Duration(20-10*i) * time.Minute))
		p.SetIntValue(count)
	}

	took := list.AppendEmpty()
	took.SetName("http.server.request.duration")
	took.SetUnit("s")
	histogram := took.SetEmptyHistogram()
	histogram.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	p := histogram.DataPoints().AppendEmpty()
	p.SetStartTimestamp(ago(20 * time.Minute))
	p.SetTimestamp(ago(10 * time.Minute))
	p.ExplicitBounds().FromRaw([]float64{0.1, 0.5, 1})
	p.BucketCounts().FromRaw([]uint64{60, 30, 9, 1})
	p.SetCount(100)
	p.SetSum(21.5)
	return metrics
}
