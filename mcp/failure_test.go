package mcp_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"sonde/mcp"
	"sonde/query"
	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// faultySource fails or waits where a store would read.
type faultySource struct{ scan func(context.Context) error }

func (f faultySource) Scan(ctx context.Context, _ storage.ScanOptions, _ func(*block.Block, storage.Position) (bool, error)) error {
	return f.scan(ctx)
}

func (f faultySource) Headers(otlp.Signal, storage.TimeRange, func(*block.Header)) {}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		scan   func(context.Context) error
		want   string
		logged string
	}{
		{"of the store", func(context.Context) error { return errors.New("page 7 is torn") }, "internal error", "page 7 is torn"},
		{"panic", func(context.Context) error { panic("boom") }, "internal error", "boom"},
		{"too slow", func(context.Context) error { return context.DeadlineExceeded }, "no answer within 10s: ask for a shorter time between from and to", ""},
	} {
		w := open(t, query.New(faultySource{c.scan}), nil, mcp.Options{})
		r := w.call(t, "ada", "", "logs.query", `{}`)
		if !r.IsError || r.text() != c.want {
			t.Errorf("%s: logs.query = %v %q, want isError %q", c.name, r.IsError, r.text(), c.want)
		}
		if logged := w.logged.String(); !strings.Contains(logged, c.logged) || (c.logged == "") != (logged == "") {
			t.Errorf("%s: logged %q, want %q in it", c.name, logged, c.logged)
		}
		if got := w.onCalls.take(); len(got) != 1 || got[0] != "logs.query error" {
			t.Errorf("%s: OnCall was told %v, want logs.query error", c.name, got)
		}
	}
}

func TestFailureOfAccounts(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	if x := w.post(t, "eve", "", ping); x.status != 503 || x.header.Get("WWW-Authenticate") != "" {
		t.Errorf("a token that can't be read = %d %s, want 503 and no challenge", x.status, x.body)
	}
}

// TestQueriesAreBounded: agents may not take every core from ingest.
func TestQueriesAreBounded(t *testing.T) {
	most := max(2, runtime.GOMAXPROCS(0))
	var mu sync.Mutex // protects running, peak
	running, peak := 0, 0
	var once sync.Once
	full, release := make(chan struct{}), make(chan struct{})
	w := open(t, query.New(faultySource{func(context.Context) error {
		mu.Lock()
		running++
		if peak = max(peak, running); running == most {
			once.Do(func() { close(full) })
		}
		mu.Unlock()
		<-release
		mu.Lock()
		running--
		mu.Unlock()
		return errors.New("enough")
	}}), nil, mcp.Options{})
	var wg sync.WaitGroup
	for range most + 4 {
		wg.Go(func() {
			if r := w.call(t, "ada", "", "logs.query", `{}`); !r.IsError {
				t.Errorf("logs.query = %q, want isError", r.text())
			}
		})
	}
	<-full
	close(release)
	wg.Wait()
	if peak != most {
		t.Errorf("queries at once = %d, want %d", peak, most)
	}
}
