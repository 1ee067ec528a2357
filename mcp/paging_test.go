package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"sonde/mcp"
	"sonde/query"
	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// TestPages follows the printed to from page to page: of records with equal
// times each is seen once, those that arrive meanwhile shift nothing.
func TestPages(t *testing.T) {
	store := storagetest.Open(t, storage.Options{Now: func() time.Time { return noon }})
	w := open(t, query.New(store), store, mcp.Options{})
	add := func(from, to int) {
		logs := plog.NewLogs()
		records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for n := from; n < to; n++ {
			r := records.AppendEmpty()
			r.SetTimestamp(ago(time.Duration(10*(n/7)+1) * time.Minute)) // seven at a time
			r.Attributes().PutInt("n", int64(n))
		}
		payload, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
		if err != nil {
			t.Fatal(err)
		}
		r, err := otlp.Walk(otlp.Logs, payload, uint64(noon.UnixNano()))
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	const total = 28
	add(0, total)
	var seen []int
	arguments := `{"limit":3,"from":"-1h"}`
	for range total {
		var page struct {
			Next    string
			Records []struct{ Attributes struct{ N int } }
		}
		text := w.call(t, "ada", "?format=json", "logs.query", arguments).text()
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatalf("logs.query %s = %s: %v", arguments, text, err)
		}
		for _, r := range page.Records {
			if r.Attributes.N >= 0 && r.Attributes.N < total {
				seen = append(seen, r.Attributes.N)
			}
		}
		if page.Next == "" {
			break
		}
		arguments = fmt.Sprintf(`{"limit":3,"from":"-1h","to":%q}`, page.Next)
		add(1000, 1001) // of long before
		add(-7, -6)     // of after the page that comes next
	}
	slices.Sort(seen)
	var want []int
	for n := range total {
		want = append(want, n)
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("records on all pages (-want +got):\n%s", diff)
	}
}

// TestTracesShowOnce follows the pages of traces whose spans lie on both sides
// of the borders between pages.
func TestTracesShowOnce(t *testing.T) {
	store := storagetest.Open(t, storage.Options{Now: func() time.Time { return noon }})
	w := open(t, query.New(store), store, mcp.Options{})
	const total = 9
	traces := ptrace.NewTraces()
	spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for n := range total {
		for k := range 3 {
			s := spans.AppendEmpty()
			s.SetTraceID([16]byte{0: 1, 15: byte(n)})
			s.SetSpanID([8]byte{0: 1, 6: byte(n), 7: byte(k)})
			s.SetStartTimestamp(ago(time.Minute + time.Duration(n+2*k)*time.Second))
		}
	}
	payload, err := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	r, err := otlp.Walk(otlp.Traces, payload, uint64(noon.UnixNano()))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	arguments := `{"limit":2}`
	for range total {
		var page struct {
			Next   string
			Traces []struct{ TraceID string }
		}
		text := w.call(t, "ada", "?format=json", "traces.query", arguments).text()
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatalf("traces.query %s = %s: %v", arguments, text, err)
		}
		for _, trace := range page.Traces {
			seen[trace.TraceID]++
		}
		if page.Next == "" {
			break
		}
		arguments = fmt.Sprintf(`{"limit":2,"to":%q}`, page.Next)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("trace %s is on %d pages, want 1", id, times)
		}
	}
	if len(seen) != total {
		t.Errorf("%d traces on all pages, want %d", len(seen), total)
	}
}
