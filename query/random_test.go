package query_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
	"sonde/storage"
)

func pick[T any](w *world, from ...T) T { return from[w.r.IntN(len(from))] }

// moment returns an event time: one of few that many items share, or any within
// some minutes.
func (w *world) moment() uint64 {
	if w.r.IntN(3) > 0 {
		return base + uint64(w.r.IntN(12))*uint64(time.Minute)
	}
	return base + w.r.Uint64N(uint64(12*time.Minute))
}

// traceID returns one of some ids, of which several share their first digits.
func (w *world) traceID(of int) pcommon.TraceID {
	var id pcommon.TraceID
	n := w.r.IntN(of)
	binary.BigEndian.PutUint32(id[:], uint32(n/3)*0x01010101+0x10000000)
	id[15] = byte(n%3) + 1
	return id
}

func (w *world) words() string {
	n := 1 + w.r.IntN(4)
	words := make([]string, n)
	for i := range words {
		words[i] = pick(w, "Timeout", "connection", "refused", "ÄRGER", "Straße", "5 \u212a", "ſaved", "id=42", "42", "KEY", "σίγμας", "\x0a\x05tab\t", "世界", "true")
	}
	return strings.Join(words, " ")
}

func (w *world) putValue(v pcommon.Value) {
	switch w.r.IntN(12) {
	case 0:
		v.SetInt(w.r.Int64N(100))
	case 1:
		v.SetDouble(float64(w.r.IntN(100)) / 4)
	case 2:
		v.SetBool(w.r.IntN(2) == 0)
	case 3:
		v.SetEmptyBytes().FromRaw([]byte(w.words()))
	case 4:
		list := v.SetEmptySlice()
		list.AppendEmpty().SetStr(w.words())
		list.AppendEmpty().SetInt(42)
	case 5:
		m := v.SetEmptyMap()
		m.PutStr("a", w.words())
		m.PutEmptyMap("b").PutInt("c", w.r.Int64N(100))
	case 6:
		v.SetStr("")
	case 7: // stays empty
	default:
		v.SetStr(w.words())
	}
}

func (w *world) putResource(r pcommon.Resource) (url string) {
	if service := pick(w, "cart", "checkout", "payments", ""); service != "" {
		r.Attributes().PutStr("service.name", service)
	}
	if w.r.IntN(4) == 0 {
		r.Attributes().PutInt("pod", w.r.Int64N(3))
	}
	return pick(w, "", "https://opentelemetry.io/schemas/1.30.0")
}

func (w *world) randomLogs(n int) plog.Logs {
	logs := plog.NewLogs()
	for n > 0 {
		rl := logs.ResourceLogs().AppendEmpty()
		rl.SetSchemaUrl(w.putResource(rl.Resource()))
		sl := rl.ScopeLogs().AppendEmpty()
		sl.Scope().SetName(pick(w, "", "lib", "lib2"))
		for range min(n, 1+w.r.IntN(20)) {
			n--
			record := sl.LogRecords().AppendEmpty()
			switch w.r.IntN(10) {
			case 0:
				record.SetObservedTimestamp(pcommon.Timestamp(w.moment()))
			case 1: // no time at all: that of the arrival
			default:
				record.SetTimestamp(pcommon.Timestamp(w.moment()))
				record.SetObservedTimestamp(pcommon.Timestamp(base))
			}
			record.SetSeverityNumber(plog.SeverityNumber(pick(w, 0, 0, 1, 5, 9, 9, 9, 13, 14, 17, 17, 21, 24, 25, -1)))
			record.SetSeverityText(pick(w, "", "warn", "Warning", "err", "critical", "INFO2", "30", "nonsense"))
			if w.r.IntN(8) > 0 {
				w.putValue(record.Body())
			}
			for range w.r.IntN(4) {
				w.putValue(record.Attributes().PutEmpty(pick(w, "k", "user.id", "message", "odd")))
			}
			record.Attributes().PutInt("n", int64(len(w.logs)*1000+n)) // makes contents distinct
			if w.r.IntN(2) == 0 {
				record.SetTraceID(w.traceID(40))
				record.SetSpanID(pcommon.SpanID{1, byte(w.r.IntN(256))})
			}
			record.SetFlags(plog.LogRecordFlags(w.r.IntN(2)))
		}
	}
	return logs
}

func (w *world) randomSpans(n int) ptrace.Traces {
	traces := ptrace.NewTraces()
	for n > 0 {
		rs := traces.ResourceSpans().AppendEmpty()
		rs.SetSchemaUrl(w.putResource(rs.Resource()))
		ss := rs.ScopeSpans().AppendEmpty()
		ss.Scope().SetName(pick(w, "", "lib", "lib2"))
		for range min(n, 1+w.r.IntN(20)) {
			n--
			span := ss.Spans().AppendEmpty()
			span.SetTraceID(w.traceID(300))
			var id pcommon.SpanID
			binary.BigEndian.PutUint64(id[:], uint64(len(w.spans)*1000+n+1))
			span.SetSpanID(id)
			if w.r.IntN(3) > 0 {
				span.SetParentSpanID(pcommon.SpanID{7})
			}
			span.SetName(pick(w, "GET /cart", "GET /cart/{id}", "POST /pay", "query", "*"))
			start := w.moment()
			span.SetStartTimestamp(pcommon.Timestamp(start))
			switch w.r.IntN(6) {
			case 0: // no end
			case 1:
				span.SetEndTimestamp(pcommon.Timestamp(start - 5))
			default:
				span.SetEndTimestamp(pcommon.Timestamp(start + w.r.Uint64N(uint64(time.Second))))
			}
			span.Status().SetCode(ptrace.StatusCode(w.r.IntN(3)))
			if w.r.IntN(3) == 0 {
				span.Status().SetMessage(w.words())
				span.Events().AppendEmpty().SetName(w.words())
			}
			w.putValue(span.Attributes().PutEmpty("k"))
			span.Attributes().PutInt("n", int64(len(w.spans)*1000+n))
		}
	}
	return traces
}

func (w *world) randomMetrics(n int) pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	for n > 0 {
		rm := metrics.ResourceMetrics().AppendEmpty()
		rm.SetSchemaUrl(w.putResource(rm.Resource()))
		sm := rm.ScopeMetrics().AppendEmpty()
		sm.Scope().SetName(pick(w, "", "lib", "lib2"))
		for range min(n, 1+w.r.IntN(20)) {
			n--
			m := sm.Metrics().AppendEmpty()
			w.putMetric(m)
			_, attributes := onlyPoint(m)
			for _, key := range []string{"a", "b"} {
				if w.r.IntN(2) == 0 {
					attributes.PutInt(key, w.r.Int64N(3))
				}
			}
			if w.r.IntN(2) == 0 { // the order of attributes must not count
				attributes.PutStr("c", pick(w, "x", "y"))
				attributes.PutStr("d", "z")
			} else {
				attributes.PutStr("d", "z")
				attributes.PutStr("c", pick(w, "x", "y"))
			}
		}
	}
	return metrics
}

func (w *world) putMetric(m pmetric.Metric) {
	m.SetName(pick(w, "requests", "latency", "queue.size", "mixed"))
	m.SetUnit(map[string]string{"requests": "1", "latency": "ms"}[m.Name()])
	m.SetDescription("what " + m.Name() + " means")
	now := pcommon.Timestamp(w.moment())
	kind := map[string]int{"requests": 0, "latency": 1, "queue.size": 2}[m.Name()]
	if m.Name() == "mixed" {
		kind = w.r.IntN(5)
	}
	switch kind {
	case 0:
		sum := m.SetEmptySum()
		sum.SetIsMonotonic(true)
		sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		p := sum.DataPoints().AppendEmpty()
		p.SetTimestamp(now)
		p.SetIntValue(int64(len(w.points)))
	case 1:
		p := m.SetEmptyHistogram().DataPoints().AppendEmpty()
		p.SetTimestamp(now)
		p.SetCount(uint64(len(w.points)))
		p.ExplicitBounds().FromRaw([]float64{1, 2})
		p.BucketCounts().FromRaw([]uint64{1, 2, 3})
	case 2:
		p := m.SetEmptyGauge().DataPoints().AppendEmpty()
		p.SetTimestamp(now)
		p.SetDoubleValue(float64(len(w.points)))
	case 3:
		p := m.SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
		p.SetTimestamp(now)
		p.SetCount(7)
	case 4:
		p := m.SetEmptySummary().DataPoints().AppendEmpty()
		p.SetTimestamp(now)
		p.SetCount(7)
	}
}

// grow stores random requests of all signals.
func (w *world) grow(requests, items int) {
	w.t.Helper()
	for range requests {
		w.addLogs(w.randomLogs(1 + w.r.IntN(items)))
		w.addSpans(w.randomSpans(1 + w.r.IntN(items)))
		w.addMetrics(w.randomMetrics(1 + w.r.IntN(items)))
	}
}

func (w *world) randomRange() storage.TimeRange {
	var r storage.TimeRange
	if w.r.IntN(2) == 0 {
		r.From = w.moment()
	}
	if w.r.IntN(2) == 0 {
		r.To = w.moment()
	}
	return r
}

func (w *world) randomCursor() query.Cursor {
	switch w.r.IntN(3) {
	case 0:
		return query.Cursor{TimeUnixNano: w.moment()}
	case 1:
		return query.Cursor{TimeUnixNano: w.moment(), Remaining: w.r.Uint64N(200)}
	}
	return query.Cursor{}
}

// randomTraceID returns no id, a whole one, or a prefix that may be ambiguous.
func (w *world) randomTraceID(of int) query.TraceID {
	if w.r.IntN(4) > 0 {
		return query.TraceID{}
	}
	id := w.traceID(of)
	digits := fmt.Sprintf("%x", id[:])
	parsed, err := query.ParseTraceID(digits[:pick(w, 32, 32, 31, 8, 6)])
	if err != nil {
		w.t.Fatal(err)
	}
	return parsed
}
