package storage_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sonde/storage"
	"sonde/storage/otlp"
)

// retryLog is a slog.Handler that hands over the pauses of failed compactions.
type retryLog struct {
	slog.Handler
	pauses chan<- time.Duration
}

func (h retryLog) Enabled(context.Context, slog.Level) bool { return true }

func (h retryLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "retry" {
			select {
			case h.pauses <- a.Value.Duration():
			default: // the test has seen enough
			}
		}
		return true
	})
	return nil
}

// A pause that doubled for ever would pass the largest Duration within an hour
// of failures, and then be none at all.
func TestPauseOfFailingCompactionsStaysBounded(t *testing.T) {
	const retry, failures = time.Microsecond, 100
	pauses := make(chan time.Duration, failures)
	dir := t.TempDir()
	s, err := storage.OpenTuned(dir, storage.Options{
		Now: func() time.Time { return time.Unix(0, 0) },
		Log: slog.New(retryLog{slog.DiscardHandler, pauses}),
	}, storage.Tuning{Retry: retry})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	// A folder that is not empty stands where the first partition would be made.
	if err := os.MkdirAll(filepath.Join(dir, "p-0-1.db.tmp", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := batch{sig: otlp.Logs, n: 1}
	mustAppend(t, s, b)
	s.FlushIntoFailure(t.Context())
	for i := range failures {
		if got := <-pauses; got != retry {
			t.Fatalf("pause after failure %d = %v, want %v", i+1, got, retry)
		}
	}
	wantIDs(t, s, otlp.Logs, b)
}
