package block_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage/otlp"
)

// A corpus imitates what the services of a small shop send: requests of 1,000
// items over about an hour, each spread over some sixty pods.
const (
	corpusStart  = uint64(1_790_000_000_000_000_000)
	corpusBatch  = 1000
	corpusPods   = 60
	corpusSeries = 2000
)

type corpus struct {
	*rand.Rand
	n int // items so far
}

// newCorpus returns the requests of a signal with about n items together.
func newCorpus(t testing.TB, s otlp.Signal, n int) []*otlp.Request {
	t.Helper()
	c := &corpus{Rand: rand.New(rand.NewPCG(7, uint64(s)))}
	var out []*otlp.Request
	for c.n < n {
		var payload []byte
		var err error
		switch s {
		case otlp.Logs:
			payload, err = (&plog.ProtoMarshaler{}).MarshalLogs(c.logs())
		case otlp.Traces:
			payload, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(c.spans())
		default:
			payload, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(c.points())
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := otlp.Walk(s, payload, corpusStart)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func pickOne[T any](c *corpus, from []T) T { return from[c.IntN(len(from))] }

var (
	shopServices = []string{"gateway", "storefront", "checkout", "cart", "catalog", "search", "pricing", "inventory",
		"payments", "fraud", "shipping", "accounts", "sessions", "email", "media", "reviews", "reporting", "scheduler"}
	shopRoutes = []string{"/api/v1/orders/{id}", "/api/v1/products/{id}", "/api/v1/search", "/api/v1/checkout",
		"/api/v1/cart/items", "/api/v1/accounts/{id}", "/internal/stock/{sku}", "/healthz"}
	shopAgents = []string{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/139.0 Safari/537.36",
		"shop-android/7.14.2 okhttp/4.12.0", "kube-probe/1.33", "Go-http-client/2.0"}
	shopTables = []string{"orders", "order_items", "products", "stock", "accounts", "carts", "sessions", "payments"}
)

func (c *corpus) resource(r pcommon.Resource, pod int) {
	name := shopServices[pod%len(shopServices)]
	a := r.Attributes()
	a.PutStr("service.name", name)
	a.PutStr("service.namespace", "shop")
	a.PutStr("service.version", "2.4.1")
	a.PutStr("service.instance.id", fmt.Sprintf("%s-7d9f%04x", name, pod*77))
	a.PutStr("deployment.environment.name", "production")
	a.PutStr("host.name", fmt.Sprintf("node-%02d.eu-west.internal", pod%12))
	a.PutStr("telemetry.sdk.language", "go")
}

// now is the time of the next item.
func (c *corpus) now() pcommon.Timestamp {
	c.n++
	return pcommon.Timestamp(corpusStart + uint64(c.n)*18_000_000 + c.Uint64N(18_000_000))
}

func (c *corpus) id8() (id [8]byte) {
	for i := range id {
		id[i] = byte(1 + c.Uint32N(255))
	}
	return id
}

func traceOf(n int) (id pcommon.TraceID) {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	for i := range id {
		id[i] = byte(1 + rng.Uint32N(255))
	}
	return id
}

func (c *corpus) logs() plog.Logs {
	ld := plog.NewLogs()
	pods := map[int]plog.LogRecordSlice{}
	for range corpusBatch {
		pod := c.IntN(corpusPods)
		records, ok := pods[pod]
		if !ok {
			rl := ld.ResourceLogs().AppendEmpty()
			c.resource(rl.Resource(), pod)
			sl := rl.ScopeLogs().AppendEmpty()
			sl.Scope().SetName("shop/" + shopServices[pod%len(shopServices)])
			records = sl.LogRecords()
			pods[pod] = records
		}
		c.logRecord(records.AppendEmpty())
	}
	return ld
}

func (c *corpus) logRecord(r plog.LogRecord) {
	severity, text := plog.SeverityNumberInfo, "INFO"
	switch f := c.Float64(); {
	case f < 0.15:
		severity, text = plog.SeverityNumberDebug, "DEBUG"
	case f > 0.97:
		severity, text = plog.SeverityNumberError, "ERROR"
	case f > 0.85:
		severity, text = plog.SeverityNumberWarn, "WARN"
	}
	now, route, status := c.now(), pickOne(c, shopRoutes), 200
	if severity == plog.SeverityNumberError {
		status = 500 + c.IntN(4)
	}
	request := fmt.Sprintf("req-%016x", c.Uint64())
	r.SetTimestamp(now)
	r.SetObservedTimestamp(now + pcommon.Timestamp(c.IntN(2_000_000)))
	r.SetSeverityNumber(severity)
	r.SetSeverityText(text)
	r.Body().SetStr(c.body(route, status, request))
	a := r.Attributes()
	a.PutStr("thread.name", fmt.Sprintf("worker-%d", c.IntN(16)))
	a.PutStr("http.route", route)
	a.PutInt("http.response.status_code", int64(status))
	a.PutStr("customer.id", fmt.Sprintf("cust-%06d", c.IntN(50_000)))
	a.PutStr("request.id", request)
	if c.IntN(10) < 3 {
		r.SetTraceID(traceOf(c.n / 17))
		r.SetSpanID(c.id8())
		r.SetFlags(plog.DefaultLogRecordFlags.WithIsSampled(true))
	}
}

// body is a line of about 200 bytes.
func (c *corpus) body(route string, status int, request string) string {
	ip := fmt.Sprintf("10.%d.%d.%d", c.IntN(32), c.IntN(256), c.IntN(256))
	ms, id := int(c.ExpFloat64()*40)+1, c.IntN(10_000_000)
	switch c.IntN(4) {
	case 0:
		return fmt.Sprintf("GET %s?id=%d completed with status %d in %d ms, %d bytes written, client %s, agent %q, request %s",
			route, id, status, ms, c.IntN(60_000), ip, pickOne(c, shopAgents), request)
	case 1:
		return fmt.Sprintf("order %d moved to state PACKED by worker %d, %d items, total %d.%02d EUR, warehouse w-%03d, carrier pick-up in %d h, event published to topic orders.v2 at offset %d, request %s",
			id, c.IntN(16), 1+c.IntN(9), c.IntN(900), c.IntN(100), c.IntN(400), c.IntN(72), c.IntN(1e9), request)
	case 2:
		return fmt.Sprintf("SELECT id, status, updated_at FROM %s WHERE tenant_id = %d AND id = %d ORDER BY updated_at DESC LIMIT %d -- rows=%d plan=index took=%dus request=%s",
			pickOne(c, shopTables), c.IntN(900), id, 10+c.IntN(90), c.IntN(100), ms*11, request)
	}
	return fmt.Sprintf("connection pool primary is at %d of 64 connections, %d callers waiting, longest wait %d ms; slow statement against %s took %d ms, request %s from host %s",
		48+c.IntN(16), c.IntN(40), ms*10, pickOne(c, shopTables), ms*30, request, ip)
}

func (c *corpus) spans() ptrace.Traces {
	td := ptrace.NewTraces()
	pods := map[int]ptrace.SpanSlice{}
	var parent [8]byte
	for i := range corpusBatch {
		pod := c.IntN(corpusPods)
		spans, ok := pods[pod]
		if !ok {
			rs := td.ResourceSpans().AppendEmpty()
			c.resource(rs.Resource(), pod)
			ss := rs.ScopeSpans().AppendEmpty()
			ss.Scope().SetName("shop/instrumentation")
			ss.Scope().SetVersion("1.4.0")
			spans = ss.Spans()
			pods[pod] = spans
		}
		if i%13 == 0 {
			parent = [8]byte{}
		}
		s := spans.AppendEmpty()
		c.span(s, parent)
		if i%13 == 0 || c.IntN(3) == 0 {
			parent = s.SpanID()
		}
	}
	return td
}

func (c *corpus) span(s ptrace.Span, parent [8]byte) {
	s.SetTraceID(traceOf(c.n / 13))
	s.SetSpanID(c.id8())
	s.SetParentSpanID(parent)
	s.SetFlags(0x101)
	start, route, id := c.now(), pickOne(c, shopRoutes), c.IntN(10_000_000)
	s.SetStartTimestamp(start)
	s.SetEndTimestamp(start + pcommon.Timestamp(40e6*math.Exp(1.2*c.NormFloat64())))
	a := s.Attributes()
	switch c.IntN(5) {
	case 0, 1:
		table := pickOne(c, shopTables)
		s.SetKind(ptrace.SpanKindClient)
		s.SetName("SELECT " + table)
		a.PutStr("db.system.name", "postgresql")
		a.PutStr("db.namespace", "shop")
		a.PutStr("db.collection.name", table)
		a.PutStr("db.operation.name", "SELECT")
		a.PutStr("db.query.text", fmt.Sprintf("SELECT %s WHERE tenant_id = $1 AND id = $2 /* %d */", table, id))
		a.PutStr("server.address", "pg-primary.shop.internal")
		a.PutInt("server.port", 5432)
	case 2, 3:
		s.SetKind(ptrace.SpanKindServer)
		s.SetName("GET " + route)
		a.PutStr("http.request.method", "GET")
		a.PutStr("http.route", route)
		a.PutStr("url.scheme", "https")
		a.PutStr("url.path", fmt.Sprintf("%s?id=%d", route, id))
		a.PutInt("http.response.status_code", 200)
		a.PutStr("server.address", "shop.internal")
		a.PutStr("network.protocol.version", "2")
		a.PutStr("client.address", fmt.Sprintf("10.%d.%d.%d", id%32, id>>8&255, id&255))
		a.PutStr("user_agent.original", pickOne(c, shopAgents))
	default:
		s.SetKind(ptrace.SpanKindInternal)
		s.SetName("OrderService.place")
		a.PutStr("code.function.name", "OrderService.place")
		a.PutStr("thread.name", fmt.Sprintf("worker-%d", id%16))
	}
	if c.IntN(50) == 0 {
		s.Status().SetCode(ptrace.StatusCodeError)
		s.Status().SetMessage("order was changed by another writer")
		e := s.Events().AppendEmpty()
		e.SetName("exception")
		e.SetTimestamp(s.EndTimestamp())
		e.Attributes().PutStr("exception.type", "shop.errors.OrderConflict")
		e.Attributes().PutStr("exception.message", fmt.Sprintf("order %d was changed by another writer", id))
	}
}

// points is one request of a scrape: some gauges, sums and histograms of each
// of the pods it reaches.
func (c *corpus) points() pmetric.Metrics {
	md := pmetric.NewMetrics()
	scrape := c.n / corpusSeries
	now := pcommon.Timestamp(corpusStart + uint64(scrape)*15e9)
	start := pcommon.Timestamp(corpusStart - 1e12)
	var metrics pmetric.MetricSlice
	for end := c.n + corpusBatch; c.n < end; {
		series := c.n % corpusSeries
		if series%100 == 0 {
			rm := md.ResourceMetrics().AppendEmpty()
			c.resource(rm.Resource(), series/100)
			sm := rm.ScopeMetrics().AppendEmpty()
			sm.Scope().SetName("shop/meter")
			metrics = sm.Metrics()
		}
		m := metrics.AppendEmpty()
		kind := series / 5 % 20
		m.SetName(fmt.Sprintf("shop.metric.%c", 'a'+kind))
		m.SetUnit("By")
		for i := range 5 {
			c.point(m, kind, series+i, scrape, start, now)
		}
		c.n += 5
	}
	return md
}

func (c *corpus) point(m pmetric.Metric, kind, series, scrape int, start, now pcommon.Timestamp) {
	var labels pcommon.Map
	pace := float64(1 + series%50)
	total := math.Floor((float64(scrape) + c.Float64()) * pace)
	switch {
	case kind < 8:
		if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptyGauge()
		}
		p := m.Gauge().DataPoints().AppendEmpty()
		p.SetTimestamp(now)
		p.SetDoubleValue(math.Round(1000*pace*(2+math.Sin(float64(scrape)/50)+c.Float64()/4)) / 1000)
		labels = p.Attributes()
	case kind < 15:
		if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptySum().SetIsMonotonic(true)
			m.Sum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		}
		p := m.Sum().DataPoints().AppendEmpty()
		p.SetStartTimestamp(start)
		p.SetTimestamp(now)
		p.SetIntValue(int64(total))
		labels = p.Attributes()
	default:
		if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		}
		p := m.Histogram().DataPoints().AppendEmpty()
		p.SetStartTimestamp(start)
		p.SetTimestamp(now)
		p.ExplicitBounds().FromRaw([]float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10})
		buckets := make([]uint64, 15)
		for i := range buckets {
			buckets[i] = uint64(total * math.Exp(-math.Abs(float64(i-series%5-3))) / 2.2)
		}
		p.BucketCounts().FromRaw(buckets)
		p.SetCount(uint64(total))
		p.SetSum(total / 16)
		labels = p.Attributes()
	}
	labels.PutStr("http.route", shopRoutes[series%len(shopRoutes)])
	labels.PutStr("availability.zone", fmt.Sprintf("eu-west-1%c", 'a'+series%3))
}
