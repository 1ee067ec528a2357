package receiver_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"sonde/storage/otlp"
)

// The corpus that benchmarks send looks like the telemetry of a shop of 20
// services with 3 pods each: about 470 bytes a log record, 410 a span, 160 a
// data point. The same number of requests gives the same bytes.

const (
	batch          = 1000 // items a request
	podsPerService = 3
	corpusStep     = 50 * time.Microsecond // event time from one item to the next
)

type corpus struct {
	rng   *rand.Rand
	trace [16]byte // that log records now belong to
}

// newCorpus encodes n requests of a signal.
func newCorpus(s otlp.Signal, n int) [][]byte {
	c := &corpus{rng: rand.New(rand.NewPCG(uint64(s), 7))}
	requests := make([][]byte, n)
	for i := range requests {
		var (
			body []byte
			err  error
		)
		switch s {
		case otlp.Logs:
			body, err = c.logs(i * batch).MarshalProto()
		case otlp.Traces:
			body, err = c.spans(i * batch).MarshalProto()
		case otlp.Metrics:
			body, err = c.points(i * batch).MarshalProto()
		}
		if err != nil {
			panic(err)
		}
		requests[i] = body
	}
	return requests
}

func corpusTime(i int) pcommon.Timestamp {
	return pcommon.NewTimestampFromTime(sampleStart.Add(time.Duration(i) * corpusStep))
}

var shopServices = []string{
	"gateway", "storefront", "checkout", "cart", "catalog", "search", "pricing",
	"inventory", "payments", "fraud", "shipping", "accounts", "sessions", "email",
	"notifications", "recommendations", "reviews", "media", "reporting", "scheduler",
}

var shopRoutes = []struct{ method, route, path string }{
	{"GET", "/api/v1/orders/{id}", "/api/v1/orders/%d"},
	{"GET", "/api/v1/products/{id}", "/api/v1/products/%d"},
	{"GET", "/api/v1/search", "/api/v1/search?q=item%d"},
	{"POST", "/api/v1/checkout", "/api/v1/checkout?cart=%d"},
	{"POST", "/api/v1/cart/items", "/api/v1/cart/items?cart=%d"},
	{"PUT", "/api/v1/accounts/{id}", "/api/v1/accounts/%d"},
	{"GET", "/internal/stock/{sku}", "/internal/stock/%d"},
	{"POST", "/internal/payments/authorize", "/internal/payments/authorize?order=%d"},
}

var shopAgents = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/139.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
	"shop-android/7.14.2 okhttp/4.12.0",
	"kube-probe/1.33",
}

var shopTables = []string{"orders", "order_items", "products", "stock", "accounts", "carts", "sessions", "payments"}

func pick[T any](c *corpus, from []T) T { return from[c.rng.IntN(len(from))] }

// pod picks one; the first services are the busiest.
func (c *corpus) pod() (pod int) {
	f := c.rng.Float64()
	return int(float64(len(shopServices))*f*f)*podsPerService + c.rng.IntN(podsPerService)
}

// describePod fills a resource as the detectors of an SDK do.
func describePod(m pcommon.Map, pod int) {
	name := shopServices[pod/podsPerService]
	id := fmt.Sprintf("%s-%08x-%05x", name, uint32(pod*2654435761), uint32(pod*40503)&0xfffff)
	m.EnsureCapacity(8)
	m.PutStr("service.name", name)
	m.PutStr("service.namespace", "shop")
	m.PutStr("service.version", fmt.Sprintf("2.%d.%d", pod%7, pod%5))
	m.PutStr("service.instance.id", id)
	m.PutStr("deployment.environment.name", "production")
	m.PutStr("host.name", fmt.Sprintf("node-%02d.eu-west.internal", pod%12))
	m.PutStr("k8s.pod.name", id)
	m.PutStr("telemetry.sdk.language", "go")
}

func (c *corpus) id() (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], c.rng.Uint64())
	binary.BigEndian.PutUint64(id[8:], c.rng.Uint64()|1)
	return id
}

func (c *corpus) spanID() (id [8]byte) {
	binary.BigEndian.PutUint64(id[:], c.rng.Uint64()|1)
	return id
}

// logs is a request of log records, grouped by pod.
func (c *corpus) logs(at int) exportRequest {
	ld := plog.NewLogs()
	pods := map[int]plog.LogRecordSlice{}
	for i := at; i < at+batch; i++ {
		pod := c.pod()
		records, ok := pods[pod]
		if !ok {
			rl := ld.ResourceLogs().AppendEmpty()
			describePod(rl.Resource().Attributes(), pod)
			sl := rl.ScopeLogs().AppendEmpty()
			sl.Scope().SetName("shop/" + shopServices[pod/podsPerService])
			records = sl.LogRecords()
			pods[pod] = records
		}
		c.logRecord(records.AppendEmpty(), i)
	}
	return plogotlp.NewExportRequestFromLogs(ld)
}

// logRecord has a body of about 200 bytes, now and then a stack trace of 10 KB,
// and five attributes. Three in ten carry a trace id, shared by about five.
func (c *corpus) logRecord(r plog.LogRecord, i int) {
	route, status, ms := pick(c, shopRoutes), 200, int(c.rng.ExpFloat64()*40)+1
	request := fmt.Sprintf("req-%016x", c.rng.Uint64())
	id, ip := c.rng.IntN(10_000_000), fmt.Sprintf("10.%d.%d.%d", c.rng.IntN(32), c.rng.IntN(256), c.rng.IntN(256))
	path := fmt.Sprintf(route.path, id)
	var body string
	switch f := c.rng.Float64(); {
	case f < 0.15:
		r.SetSeverityNumber(plog.SeverityNumberDebug)
		body = fmt.Sprintf("SELECT id, status, updated_at FROM %s WHERE tenant_id = %d AND id = %d ORDER BY updated_at DESC LIMIT %d -- rows=%d plan=index took=%dus request=%s", pick(c, shopTables), c.rng.IntN(900), id, 10+c.rng.IntN(90), c.rng.IntN(100), ms*11, request)
	case f < 0.5:
		r.SetSeverityNumber(plog.SeverityNumberInfo)
		body = fmt.Sprintf("%s %s completed with status %d in %d ms, %d bytes written, client %s, agent %q, request %s", route.method, path, status, ms, c.rng.IntN(60_000), ip, pick(c, shopAgents), request)
	case f < 0.85:
		r.SetSeverityNumber(plog.SeverityNumberInfo)
		body = fmt.Sprintf("order %d moved to state PACKED by worker %d, %d items, total %d.%02d EUR, warehouse w-%03d, carrier pick-up in %d h, event published to topic orders.v2 at offset %d, request %s", id, c.rng.IntN(16), 1+c.rng.IntN(9), c.rng.IntN(900), c.rng.IntN(100), c.rng.IntN(400), c.rng.IntN(72), c.rng.IntN(1e9), request)
	case f < 0.97:
		r.SetSeverityNumber(plog.SeverityNumberWarn)
		body = fmt.Sprintf("retrying %s %s in %d ms: upstream %s returned 503 with %d bytes, attempt %d of 3, remaining budget %d ms, request %s, peer %s:8443", route.method, path, ms, pick(c, shopServices), c.rng.IntN(2000), 1+c.rng.IntN(3), 2000-ms, request, ip)
	case f < 0.997:
		r.SetSeverityNumber(plog.SeverityNumberError)
		status = 503
		body = fmt.Sprintf("payment for order %d refused: card declined by issuer (code %02d, merchant m-%05d), amount %d.%02d EUR, not retried, shown to customer, request %s from %s", id, c.rng.IntN(99), c.rng.IntN(99_999), c.rng.IntN(900), c.rng.IntN(100), request, ip)
	default:
		r.SetSeverityNumber(plog.SeverityNumberError)
		status = 500
		body = c.stackTrace(request)
	}
	r.SetSeverityText(strings.ToUpper(r.SeverityNumber().String()))
	r.SetTimestamp(corpusTime(i))
	r.SetObservedTimestamp(corpusTime(i) + pcommon.Timestamp(c.rng.IntN(2_000_000)))
	r.Body().SetStr(body)
	a := r.Attributes()
	a.EnsureCapacity(5)
	a.PutStr("thread.name", fmt.Sprintf("worker-%d", c.rng.IntN(16)))
	a.PutStr("http.route", route.route)
	a.PutInt("http.response.status_code", int64(status))
	a.PutStr("customer.id", fmt.Sprintf("cust-%06d", c.rng.IntN(50_000)))
	a.PutStr("request.id", request)
	if i%17 == 0 {
		c.trace = c.id()
	}
	if c.rng.IntN(10) < 3 {
		r.SetTraceID(c.trace)
		r.SetSpanID(c.spanID())
		r.SetFlags(plog.DefaultLogRecordFlags.WithIsSampled(true))
	}
}

func (c *corpus) stackTrace(request string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "unhandled exception while serving request %s: shop.errors.OrderConflict\n", request)
	for b.Len() < 10_000 {
		fmt.Fprintf(&b, "\tat com.example.shop.%s.OrderService.place(OrderService.java:%d)\n", pick(c, shopTables), 20+c.rng.IntN(600))
	}
	return b.String()
}

// spans is a request of small traces, in the order in which their spans end.
func (c *corpus) spans(at int) exportRequest {
	type span struct {
		pod          int
		trace        [16]byte
		id, parent   [8]byte
		start, delay pcommon.Timestamp
	}
	var all []span
	for len(all) < batch {
		size := min(batch-len(all), 60, 1+int(c.rng.ExpFloat64()*12))
		root := span{pod: c.pod(), trace: c.id(), id: c.spanID(), start: corpusTime(at + len(all)), delay: c.duration()}
		tree := []span{root}
		for len(tree) < size {
			parent := tree[c.rng.IntN(len(tree))]
			offset := pcommon.Timestamp(c.rng.Float64() * 0.5 * float64(parent.delay))
			tree = append(tree, span{c.pod(), root.trace, c.spanID(), parent.id, parent.start + offset, 1 + (parent.delay-offset)*9/10})
		}
		all = append(all, tree...)
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.start+a.delay, b.start+b.delay) })

	td := ptrace.NewTraces()
	pods := map[int]ptrace.SpanSlice{}
	for _, s := range all {
		slice, ok := pods[s.pod]
		if !ok {
			rs := td.ResourceSpans().AppendEmpty()
			describePod(rs.Resource().Attributes(), s.pod)
			ss := rs.ScopeSpans().AppendEmpty()
			ss.Scope().SetName("shop/instrumentation")
			ss.Scope().SetVersion("1.4.0")
			slice = ss.Spans()
			pods[s.pod] = slice
		}
		to := slice.AppendEmpty()
		to.SetTraceID(s.trace)
		to.SetSpanID(s.id)
		to.SetParentSpanID(s.parent)
		to.SetStartTimestamp(s.start)
		to.SetEndTimestamp(s.start + s.delay)
		to.SetFlags(0x101)
		c.describeSpan(to)
	}
	return ptraceotlp.NewExportRequestFromTraces(td)
}

// duration is log-normal about 40 ms.
func (c *corpus) duration() pcommon.Timestamp {
	return pcommon.Timestamp(min(40e6*math.Exp(1.2*c.rng.NormFloat64()), 20e9))
}

func (c *corpus) describeSpan(to ptrace.Span) {
	a, id := to.Attributes(), c.rng.IntN(10_000_000)
	a.EnsureCapacity(9)
	switch f := c.rng.Float64(); {
	case f < 0.35:
		table := pick(c, shopTables)
		to.SetName("SELECT " + table)
		to.SetKind(ptrace.SpanKindClient)
		a.PutStr("db.system.name", "postgresql")
		a.PutStr("db.namespace", "shop")
		a.PutStr("db.collection.name", table)
		a.PutStr("db.operation.name", "SELECT")
		a.PutStr("db.query.text", fmt.Sprintf("SELECT %s WHERE tenant_id = $1 AND id = $2 /* %d */", table, id))
		a.PutStr("server.address", "pg-primary.shop.internal")
		a.PutInt("server.port", 5432)
	case f < 0.8:
		route := pick(c, shopRoutes)
		to.SetName(route.method + " " + route.route)
		to.SetKind(ptrace.SpanKindServer)
		a.PutStr("http.request.method", route.method)
		a.PutStr("http.route", route.route)
		a.PutStr("url.scheme", "https")
		a.PutStr("url.path", fmt.Sprintf(route.path, id))
		a.PutInt("http.response.status_code", 200)
		a.PutStr("server.address", "shop.internal")
		a.PutStr("network.protocol.version", "2")
		a.PutStr("client.address", fmt.Sprintf("10.%d.%d.%d", id%32, id>>8&255, id&255))
		a.PutStr("user_agent.original", pick(c, shopAgents))
	default:
		to.SetName("OrderService.place")
		to.SetKind(ptrace.SpanKindInternal)
		a.PutStr("code.function.name", "OrderService.place")
		a.PutStr("thread.name", fmt.Sprintf("worker-%d", id%16))
	}
	if id%50 == 0 {
		to.Status().SetCode(ptrace.StatusCodeError)
		e := to.Events().AppendEmpty()
		e.SetName("exception")
		e.SetTimestamp(to.EndTimestamp())
		e.Attributes().PutStr("exception.type", "shop.errors.OrderConflict")
		e.Attributes().PutStr("exception.stacktrace", c.stackTrace("-")[:600])
	}
}

// points is a request of data points: a scrape of half of 2,000 series.
func (c *corpus) points(at int) exportRequest {
	const metricsPerService, variants, series = 20, 5, 2000
	md := pmetric.NewMetrics()
	now, start := corpusTime(at/series*series), corpusTime(0)
	for i := at % series; i < at%series+batch; i += metricsPerService * variants {
		rm := md.ResourceMetrics().AppendEmpty()
		describePod(rm.Resource().Attributes(), i/(metricsPerService*variants)*podsPerService)
		sm := rm.ScopeMetrics().AppendEmpty()
		sm.Scope().SetName("shop/meter")
		for k := range metricsPerService {
			m := sm.Metrics().AppendEmpty()
			m.SetName(fmt.Sprintf("shop.%s.%s", shopTables[k%len(shopTables)], []string{"depth", "count", "duration"}[k%3]))
			m.SetUnit("{thing}")
			for v := range variants {
				c.point(m, k, v, start, now)
			}
		}
	}
	return pmetricotlp.NewExportRequestFromMetrics(md)
}

func (c *corpus) point(m pmetric.Metric, kind, variant int, start, now pcommon.Timestamp) {
	total := float64(now-start)/1e6 + float64(variant)
	label := func(a pcommon.Map) {
		a.EnsureCapacity(2)
		a.PutStr("http.route", shopRoutes[variant].route)
		a.PutStr("availability.zone", fmt.Sprintf("eu-west-1%c", 'a'+variant%3))
	}
	switch kind % 4 {
	case 0, 1:
		if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptyGauge()
		}
		p := m.Gauge().DataPoints().AppendEmpty()
		p.SetTimestamp(now)
		p.SetDoubleValue(math.Round(c.rng.Float64()*1e6) / 1000)
		label(p.Attributes())
	case 2:
		if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptySum().SetIsMonotonic(true)
			m.Sum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		}
		p := m.Sum().DataPoints().AppendEmpty()
		p.SetStartTimestamp(start)
		p.SetTimestamp(now)
		p.SetIntValue(int64(total))
		label(p.Attributes())
	case 3:
		if m.Type() == pmetric.MetricTypeEmpty {
			m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		}
		p := m.Histogram().DataPoints().AppendEmpty()
		p.SetStartTimestamp(start)
		p.SetTimestamp(now)
		p.ExplicitBounds().FromRaw([]float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10})
		p.BucketCounts().FromRaw([]uint64{0, 0, 1, 3, 9, uint64(total), 20, 9, 3, 1, 0, 0, 0, 0, 0})
		p.SetCount(46 + uint64(total))
		p.SetSum(total / 10)
		label(p.Attributes())
	}
}
