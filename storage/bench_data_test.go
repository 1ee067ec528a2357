package storage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage/otlp"
)

// traffic makes requests like those of a middling shop: some twenty services,
// random ids, a dozen shapes of log lines, mostly the same attributes. It
// depends on its seed alone.
type traffic struct {
	*rand.Rand
	now time.Time
}

func newTraffic() *traffic {
	return &traffic{Rand: rand.New(rand.NewPCG(1, 2)), now: base}
}

func (tr *traffic) payload(b *testing.B, sig otlp.Signal, n int) []byte {
	b.Helper()
	var data []byte
	var err error
	switch sig {
	case otlp.Logs:
		data, err = new(plog.ProtoMarshaler).MarshalLogs(tr.logs(n))
	case otlp.Traces:
		data, err = new(ptrace.ProtoMarshaler).MarshalTraces(tr.traces(n))
	default:
		data, err = new(pmetric.ProtoMarshaler).MarshalMetrics(tr.metrics(n))
	}
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func (tr *traffic) resource(m pcommon.Map) {
	service := tr.IntN(20)
	m.PutStr("service.name", fmt.Sprintf("service-%02d", service))
	m.PutStr("service.version", fmt.Sprintf("1.%d.0", service%4))
	m.PutStr("k8s.pod.name", fmt.Sprintf("service-%02d-7d9f8b6c5-%d", service, tr.IntN(3)))
	m.PutStr("deployment.environment.name", "production")
	m.PutStr("telemetry.sdk.language", "go")
}

func (tr *traffic) tick() pcommon.Timestamp {
	tr.now = tr.now.Add(time.Duration(tr.IntN(2_000_000)))
	return pcommon.NewTimestampFromTime(tr.now)
}

func (tr *traffic) traceID() (id pcommon.TraceID) {
	for i := range id {
		id[i] = byte(tr.Uint32())
	}
	return id
}

func (tr *traffic) spanID() (id pcommon.SpanID) {
	for i := range id {
		id[i] = byte(tr.Uint32())
	}
	return id
}

var (
	routes  = []string{"/", "/cart", "/cart/items", "/checkout", "/products/{id}", "/search", "/login", "/orders/{id}"}
	methods = []string{"GET", "GET", "GET", "POST", "PUT"}
)

func (tr *traffic) line() string {
	switch n := tr.Uint32(); n % 12 {
	case 0:
		return fmt.Sprintf("order %08x accepted for user %d, total %d.%02d EUR", n, n%9973, n%400, n%100)
	case 1:
		return fmt.Sprintf("cache miss for key product:%d, loading from database", n%50000)
	case 2:
		return fmt.Sprintf("connection to 10.%d.%d.%d:5432 established in %d ms", n%4, n%251, n%255, n%90)
	case 3:
		return fmt.Sprintf("timeout after %d ms while calling payments, attempt %d of 3", 1000+n%2000, n%3)
	case 4:
		return fmt.Sprintf("user %d signed in from session %016x", n%9973, tr.Uint64())
	case 5:
		return fmt.Sprintf("published event to topic orders partition %d offset %d", n%12, n)
	default:
		return fmt.Sprintf("%s %s answered %d in %d us", methods[n%5], routes[n%8], 200+n%4*100, n%80000)
	}
}

func (tr *traffic) logs(n int) plog.Logs {
	l := plog.NewLogs()
	rl := l.ResourceLogs().AppendEmpty()
	tr.resource(rl.Resource().Attributes())
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName("sonde.example/shop")
	for range n {
		lr := sl.LogRecords().AppendEmpty()
		lr.SetTimestamp(tr.tick())
		lr.SetObservedTimestamp(lr.Timestamp() + pcommon.Timestamp(tr.IntN(300_000)))
		lr.SetSeverityNumber([]plog.SeverityNumber{5, 9, 9, 9, 9, 9, 13, 17}[tr.IntN(8)])
		lr.SetSeverityText(lr.SeverityNumber().String())
		lr.Body().SetStr(tr.line())
		if tr.IntN(10) < 6 {
			lr.SetTraceID(tr.traceID())
			lr.SetSpanID(tr.spanID())
		}
		a := lr.Attributes()
		a.PutStr("code.function.name", "handle"+routes[tr.IntN(8)])
		a.PutStr("http.request.method", methods[tr.IntN(5)])
		a.PutInt("http.response.status_code", int64(200+tr.IntN(4)*100))
		a.PutStr("user.id", fmt.Sprint(tr.IntN(9973)))
	}
	return l
}

func (tr *traffic) traces(n int) ptrace.Traces {
	t := ptrace.NewTraces()
	rs := t.ResourceSpans().AppendEmpty()
	tr.resource(rs.Resource().Attributes())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("sonde.example/shop")
	trace, parent := tr.traceID(), pcommon.SpanID{}
	for i := range n {
		if i%8 == 0 {
			trace, parent = tr.traceID(), pcommon.SpanID{}
		}
		sp := ss.Spans().AppendEmpty()
		sp.SetTraceID(trace)
		sp.SetSpanID(tr.spanID())
		sp.SetParentSpanID(parent)
		parent = sp.SpanID()
		sp.SetName(methods[tr.IntN(5)] + " " + routes[tr.IntN(8)])
		sp.SetKind(ptrace.SpanKind(1 + tr.IntN(5)))
		sp.SetStartTimestamp(tr.tick())
		sp.SetEndTimestamp(sp.StartTimestamp() + pcommon.Timestamp(tr.IntN(80_000_000)))
		a := sp.Attributes()
		a.PutStr("http.request.method", methods[tr.IntN(5)])
		a.PutStr("http.route", routes[tr.IntN(8)])
		a.PutInt("http.response.status_code", int64(200+tr.IntN(4)*100))
		a.PutStr("server.address", "shop.example")
		a.PutStr("url.path", fmt.Sprintf("/products/%d", tr.IntN(50000)))
		a.PutStr("network.peer.address", fmt.Sprintf("10.0.%d.%d", tr.IntN(4), tr.IntN(255)))
	}
	return t
}

func (tr *traffic) metrics(n int) pmetric.Metrics {
	m := pmetric.NewMetrics()
	rm := m.ResourceMetrics().AppendEmpty()
	tr.resource(rm.Resource().Attributes())
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("sonde.example/shop")
	at := tr.tick()
	for i := range (n + 9) / 10 {
		metric := sm.Metrics().AppendEmpty()
		metric.SetName(fmt.Sprintf("shop.metric.%d", i))
		metric.SetUnit("1")
		points := metric.SetEmptyGauge().DataPoints()
		if i%2 == 0 {
			sum := metric.SetEmptySum()
			sum.SetIsMonotonic(true)
			points = sum.DataPoints()
		}
		for j := range min(10, n-10*i) {
			p := points.AppendEmpty()
			p.SetTimestamp(at)
			p.SetStartTimestamp(pcommon.NewTimestampFromTime(base))
			if i%2 == 0 {
				p.SetIntValue(int64(tr.IntN(100_000)))
			} else {
				p.SetDoubleValue(float64(tr.IntN(10_000)) / 100)
			}
			p.Attributes().PutStr("http.route", routes[j%8])
			p.Attributes().PutInt("shard", int64(j))
		}
	}
	return m
}
