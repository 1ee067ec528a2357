package block_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage/otlp"
)

func plogTime(unixNano uint64) pcommon.Timestamp { return pcommon.Timestamp(unixNano) }

// randomPayload returns an export request with up to 40 items in which every
// field is set or not by chance.
func randomPayload(t testing.TB, rng *rand.Rand, s otlp.Signal) []byte {
	t.Helper()
	g := generator{rng}
	var payload []byte
	var err error
	switch s {
	case otlp.Logs:
		payload, err = (&plog.ProtoMarshaler{}).MarshalLogs(g.logs())
	case otlp.Traces:
		payload, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(g.traces())
	default:
		payload, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(g.metrics())
	}
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

type generator struct{ *rand.Rand }

func (g generator) maybe(f func()) {
	if g.IntN(3) > 0 {
		f()
	}
}

func (g generator) text() string {
	words := []string{"", "a", "checkout", "grüße", "naïve\x00text", "a much longer text that goes on for some time", "\u2028"}
	return words[g.IntN(len(words))]
}

func (g generator) time() pcommon.Timestamp {
	if g.IntN(10) == 0 {
		return pcommon.Timestamp(g.Uint64())
	}
	return pcommon.Timestamp(1_796_040_000_000_000_000 + g.Uint64N(1000)*1_000_000)
}

func (g generator) number() float64 {
	return []float64{0, 1, -2.5, math.NaN(), math.Inf(1), math.MaxFloat64, g.Float64()}[g.IntN(7)]
}

func (g generator) value(v pcommon.Value, depth int) {
	kinds := 8
	if depth > 2 {
		kinds = 6 // no deeper
	}
	switch g.IntN(kinds) {
	case 0:
	case 1:
		v.SetStr(g.text())
	case 2:
		v.SetInt(int64(g.Uint64()))
	case 3:
		v.SetDouble(g.number())
	case 4:
		v.SetBool(g.IntN(2) == 0)
	case 5:
		v.SetEmptyBytes().FromRaw([]byte(g.text()))
	case 6:
		list := v.SetEmptySlice()
		for range g.IntN(3) {
			g.value(list.AppendEmpty(), depth+1)
		}
	case 7:
		g.attributes(v.SetEmptyMap(), depth+1)
	}
}

func (g generator) attributes(m pcommon.Map, depth int) {
	keys := []string{"user.id", "http.route", "http.response.status_code", "", "ключ"}
	for range g.IntN(4) {
		g.value(m.PutEmpty(keys[g.IntN(len(keys))]), depth)
	}
}

func (g generator) traceID() (id pcommon.TraceID) {
	id[0], id[15] = 1, byte(g.IntN(5))
	return id
}

func (g generator) spanID() (id pcommon.SpanID) {
	id[0], id[7] = 1, byte(g.IntN(200))
	return id
}

func (g generator) resource(r pcommon.Resource) {
	g.maybe(func() { r.Attributes().PutStr("service.name", g.text()) })
	g.attributes(r.Attributes(), 0)
	g.maybe(func() { r.SetDroppedAttributesCount(g.Uint32()) })
}

func (g generator) scope(s pcommon.InstrumentationScope) {
	g.maybe(func() { s.SetName(g.text()) })
	g.maybe(func() { s.SetVersion(g.text()) })
	g.attributes(s.Attributes(), 0)
	g.maybe(func() { s.SetDroppedAttributesCount(g.Uint32()) })
}

func (g generator) logs() plog.Logs {
	ld := plog.NewLogs()
	for range 1 + g.IntN(2) {
		rl := ld.ResourceLogs().AppendEmpty()
		g.resource(rl.Resource())
		g.maybe(func() { rl.SetSchemaUrl(g.text()) })
		for range 1 + g.IntN(2) {
			sl := rl.ScopeLogs().AppendEmpty()
			g.scope(sl.Scope())
			g.maybe(func() { sl.SetSchemaUrl(g.text()) })
			for range 1 + g.IntN(10) {
				g.log(sl.LogRecords().AppendEmpty())
			}
		}
	}
	return ld
}

func (g generator) log(r plog.LogRecord) {
	g.maybe(func() { r.SetTimestamp(g.time()) })
	g.maybe(func() { r.SetObservedTimestamp(g.time()) })
	g.maybe(func() { r.SetSeverityNumber(plog.SeverityNumber(g.IntN(40) - 5)) })
	g.maybe(func() { r.SetSeverityText(g.text()) })
	g.value(r.Body(), 0)
	g.attributes(r.Attributes(), 0)
	g.maybe(func() { r.SetDroppedAttributesCount(g.Uint32()) })
	g.maybe(func() { r.SetFlags(plog.LogRecordFlags(g.Uint32())) })
	g.maybe(func() { r.SetTraceID(g.traceID()) })
	g.maybe(func() { r.SetSpanID(g.spanID()) })
	g.maybe(func() { r.SetEventName(g.text()) })
}

func (g generator) traces() ptrace.Traces {
	td := ptrace.NewTraces()
	for range 1 + g.IntN(2) {
		rs := td.ResourceSpans().AppendEmpty()
		g.resource(rs.Resource())
		for range 1 + g.IntN(2) {
			ss := rs.ScopeSpans().AppendEmpty()
			g.scope(ss.Scope())
			for range 1 + g.IntN(10) {
				g.span(ss.Spans().AppendEmpty())
			}
		}
	}
	return td
}

func (g generator) span(s ptrace.Span) {
	s.SetTraceID(g.traceID())
	s.SetSpanID(g.spanID())
	g.maybe(func() { s.SetParentSpanID(g.spanID()) })
	g.maybe(func() { s.SetName(g.text()) })
	g.maybe(func() { s.SetKind(ptrace.SpanKind(g.IntN(8) - 1)) })
	g.maybe(func() { s.SetStartTimestamp(g.time()) })
	g.maybe(func() { s.SetEndTimestamp(g.time()) })
	g.attributes(s.Attributes(), 0)
	g.maybe(func() { s.TraceState().FromRaw(g.text()) })
	g.maybe(func() { s.SetFlags(g.Uint32()) })
	g.maybe(func() { s.SetDroppedAttributesCount(g.Uint32()) })
	g.maybe(func() { s.SetDroppedEventsCount(g.Uint32()) })
	g.maybe(func() { s.SetDroppedLinksCount(g.Uint32()) })
	g.maybe(func() { s.Status().SetCode(ptrace.StatusCode(g.IntN(4))) })
	g.maybe(func() { s.Status().SetMessage(g.text()) })
	for range g.IntN(3) {
		e := s.Events().AppendEmpty()
		e.SetName(g.text())
		e.SetTimestamp(g.time())
		g.attributes(e.Attributes(), 0)
		l := s.Links().AppendEmpty()
		l.SetTraceID(g.traceID())
		l.SetSpanID(g.spanID())
		g.attributes(l.Attributes(), 0)
	}
}

func (g generator) metrics() pmetric.Metrics {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	g.resource(rm.Resource())
	sm := rm.ScopeMetrics().AppendEmpty()
	g.scope(sm.Scope())
	for range 1 + g.IntN(6) {
		m := sm.Metrics().AppendEmpty()
		g.maybe(func() { m.SetName(g.text()) })
		g.maybe(func() { m.SetUnit(g.text()) })
		g.maybe(func() { m.SetDescription(g.text()) })
		g.attributes(m.Metadata(), 0)
		g.points(m)
	}
	return md
}

func (g generator) points(m pmetric.Metric) {
	temporality := pmetric.AggregationTemporality(g.IntN(3))
	switch g.IntN(5) {
	case 0:
		g.numbers(m.SetEmptyGauge().DataPoints())
	case 1:
		s := m.SetEmptySum()
		s.SetAggregationTemporality(temporality)
		s.SetIsMonotonic(g.IntN(2) == 0)
		g.numbers(s.DataPoints())
	case 2:
		h := m.SetEmptyHistogram()
		h.SetAggregationTemporality(temporality)
		for range 1 + g.IntN(3) {
			p := h.DataPoints().AppendEmpty()
			p.SetTimestamp(g.time() | 1)
			g.maybe(func() { p.SetStartTimestamp(g.time()) })
			g.maybe(func() { p.SetSum(g.number()) })
			g.maybe(func() { p.SetMin(g.number()) })
			p.SetCount(g.Uint64())
			p.BucketCounts().FromRaw([]uint64{1, 0, 300})
			p.ExplicitBounds().FromRaw([]float64{1, g.Float64()})
			g.attributes(p.Attributes(), 0)
		}
	case 3:
		p := m.SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
		p.SetTimestamp(g.time() | 1)
		p.SetScale(-3)
		p.Positive().SetOffset(4)
		p.Positive().BucketCounts().FromRaw([]uint64{1, 0, 300})
		g.attributes(p.Attributes(), 0)
	case 4:
		p := m.SetEmptySummary().DataPoints().AppendEmpty()
		p.SetTimestamp(g.time() | 1)
		q := p.QuantileValues().AppendEmpty()
		q.SetQuantile(0.5)
		q.SetValue(g.number())
		g.attributes(p.Attributes(), 0)
	}
}

func (g generator) numbers(points pmetric.NumberDataPointSlice) {
	for range 1 + g.IntN(5) {
		p := points.AppendEmpty()
		p.SetTimestamp(g.time() | 1)
		g.maybe(func() { p.SetStartTimestamp(g.time()) })
		g.attributes(p.Attributes(), 0)
		switch g.IntN(3) {
		case 0:
			p.SetIntValue(int64(g.Uint64()))
		case 1:
			p.SetDoubleValue(g.number())
		}
		g.maybe(func() { p.SetFlags(pmetric.DataPointFlags(g.Uint32())) })
		g.maybe(func() {
			e := p.Exemplars().AppendEmpty()
			e.SetTimestamp(g.time())
			e.SetDoubleValue(g.number())
			e.SetTraceID(g.traceID())
			g.attributes(e.FilteredAttributes(), 0)
		})
	}
}
