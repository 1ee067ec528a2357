package storage_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// clock is a time that tests set.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock(t time.Time) *clock { return &clock{t: t} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = t
}

// tick runs the upkeep and returns once it has: the second tick is taken only
// when the first is done.
func tick(ticks chan<- time.Time) {
	ticks <- time.Time{}
	ticks <- time.Time{}
}

func TestRetentionByAgeUnderARunningScan(t *testing.T) {
	dir := t.TempDir()
	clock, ticks := newClock(base), make(chan time.Time)
	o := storage.Options{Now: clock.now, Retention: 48 * time.Hour, PartitionSpan: time.Hour}
	s := open(t, dir, o, storage.Tuning{Tick: ticks})
	old := batch{sig: otlp.Logs, n: 2000, step: time.Millisecond}
	mustAppend(t, s, old)
	mustCompact(t, s)
	clock.set(base.Add(2 * time.Hour))
	young := batch{sig: otlp.Logs, first: 5000, n: 20, start: base.Add(-time.Hour)} // young by arrival
	mustAppend(t, s, young)
	mustCompact(t, s)
	oldFile := partitionFiles(t, dir)[0]
	// The span of the old one ends an hour after base.
	clock.set(base.Add(49*time.Hour - time.Second))
	tick(ticks)
	wantIDs(t, s, otlp.Logs, old, young)

	rows := 0
	err := s.Scan(t.Context(), storage.ScanOptions{Signal: otlp.Logs}, func(b *block.Block, pos storage.Position) (bool, error) {
		if rows == 0 {
			clock.set(base.Add(49 * time.Hour))
			tick(ticks)
			if _, err := os.Stat(oldFile); !os.IsNotExist(err) {
				t.Errorf("Stat(%s) = %v, want that it does not exist", oldFile, err)
			}
		}
		got, err := blockRows(b, pos)
		rows += len(got)
		return true, err
	})
	if err != nil || rows != old.n+young.n {
		t.Errorf("Scan saw %d rows, %v, want the %d of its snapshot", rows, err, old.n+young.n)
	}
	if got := openHandles(t, oldFile); got != 0 {
		t.Errorf("%d open handles of a deleted partition after its last reader, want 0", got)
	}
	wantIDs(t, s, otlp.Logs, young)
	if st := s.Stats(); st.Signals[otlp.Logs].Records != uint64(young.n) || len(st.Files) != 2 {
		t.Errorf("Stats has %d records in files %v, want %d in the head and one partition", st.Signals[otlp.Logs].Records, st.Files, young.n)
	}
}

func TestRetentionBySize(t *testing.T) {
	dir := t.TempDir()
	clock, ticks := newClock(base), make(chan time.Time)
	o := storage.Options{Now: clock.now, MaxSizeBytes: 400 << 10, PartitionSpan: time.Hour}
	s := open(t, dir, o, storage.Tuning{Tick: ticks, GenBytes: 60 << 10})
	const batches = 12
	for i := range batches {
		mustAppend(t, s, batch{sig: otlp.Logs, first: i * 10000, n: 3000, step: time.Millisecond})
		mustCompact(t, s)
		clock.set(base.Add(time.Duration(i/4) * time.Hour))
	}
	tick(ticks)
	var parts int64
	for _, f := range s.Stats().Files {
		if f.Name != "head.db" {
			parts += f.Bytes
		}
	}
	if parts > o.MaxSizeBytes || parts < o.MaxSizeBytes/2 {
		t.Errorf("partitions take %d bytes, want up to %d", parts, o.MaxSizeBytes)
	}
	if got, want := len(partitionFiles(t, dir)), len(s.Stats().Files)-1; got != want {
		t.Errorf("%d partition files, Stats knows %d", got, want)
	}
	// What is left is the newest, without a gap.
	rows := scan(t, s, otlp.Logs, storage.TimeRange{})
	left := len(rows) / 3000
	if len(rows) != left*3000 || left == 0 || left == batches {
		t.Fatalf("%d rows left, want some whole batches of 3000", len(rows))
	}
	var newest []batch
	for i := batches - left; i < batches; i++ {
		newest = append(newest, batch{sig: otlp.Logs, first: i * 10000, n: 3000})
	}
	wantIDs(t, s, otlp.Logs, newest...)
	if got := s.Stats().Signals[otlp.Logs].Records; got != uint64(len(rows)) {
		t.Errorf("Stats has %d records, want %d", got, len(rows))
	}
}

func TestOldHeadIsCompactedByTheUpkeep(t *testing.T) {
	clock, ticks := newClock(base), make(chan time.Time)
	dir := t.TempDir()
	s := open(t, dir, storage.Options{Now: clock.now}, storage.Tuning{Tick: ticks})
	b := batch{sig: otlp.Metrics, n: 10}
	mustAppend(t, s, b)
	tick(ticks)
	if got := len(partitionFiles(t, dir)); got != 0 {
		t.Errorf("%d partitions while the head is young, want 0", got)
	}
	clock.set(base.Add(5 * time.Minute))
	tick(ticks)
	s.WaitHeadEmpty(t.Context())
	wantIDs(t, s, otlp.Metrics, b)
	if st := s.Stats().Signals[otlp.Metrics]; st.HeadRecords != 0 || st.Records != 10 {
		t.Errorf("Stats has %d records, %d in the head, want 10 and 0", st.Records, st.HeadRecords)
	}
}

func TestPartitionsByArrival(t *testing.T) {
	dir := t.TempDir()
	clock, ticks := newClock(base), make(chan time.Time)
	o := storage.Options{Now: clock.now, PartitionSpan: 2 * time.Hour}
	s := open(t, dir, o, storage.Tuning{Tick: ticks})
	// One head over a border, of all signals, and event times all over.
	var bs []batch
	for i, at := range []time.Duration{0, 119 * time.Minute, 121 * time.Minute} {
		clock.set(base.Add(at))
		for j, sig := range otlp.Signals {
			b := batch{sig: sig, first: i*1000 + j*100, n: 10, step: 1000 * time.Hour}
			mustAppend(t, s, b)
			bs = append(bs, b)
		}
	}
	mustCompact(t, s)
	tick(ticks)
	if got := partitionFiles(t, dir); len(got) != 2 {
		t.Errorf("partitions %v, want one for each span", got)
	}
	for _, sig := range otlp.Signals {
		var of []batch
		for _, b := range bs {
			if b.sig == sig {
				of = append(of, b)
			}
		}
		wantIDs(t, s, sig, of...)
	}
	// A restart goes on in the same file.
	closeStore(t, s)
	s = open(t, dir, o, storage.Tuning{Tick: ticks})
	mustAppend(t, s, batch{sig: otlp.Logs, first: 9000, n: 10})
	mustCompact(t, s)
	if got := partitionFiles(t, dir); len(got) != 2 {
		t.Errorf("partitions %v after a restart, want the same two", got)
	}
}
