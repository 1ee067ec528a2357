package query_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
	"sonde/storage/otlp"
)

// numbered returns logs with the given bodies and times.
func numbered(from int, times ...uint64) plog.Logs {
	logs := plog.NewLogs()
	records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for i, at := range times {
		record := records.AppendEmpty()
		record.SetTimestamp(pcommon.Timestamp(at))
		record.Body().SetStr(fmt.Sprintf("record %d", from+i))
		if (from+i)%3 == 0 {
			record.Attributes().PutStr("every", "third")
		}
	}
	return logs
}

// crowd returns n times, most of them one of a few.
func (w *world) crowd(n int) []uint64 {
	times := make([]uint64, n)
	for i := range times {
		times[i] = base + pick(w, 1, 1, 1, 2, 2, uint64(w.r.IntN(2000)))
	}
	return times
}

// TestPaging follows Next to the end, through thousands of equal times, while
// more arrives at the times of the cursor and after, and blocks are compacted.
func TestPaging(t *testing.T) {
	for _, f := range []query.LogFilter{
		{Limit: 1000},
		{Limit: 357},
		{Limit: 97, Contains: "THIRD"},
	} {
		t.Run(fmt.Sprintf("%d of %q", f.Limit, f.Contains), func(t *testing.T) {
			w := newWorld(t)
			w.addLogs(numbered(0, w.crowd(2500)...))
			w.addLogs(numbered(2500, w.crowd(800)...))
			w.compact()
			w.addLogs(numbered(3300, w.crowd(1500)...))
			w.addLogs(numbered(4800, w.crowd(200)...))
			want := contents(matching(w.logs, f.Range, func(l refLog) bool {
				return f.Contains == "" || slices.ContainsFunc(l.texts, func(s string) bool { return containsFold(s, f.Contains) })
			}), func(l refLog) string { return l.content })

			var got []string
			for next := 5000; ; next += 7 {
				page, err := w.engine().Logs(t.Context(), f)
				if err != nil {
					t.Fatalf("Logs(%+v) = %v, want no error", f, err)
				}
				got = append(got, contents(page.Records, contentOfLog)...)
				if page.Next == (query.Cursor{}) {
					break
				}
				f.Before = page.Next
				at := f.Before.TimeUnixNano
				w.addLogs(numbered(next, at, at, at+1, at, base+10000, at, at))
				if w.r.IntN(3) == 0 {
					w.compact()
				}
			}
			w.compareContents(f, got, want)
		})
	}
}

// TestPagingUnderLoad pages through a stretch of time, in which nothing new
// happens, while writers and the compactor are busy with others.
func TestPagingUnderLoad(t *testing.T) {
	w := newWorld(t)
	w.addLogs(numbered(0, w.crowd(4000)...))
	want := contents(matching(w.logs, query.LogFilter{}.Range, func(refLog) bool { return true }), func(l refLog) string { return l.content })
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(numbered(-10, base+1, base+2, base+5000, base+5000))
	if err != nil {
		t.Fatal(err)
	}
	store := w.store
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				request, err := otlp.Walk(otlp.Logs, slices.Clone(payload), base)
				if err == nil {
					err = store.Append(ctx, request)
				}
				if err == nil {
					err = store.WaitCompacted(ctx)
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	newest := query.LogFilter{Limit: 1}
	newest.Range.To = base + 2000
	first, err := w.engine().Logs(ctx, newest)
	if err != nil {
		t.Fatal(err)
	}
	// From here on the busy writers' records are newer than the cursor.
	f := query.LogFilter{Limit: 100, Before: query.Cursor{TimeUnixNano: first.Records[0].TimeUnixNano, Remaining: 1 << 40}}
	var got []string
	for {
		page, err := w.engine().Logs(ctx, f)
		if err != nil {
			t.Fatalf("Logs(%+v) = %v, want no error", f, err)
		}
		for _, record := range page.Records {
			if record.Body().Str() >= "record 0" { // not of the writers
				got = append(got, contentOfLog(record))
			}
		}
		if f.Before = page.Next; page.Next == (query.Cursor{}) {
			break
		}
	}
	w.compareContents(f, got, want)
}

// TestPagingTraces is TestPaging for traces, which have several spans each.
func TestPagingTraces(t *testing.T) {
	w := newWorld(t)
	traces := 0
	addTraces := func(n int, at func() uint64) {
		for range n {
			traces++
			request := ptrace.NewTraces()
			spans := request.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
			for i := range 1 + w.r.IntN(4) {
				span := spans.AppendEmpty()
				span.SetTraceID(pcommon.TraceID{1, byte(traces >> 8), byte(traces)})
				span.SetSpanID(pcommon.SpanID{byte(i + 1), byte(traces >> 8), byte(traces)})
				span.SetStartTimestamp(pcommon.Timestamp(at()))
				span.SetEndTimestamp(span.StartTimestamp() + pcommon.Timestamp(w.r.IntN(10)))
			}
			w.addSpans(request)
		}
	}
	crowded := func() uint64 { return base + pick(w, 1, 1, 2, 2, w.r.Uint64N(uint64(time.Minute))) }
	addTraces(300, crowded)
	w.compact()
	addTraces(300, crowded)
	f := query.SpanFilter{Limit: 7}
	want := contents(newestOf(matching(w.spans, f.Range, func(refSpan) bool { return true })), w.refSummary)
	var got []string
	for {
		page, err := w.engine().Traces(t.Context(), f)
		if err != nil {
			t.Fatalf("Traces(%+v) = %v, want no error", f, err)
		}
		got = append(got, contents(page.Traces, w.summaryText)...)
		if page.Next == (query.Cursor{}) {
			break
		}
		f.Before = page.Next
		addTraces(1, func() uint64 { return f.Before.TimeUnixNano })
		addTraces(1, func() uint64 { return f.Before.TimeUnixNano + w.r.Uint64N(5) })
		if w.r.IntN(4) == 0 {
			w.compact()
		}
	}
	w.compareContents(f, got, want)
}
