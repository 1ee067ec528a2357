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
