package storage_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// sorted returns the ids in the order of strings, to compare sets.
func sorted(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return ids
}

func TestAppendedItemsAreSeenAtOnceAndAfterReopen(t *testing.T) {
	for _, sig := range otlp.Signals {
		t.Run(sig.String(), func(t *testing.T) {
			dir := t.TempDir()
			var bs []batch
			for i := range 5 {
				bs = append(bs, batch{sig: sig, first: i * 100, n: 20, step: time.Second})
			}
			want := sorted(idsOf(bs...))
			s := open(t, dir, storage.Options{}, storage.Tuning{})
			for i, b := range bs {
				mustAppend(t, s, b)
				if got := len(scan(t, s, sig, storage.TimeRange{})); got != (i+1)*20 {
					t.Fatalf("after %d requests Scan saw %d items, want %d", i+1, got, (i+1)*20)
				}
			}
			look := func(when string) {
				t.Helper()
				got := sorted(sortedIDs(scan(t, s, sig, storage.TimeRange{})))
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s: Scan(%v) differs (-want +got):\n%s", when, sig, d)
				}
				if st := s.Stats().Signals[sig]; st.Records != uint64(len(want)) {
					t.Errorf("%s: Stats has %d records, want %d", when, st.Records, len(want))
				}
			}
			reopen := func() {
				t.Helper()
				closeStore(t, s)
				s = open(t, dir, storage.Options{}, storage.Tuning{})
			}
			look("head")
			reopen()
			look("head, reopened")
			mustCompact(t, s)
			look("blocks")
			if head := s.Stats().Signals[sig].HeadRecords; head != 0 {
				t.Errorf("%d records in the head after WaitCompacted, want 0", head)
			}
			reopen()
			look("blocks, reopened")
		})
	}
}

func TestAppendOfNothing(t *testing.T) {
	s := storagetest.Open(t, storage.Options{})
	before := s.Stats().Seq
	if err := s.Append(t.Context(), batch{sig: otlp.Logs}.request(t)); err != nil {
		t.Errorf("Append(no items) = %v, want nil", err)
	}
	if got := s.Stats().Seq; got != before {
		t.Errorf("Seq = %d after a request without items, want %d", got, before)
	}
}

func TestAppendWithEndedContext(t *testing.T) {
	s := storagetest.Open(t, storage.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Append(ctx, batch{sig: otlp.Logs, n: 1}.request(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("Append(ended ctx) = %v, want %v", err, context.Canceled)
	}
	if rows := scan(t, s, otlp.Logs, storage.TimeRange{}); len(rows) != 0 {
		t.Errorf("Scan saw %d items of a request that was given up, want 0", len(rows))
	}
}

// fullHead returns a store whose head takes the first of two requests but not
// both. Its compactors are held, and nothing but the pressure of the second
// request makes them begin.
func fullHead(t *testing.T, roomWait time.Duration) (s *storage.Store, first, second batch, release func()) {
	first = batch{sig: otlp.Traces, n: 200}
	second = batch{sig: otlp.Traces, first: 1000, n: 200}
	size := int64(len(first.payload(t)))
	s = open(t, t.TempDir(), storage.Options{MaxHeadBytes: size * 3 / 2}, storage.Tuning{RunRows: 1 << 30, RoomWait: roomWait})
	release = s.HoldCompactors()
	mustAppend(t, s, first)
	return s, first, second, release
}

func TestAppendWaitsForRoomInTheHead(t *testing.T) {
	s, first, second, release := fullHead(t, time.Hour)
	answered := make(chan error)
	go func() { answered <- s.Append(t.Context(), second.request(t)) }()
	select {
	case err := <-answered:
		t.Fatalf("Append beyond MaxHeadBytes = %v before there was room", err)
	default:
	}
	release()
	if err := <-answered; err != nil {
		t.Fatalf("Append = %v, want nil once there is room", err)
	}
	if got, want := sorted(sortedIDs(scan(t, s, otlp.Traces, storage.TimeRange{}))), sorted(idsOf(first, second)); !slices.Equal(got, want) {
		t.Errorf("Scan saw %d items, want the %d of both requests", len(got), len(want))
	}
}

func TestAppendRefusesWhenTheHeadStaysFull(t *testing.T) {
	s, first, second, release := fullHead(t, time.Millisecond)
	if err := s.Append(t.Context(), second.request(t)); !errors.Is(err, storage.ErrOverloaded) {
		t.Fatalf("Append beyond MaxHeadBytes = %v, want %v", err, storage.ErrOverloaded)
	}
	release()
	if got, want := sorted(sortedIDs(scan(t, s, otlp.Traces, storage.TimeRange{}))), sorted(idsOf(first)); !slices.Equal(got, want) {
		t.Errorf("Scan saw %d items, want the %d of the accepted request", len(got), len(want))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.WaitCompacted(ctx); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, second)
}

func TestAppendTakesARequestLargerThanTheHead(t *testing.T) {
	s := storagetest.Open(t, storage.Options{MaxHeadBytes: 1000})
	b := batch{sig: otlp.Logs, n: 100}
	mustAppend(t, s, b)
	if got := len(scan(t, s, otlp.Logs, storage.TimeRange{})); got != b.n {
		t.Errorf("Scan saw %d items, want %d", got, b.n)
	}
}

func TestMethodsAfterClose(t *testing.T) {
	s := storagetest.Open(t, storage.Options{})
	mustAppend(t, s, batch{sig: otlp.Logs, n: 1})
	closeStore(t, s)
	closeStore(t, s)
	if err := s.Append(t.Context(), batch{sig: otlp.Logs, n: 1}.request(t)); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Append after Close = %v, want %v", err, storage.ErrClosed)
	}
	if err := s.Scan(t.Context(), storage.ScanOptions{Signal: otlp.Logs}, nil); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Scan after Close = %v, want %v", err, storage.ErrClosed)
	}
	if err := s.WaitCompacted(t.Context()); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("WaitCompacted after Close = %v, want %v", err, storage.ErrClosed)
	}
}

func TestOpenOfAFolderInUse(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, storage.Options{}, storage.Tuning{})
	s, err := storage.Open(dir, storage.Options{})
	if !errors.Is(err, storage.ErrLocked) {
		t.Fatalf("second Open = %v, %v, want %v", s, err, storage.ErrLocked)
	}
	if want := "cannot open storage \"" + dir + "\": data folder is in use by another process"; err.Error() != want {
		t.Errorf("Open says %q, want %q", err, want)
	}
}
