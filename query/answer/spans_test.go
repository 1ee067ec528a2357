package answer_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
	"sonde/query/answer"
	"sonde/storage"
)

func spanPage(spans ...query.Span) query.SpanPage {
	return query.SpanPage{Page: query.Page{Total: len(spans), TotalExact: true}, Spans: spans}
}

// shopTrace is a request through three services with one failure, thirty equal
// queries, a link, logs and a span whose parent is missing.
func shopTrace(t testing.TB) query.Trace {
	t.Helper()
	shop := shopResources(t)
	begin := 10 * time.Minute
	after := func(ms float64) time.Duration { return begin - time.Duration(ms*float64(time.Millisecond)) }
	ms := func(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }
	spans := []query.Span{
		newSpan(t, shop[1], spanSpec{id: 1, start: after(0), length: ms(1234), name: "POST /cart", kind: ptrace.SpanKindServer,
			attrs: attrs{"http.route", "/cart", "user.id", int64(7)}}),
		newSpan(t, shop[0], spanSpec{id: 2, parent: 1, start: after(1.25), length: ms(900), name: "checkout", kind: ptrace.SpanKindInternal,
			attrs: attrs{"user.id", int64(7), "items", int64(30)}}),
	}
	for i := range 30 {
		spans = append(spans, newSpan(t, shop[0], spanSpec{id: byte(10 + i), parent: 2, start: after(2 + 20*float64(i)), length: ms(11),
			name: "SELECT stock", kind: ptrace.SpanKindClient, attrs: attrs{"db.system.name", "postgresql", "sku", fmt.Sprint(i)}}))
	}
	failed := newSpan(t, shop[2], spanSpec{id: 60, parent: 2, start: after(700), length: ms(150), name: "charge", kind: ptrace.SpanKindServer,
		err: "card\nrefused"})
	addException(failed, ago(after(840)), "payments.RefusedError", "limit exceeded", strings.Repeat("at x\n", 100))
	failed.Links().AppendEmpty().SetTraceID(trace2)
	failed.Events().AppendEmpty().SetName("retry")
	failed.Events().AppendEmpty().SetName("retry")
	spans = append(spans, failed,
		newSpan(t, shop[1], spanSpec{id: 70, parent: 99, start: after(1000), length: ms(1), name: "late work", kind: ptrace.SpanKindConsumer}))

	inSpan := newLog(t, ago(after(845)), plog.SeverityNumberError, shop[2], "payment refused", attrs{"order.id", int64(4711)})
	inSpan.SetSpanID(spanID(60))
	loose := newLog(t, ago(after(1300)), plog.SeverityNumberInfo, shop[1], "request done", nil)
	return query.Trace{TraceID: trace1, Spans: spans, Logs: []query.LogRecord{inSpan, loose}, LogTotal: 2}
}

func TestSpans(t *testing.T) {
	tr := shopTrace(t)
	p := spanPage(tr.Spans[33], tr.Spans[32], tr.Spans[1], tr.Spans[0])
	p.Errors = 1
	golden(t, "spans", answer.Spans(p, lastHour(), answer.Options{}))
	failed := tr.Spans[32]
	failed.SetFlags(1)
	failed.TraceState().FromRaw("vendor=1")
	golden(t, "spans_one", answer.Spans(spanPage(failed), lastHour(), answer.Options{}))
}

func TestSpansBudget(t *testing.T) {
	r := newResource(t, "cart", nil)
	var spans []query.Span
	for i := range 100 {
		spans = append(spans, newSpan(t, r, spanSpec{id: byte(i + 1), start: time.Second, length: 5, name: "op"}))
	}
	got := answer.Spans(spanPage(spans...), lastHour(), answer.Options{MaxBytes: 2000})
	first, _, _ := strings.Cut(got, "\n")
	shown := strings.Count(got, "\n") - 1
	want := fmt.Sprintf("%d of 100; next: to=2026-11-30T11:59:59Z.%d; %d more of this page cut to fit", shown, 100-shown, 100-shown)
	if len(got) > 2000 || !strings.HasSuffix(first, want) {
		t.Errorf("Spans = %d bytes, first line %q, want it to end in %q", len(got), first, want)
	}
}

func TestTraces(t *testing.T) {
	tr := shopTrace(t)
	orphan := tr.Spans[33]
	p := query.TracePage{
		Page: query.Page{Total: 7, TotalExact: true, Next: query.Cursor{TimeUnixNano: ago(time.Hour), Remaining: 1}},
		Traces: []query.TraceSummary{
			{TraceID: trace1, Root: &tr.Spans[0], StartUnixNano: ago(10 * time.Minute), Duration: 1234 * time.Millisecond, Spans: 34, Errors: 1,
				Services: []string{"cart", "checkout", "payments"}, After: query.Cursor{TimeUnixNano: ago(9 * time.Minute)}},
			{TraceID: trace2, Root: &orphan, RootMissing: true, StartUnixNano: ago(20 * time.Minute), Duration: 999, Spans: 1,
				Services: []string{"cart"}, After: query.Cursor{TimeUnixNano: ago(19 * time.Minute), Remaining: 2}},
		},
	}
	golden(t, "traces", answer.Traces(p, lastHour(), answer.Options{}))

	got := answer.Traces(p, lastHour(), answer.Options{MaxLines: 2})
	first, _, _ := strings.Cut(got, "\n")
	if want := "1 of 7; next: to=2026-11-30T11:51:00Z.0; 1 more of this page cut to fit"; !strings.HasSuffix(first, want) {
		t.Errorf("Traces of 2 lines = %q, want the first line to end in %q", got, want)
	}
}

func TestTrace(t *testing.T) {
	got := answer.Trace(shopTrace(t), lastHour(), answer.Options{})
	golden(t, "trace", got)
	if len(got) > 1700 {
		t.Errorf("Trace of 34 spans takes %d bytes, want at most 1700", len(got))
	}
}

func TestTraceStillArriving(t *testing.T) {
	tr := shopTrace(t)
	tr.Spans = tr.Spans[1:2]
	tr.Logs, tr.LogTotal = nil, 300
	h := lastHour()
	h.Now = noon.Add(-10*time.Minute + 3*time.Second)
	got := answer.Trace(tr, h, answer.Options{})
	for _, want := range []string{"root missing", "1 span with a missing parent", "0 of 300 logs", "more may arrive", "(parent 01000000 missing)"} {
		if !strings.Contains(got, want) {
			t.Errorf("Trace = %q, want %q in it", got, want)
		}
	}
}

// Spans that are their own ancestors, duplicates and empty ids all show.
func TestTraceRings(t *testing.T) {
	r := newResource(t, "cart", nil)
	tr := query.Trace{TraceID: trace1, Spans: []query.Span{
		newSpan(t, r, spanSpec{id: 1, parent: 1, start: 9, length: 1, name: "own parent"}),
		newSpan(t, r, spanSpec{id: 2, parent: 3, start: 8, length: 1, name: "ring a"}),
		newSpan(t, r, spanSpec{id: 3, parent: 2, start: 7, length: 1, name: "ring b"}),
		newSpan(t, r, spanSpec{id: 4, start: 6, length: 1, name: "root"}),
		newSpan(t, r, spanSpec{id: 4, start: 6, length: 1, name: "root again"}),
		newSpan(t, r, spanSpec{id: 5, parent: 4, start: 5, length: 1, name: "child"}),
	}}
	golden(t, "trace_rings", answer.Trace(tr, lastHour(), answer.Options{}))
}

// A time of the year 2554 makes no stretch of time negative.
func TestFarTimes(t *testing.T) {
	r := newResource(t, "cart", nil)
	span := newSpan(t, r, spanSpec{id: 1, start: 9, length: 1, name: "endless"})
	span.SetEndTimestamp(math.MaxUint64)
	late := newSpan(t, r, spanSpec{id: 2, parent: 1, name: "late"})
	late.SetStartTimestamp(math.MaxUint64)
	late.SetEndTimestamp(math.MaxUint64)
	tr := query.Trace{TraceID: trace1, Spans: []query.Span{span, late}}
	points := pointPage(newPoint(t, r, "g", "", ago(time.Minute), nil, gauge(1)), newPoint(t, r, "g", "", math.MaxUint64, nil, gauge(2)))
	for _, got := range []string{answer.Trace(tr, lastHour(), answer.Options{}), answer.Points(points, lastHour(), answer.Options{})} {
		if strings.Contains(got, "-2562047h") || strings.Contains(got, "-4") || !strings.Contains(got, "2562047h47m") {
			t.Errorf("got %q, want every stretch to be 2562047h47m", got)
		}
	}
}

// Of a huge trace the failure at the bottom stays, with the way to it.
func TestTraceBudget(t *testing.T) {
	r := newResource(t, "cart", nil)
	var spans []query.Span
	add := func(parent, id pcommon.SpanID, name string, failed bool) {
		s := spanSpec{start: time.Minute, length: time.Millisecond, name: name}
		if failed {
			s.err = "broken"
		}
		span := newSpan(t, r, s)
		span.SetSpanID(id)
		span.SetParentSpanID(parent)
		spans = append(spans, span)
	}
	id := func(i int) pcommon.SpanID { return pcommon.SpanID{1, byte(i >> 16), byte(i >> 8), byte(i)} }
	add(pcommon.SpanID{}, id(0), "root", false)
	for i := 1; i < 20000; i++ {
		add(id((i-1)/8), id(i), fmt.Sprintf("op %d", i), i == 19999)
	}
	got := answer.Trace(query.Trace{TraceID: trace1, Spans: spans}, lastHour(), answer.Options{})
	first, rest, _ := strings.Cut(got, "\n")
	shown := strings.Count(rest, "\n") // all lines but the resource
	if len(got) > 9500 || strings.Count(got, "\n") >= 240 || len(got) < 8000 {
		t.Errorf("Trace has %d bytes, %d lines, want the budget to be used", len(got), strings.Count(got, "\n")+1)
	}
	if !strings.Contains(first, fmt.Sprintf("20,000 spans (1 error), 1 service, 0 logs; shown %d spans, 0 logs", shown)) {
		t.Errorf("first line = %q, want %d spans shown", first, shown)
	}
	for _, want := range []string{"ERROR: broken", "op 2499 ", "op 312 ", "op 38 ", "cart op 4\n", "below cut)"} {
		if !strings.Contains(rest, want) {
			t.Errorf("Trace lacks %q, the way to the failure", want)
		}
	}
}

// A chain as deep as a hostile client cares to send takes no square of time.
func TestTraceDeep(t *testing.T) {
	got := answer.Trace(chain(t, 50000), lastHour(), answer.Options{})
	if len(got) > 9500 || !strings.Contains(got, "(depth 21)") || !strings.Contains(got, "below cut)") {
		t.Errorf("Trace of a chain = %d bytes, %.500s", len(got), got)
	}
}

// Logs of folded spans are not folded away.
func TestTraceFoldKeepsLogs(t *testing.T) {
	r := newResource(t, "cart", nil)
	tr := query.Trace{TraceID: trace1, Spans: []query.Span{newSpan(t, r, spanSpec{id: 1, start: time.Minute, length: 1000, name: "root"})}}
	for i := range 4 {
		at := time.Minute - time.Duration(i+1)*time.Millisecond
		tr.Spans = append(tr.Spans,
			newSpan(t, r, spanSpec{id: byte(10 + i), parent: 1, start: at, length: 1000, name: "call", kind: ptrace.SpanKindClient}),
			newSpan(t, r, spanSpec{id: byte(20 + i), parent: byte(10 + i), start: at, length: 500, name: "serve", kind: ptrace.SpanKindServer}))
	}
	rec := newLog(t, ago(time.Minute-2*time.Millisecond), plog.SeverityNumberInfo, r, "served", nil)
	rec.SetSpanID(spanID(21))
	tr.Logs, tr.LogTotal = []query.LogRecord{rec}, 1
	golden(t, "trace_fold", answer.Trace(tr, answer.Head{Now: noon, Range: storage.TimeRange{}}, answer.Options{}))
}

// A message that climbs up with its error is written once, at the top.
func TestTraceSameMessage(t *testing.T) {
	r := newResource(t, "cart", nil)
	parent := newSpan(t, r, spanSpec{id: 1, start: time.Minute, length: 2000, name: "serve", err: "pool exhausted"})
	child := newSpan(t, r, spanSpec{id: 2, parent: 1, start: time.Minute, length: 1000, name: "call", err: "pool exhausted"})
	addException(child, ago(time.Minute), "PoolTimeout", "pool exhausted", "")
	got := answer.Trace(query.Trace{TraceID: trace1, Spans: []query.Span{parent, child}}, lastHour(), answer.Options{})
	want := "\n+0ms 2µs cart serve ERROR: pool exhausted\n +0ms 1µs cart call ERROR: (same)\n  +0ms ! PoolTimeout"
	if !strings.HasSuffix(got, want) {
		t.Errorf("Trace = %q, want it to end in %q", got, want)
	}
}

// Spans too deep to walk begin a tree of their own.
func TestTraceTooDeep(t *testing.T) {
	tr := chain(t, 25000)
	got := answer.Trace(tr, lastHour(), answer.Options{})
	if roots := strings.Count(got, "\n+"); roots != 3 {
		t.Errorf("Trace of a chain of 25000 has %d roots, want 3", roots)
	}
}

// chain is a trace of n spans, each below the one before.
func chain(t testing.TB, n int) query.Trace {
	t.Helper()
	r := newResource(t, "cart", nil)
	id := func(i int) pcommon.SpanID { return pcommon.SpanID{1, byte(i >> 16), byte(i >> 8), byte(i)} }
	tr := query.Trace{TraceID: trace1}
	for i := range n {
		span := newSpan(t, r, spanSpec{start: time.Minute, length: time.Millisecond, name: "op"})
		span.SetSpanID(id(i))
		if i > 0 {
			span.SetParentSpanID(id(i - 1))
		}
		tr.Spans = append(tr.Spans, span)
	}
	return tr
}
