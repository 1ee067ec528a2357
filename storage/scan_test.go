package storage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// decoded renders an item under its envelopes as OTLP JSON.
func decoded(t *testing.T, sig otlp.Signal, resource, scope, metric, message []byte) string {
	t.Helper()
	var text []byte
	var err error
	switch sig {
	case otlp.Logs:
		var l plog.Logs
		if l, err = otlp.DecodeLog(resource, scope, message); err == nil {
			text, err = new(plog.JSONMarshaler).MarshalLogs(l)
		}
	case otlp.Traces:
		var tr ptrace.Traces
		if tr, err = otlp.DecodeSpan(resource, scope, message); err == nil {
			text, err = new(ptrace.JSONMarshaler).MarshalTraces(tr)
		}
	default:
		var m pmetric.Metrics
		if m, err = otlp.DecodePoint(resource, scope, metric, message); err == nil {
			text, err = new(pmetric.JSONMarshaler).MarshalMetrics(m)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sent renders the items of a request.
func sent(t *testing.T, r *otlp.Request) []string {
	t.Helper()
	var items []string
	for _, it := range r.Items {
		var metric []byte
		if r.Signal == otlp.Metrics {
			metric = r.Metrics[it.Metric]
		}
		items = append(items, decoded(t, r.Signal, r.Resources[it.Resource], r.Scopes[it.Scope], metric, r.Bytes(it.Message)))
	}
	return items
}

// held renders all items of a signal.
func held(t *testing.T, s *storage.Store, sig otlp.Signal) []string {
	t.Helper()
	var items []string
	err := s.Scan(t.Context(), storage.ScanOptions{Signal: sig}, func(b *block.Block, _ storage.Position) (bool, error) {
		resources, err1 := b.Dict(block.Resource)
		scopes, err2 := b.Dict(block.Scope)
		var metrics *block.Dict
		var err3 error
		if sig == otlp.Metrics {
			metrics, err3 = b.Dict(block.Metric)
		}
		if err := errors.Join(err1, err2, err3); err != nil {
			return false, err
		}
		for i := range b.Rows {
			message, err := b.AppendMessage(nil, i)
			if err != nil {
				return false, err
			}
			var metric []byte
			if metrics != nil {
				metric = metrics.At(i)
			}
			items = append(items, decoded(t, sig, resources.At(i), scopes.At(i), metric, message))
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func TestWhatComesBackEqualsWhatCameIn(t *testing.T) {
	for _, sig := range otlp.Signals {
		t.Run(sig.String(), func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, storage.Options{}, storage.Tuning{})
			var want []string
			for i := range 3 {
				b := batch{sig: sig, first: i * 50, n: 40, step: time.Millisecond}
				want = append(want, sent(t, b.request(t))...)
				mustAppend(t, s, b)
			}
			slices.Sort(want)
			check := func(when string) {
				t.Helper()
				got := held(t, s, sig)
				slices.Sort(got)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", when, d)
				}
			}
			check("head")
			closeStore(t, s)
			s = open(t, dir, storage.Options{}, storage.Tuning{})
			check("head, reopened")
			mustCompact(t, s)
			check("blocks")
			closeStore(t, s)
			s = open(t, dir, storage.Options{}, storage.Tuning{})
			check("blocks, reopened")
		})
	}
}

func TestEqualTimesKeepTheOrderOfArrival(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, storage.Options{}, storage.Tuning{})
	var bs []batch
	check := func(when string) {
		t.Helper()
		if d := cmp.Diff(idsOf(bs...), sortedIDs(scan(t, s, otlp.Logs, storage.TimeRange{}))); d != "" {
			t.Errorf("%s: order of arrival is lost (-want +got):\n%s", when, d)
		}
	}
	add := func(requests int) {
		t.Helper()
		for range requests {
			// All at one time.
			b := batch{sig: otlp.Logs, first: len(bs) * 10, n: 7}
			mustAppend(t, s, b)
			bs = append(bs, b)
		}
	}
	add(9)
	check("head")
	mustCompact(t, s)
	check("blocks")
	add(5)
	check("blocks and head")
	mustCompact(t, s)
	check("blocks of two runs")
	add(3)
	closeStore(t, s)
	s = open(t, dir, storage.Options{}, storage.Tuning{})
	check("reopened")
	add(2)
	check("reopened and appended to")
}

func TestEqualTimesInAnOversizedRun(t *testing.T) {
	s := storagetest.Open(t, storage.Options{})
	// More rows at one time than a block takes.
	b := batch{sig: otlp.Logs, n: 2*block.MaxRows + 10}
	mustAppend(t, s, b)
	mustCompact(t, s)
	if got := sortedIDs(scan(t, s, otlp.Logs, storage.TimeRange{})); !slices.Equal(got, idsOf(b)) {
		t.Error("rows that blocks cut apart have lost the order of arrival")
	}
}

func TestScanVisitsNewestBlocksFirstAndOnlyTheRange(t *testing.T) {
	s := open(t, t.TempDir(), storage.Options{}, storage.Tuning{})
	hour := func(h int) time.Time { return base.Add(time.Duration(h) * time.Hour) }
	// Arrival in another order than event time, half of it in blocks.
	for i, h := range []int{3, 1, 5} {
		mustAppend(t, s, batch{sig: otlp.Traces, first: 1000 * i, n: 60, start: hour(h), step: time.Second})
		mustCompact(t, s)
	}
	for i, h := range []int{2, 4} {
		// Of falling size, or the head would make one block of them.
		mustAppend(t, s, batch{sig: otlp.Traces, first: 5000 + 1000*i, n: 60 - 40*i, start: hour(h), step: time.Second})
	}
	visited := func(r storage.TimeRange, skip func(*block.Header) bool) []string {
		t.Helper()
		var hours []string
		err := s.Scan(t.Context(), storage.ScanOptions{Signal: otlp.Traces, Range: r, Skip: skip}, func(b *block.Block, _ storage.Position) (bool, error) {
			hours = append(hours, time.Duration(b.MinTime-uint64(base.UnixNano())).String())
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return hours
	}
	nano := func(tm time.Time) uint64 { return uint64(tm.UnixNano()) }
	rows59 := 59 * time.Second
	cases := []struct {
		name string
		r    storage.TimeRange
		skip func(*block.Header) bool
		want []string
	}{
		{"all", storage.TimeRange{}, nil, []string{"5h0m0s", "4h0m0s", "3h0m0s", "2h0m0s", "1h0m0s"}},
		{"from is inclusive", storage.TimeRange{From: nano(hour(3).Add(rows59))}, nil, []string{"5h0m0s", "4h0m0s", "3h0m0s"}},
		{"past the newest item", storage.TimeRange{From: nano(hour(3).Add(rows59)) + 1}, nil, []string{"5h0m0s", "4h0m0s"}},
		{"to is exclusive", storage.TimeRange{To: nano(hour(2))}, nil, []string{"1h0m0s"}},
		{"the oldest item just in", storage.TimeRange{To: nano(hour(2)) + 1}, nil, []string{"2h0m0s", "1h0m0s"}},
		{"skipped by header", storage.TimeRange{}, func(h *block.Header) bool { return h.Rows == 60 }, []string{"4h0m0s"}},
	}
	for _, c := range cases {
		if d := cmp.Diff(c.want, visited(c.r, c.skip)); d != "" {
			t.Errorf("%s: Scan(%v) visits (-want +got):\n%s", c.name, c.r, d)
		}
	}
	rows := 0
	s.Headers(otlp.Traces, storage.TimeRange{From: nano(hour(3))}, func(h *block.Header) { rows += h.Rows })
	if want := 60 + 60 + 20; rows != want {
		t.Errorf("Headers tell of %d rows, want %d", rows, want)
	}
}

func TestScanStops(t *testing.T) {
	s := storagetest.Open(t, storage.Options{})
	for i := range 2 {
		mustAppend(t, s, batch{sig: otlp.Logs, first: i * 10, n: 10})
		mustCompact(t, s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failure := errors.New("enough")
	cases := []struct {
		name  string
		visit func() (bool, error)
		want  error
	}{
		{"told so", func() (bool, error) { return false, nil }, nil},
		{"by an error", func() (bool, error) { return true, failure }, failure},
		{"by the context", func() (bool, error) { cancel(); return true, nil }, context.Canceled},
	}
	for _, c := range cases {
		visits := 0
		err := s.Scan(ctx, storage.ScanOptions{Signal: otlp.Logs}, func(*block.Block, storage.Position) (bool, error) {
			visits++
			return c.visit()
		})
		if !errors.Is(err, c.want) || visits != 1 {
			t.Errorf("%s: Scan = %v after %d visits, want %v after 1", c.name, err, visits, c.want)
		}
	}
}

func TestScanLetsVisitorsPanic(t *testing.T) {
	s := storagetest.Open(t, storage.Options{})
	mustAppend(t, s, batch{sig: otlp.Logs, n: 1})
	mustCompact(t, s)
	defer func() {
		if got := recover(); got != "a mistake of the visitor" {
			t.Errorf("recovered %v, want the visitor's panic", got)
		}
		if st := s.Stats(); st.CorruptBlocks != 0 {
			t.Errorf("CorruptBlocks = %d, want 0", st.CorruptBlocks)
		}
	}()
	_ = s.Scan(t.Context(), storage.ScanOptions{Signal: otlp.Logs}, func(*block.Block, storage.Position) (bool, error) {
		panic("a mistake of the visitor")
	})
	t.Error("Scan returned, want the visitor's panic")
}

func TestManySmallRequestsMakeFewBlocks(t *testing.T) {
	s := storagetest.Open(t, storage.Options{})
	const requests = 1500
	for i := range requests {
		mustAppend(t, s, batch{sig: otlp.Logs, first: i, n: 1, step: time.Second})
		if i%100 == 0 {
			// Readers must not keep pieces from merging, nor see them twice.
			if got := len(scan(t, s, otlp.Logs, storage.TimeRange{})); got != i+1 {
				t.Fatalf("after %d requests Scan saw %d items", i+1, got)
			}
		}
	}
	if got := s.HeadPieces(); got > 20 {
		t.Errorf("%d requests of one record make %d blocks, want at most 20", requests, got)
	}
	want := make([]string, requests)
	for i := range want {
		want[i] = fmt.Sprint(i)
	}
	if got := sortedIDs(scan(t, s, otlp.Logs, storage.TimeRange{})); !slices.Equal(got, want) {
		t.Error("merged pieces have lost the order of arrival")
	}
}
