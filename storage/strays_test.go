package storage_test

import (
	"math"
	"testing"
	"time"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// TestStrayEventTimes holds that no event time, however far from the arrival,
// makes files, widens the blocks of others, breaks the order of a scan or
// outlives the retention.
func TestStrayEventTimes(t *testing.T) {
	strays := []time.Time{
		time.Unix(0, 0), // of a log record: none, and its observed time counts
		time.Unix(0, 1),
		base.Add(-30 * 24 * time.Hour),
		base.Add(30 * 24 * time.Hour),
		time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(0, -1), // all bits set
	}
	for _, sig := range otlp.Signals {
		t.Run(sig.String(), func(t *testing.T) {
			dir, clock, ticks := t.TempDir(), newClock(base), make(chan time.Time)
			o := storage.Options{Now: clock.now, Retention: 48 * time.Hour, PartitionSpan: time.Hour}
			tune := storage.Tuning{Tick: ticks}
			s := open(t, dir, o, tune)
			batches := []batch{{sig: sig, n: 500, step: time.Millisecond}}
			for i, at := range strays {
				if sig == otlp.Metrics && at.UnixNano() == 0 {
					continue // a data point without a time is rejected
				}
				batches = append(batches, batch{sig: sig, first: 1000 + i, n: 1, start: at})
			}
			mustAppend(t, s, batches...)
			mustCompact(t, s)
			closeStore(t, s)
			s = open(t, dir, o, tune)
			wantIDs(t, s, sig, batches...)
			if files := partitionFiles(t, dir); len(files) != 1 {
				t.Errorf("strays made the files %v, want one", files)
			}
			wantNarrowNewestFirst(t, s, sig)

			clock.set(base.Add(50 * time.Hour))
			tick(ticks)
			wantIDs(t, s, sig)
		})
	}
}

// wantNarrowNewestFirst checks that a scan's blocks come by falling MaxTime and
// span no more than an hour.
func wantNarrowNewestFirst(t *testing.T, s *storage.Store, sig otlp.Signal) {
	t.Helper()
	last, blocks := uint64(math.MaxUint64), 0
	err := s.Scan(t.Context(), storage.ScanOptions{Signal: sig}, func(b *block.Block, _ storage.Position) (bool, error) {
		if b.MaxTime > last {
			t.Errorf("a block up to %d comes after one up to %d", b.MaxTime, last)
		}
		if b.MaxTime-b.MinTime > uint64(time.Hour) {
			t.Errorf("a block spans %d to %d, more than an hour", b.MinTime, b.MaxTime)
		}
		last = b.MaxTime
		blocks++
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if blocks < 2 {
		t.Errorf("Scan visited %d blocks, want the strays in some of their own", blocks)
	}
}
