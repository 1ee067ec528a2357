package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"sonde/storage"
	"sonde/storage/otlp"
)

// partitionFiles lists the partition files of a folder.
func partitionFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "p-*.db"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// edit changes a bbolt file in place.
func edit(t *testing.T, path string, change func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func wantIDs(t *testing.T, s *storage.Store, sig otlp.Signal, bs ...batch) {
	t.Helper()
	got, want := sorted(sortedIDs(scan(t, s, sig, storage.TimeRange{}))), sorted(idsOf(bs...))
	if !slices.Equal(got, want) {
		t.Errorf("Scan(%v) saw %d items, want the %d that were sent", sig, len(got), len(want))
	}
}

func TestHalfDoneCompactionDoublesNothing(t *testing.T) {
	dir := t.TempDir()
	head := filepath.Join(dir, "head.db")
	s := open(t, dir, storage.Options{}, storage.Tuning{})
	first := batch{sig: otlp.Logs, n: 30}
	spans := batch{sig: otlp.Traces, first: 500, n: 30}
	mustAppend(t, s, first, spans)
	closeStore(t, s)
	// The head as a kill leaves it that comes after the blocks are written and
	// before the entries are deleted.
	before := readFile(t, head)
	s = open(t, dir, storage.Options{}, storage.Tuning{})
	mustCompact(t, s)
	closeStore(t, s)
	writeFile(t, head, before)

	s = open(t, dir, storage.Options{}, storage.Tuning{})
	wantIDs(t, s, otlp.Logs, first)
	wantIDs(t, s, otlp.Traces, spans)
	if st := s.Stats().Signals[otlp.Logs]; st.HeadRecords != 0 || st.Records != 30 {
		t.Errorf("Stats has %d records, %d in the head, want 30 and 0", st.Records, st.HeadRecords)
	}
	// New entries must not be taken for the old ones.
	second := batch{sig: otlp.Logs, first: 100, n: 30}
	mustAppend(t, s, second)
	closeStore(t, s)
	s = open(t, dir, storage.Options{}, storage.Tuning{})
	wantIDs(t, s, otlp.Logs, first, second)
	mustCompact(t, s)
	wantIDs(t, s, otlp.Logs, first, second)
}

func TestOpenRemovesUnfinishedPartitions(t *testing.T) {
	dir := t.TempDir()
	tmp, other := filepath.Join(dir, "p-100-1.db.tmp"), filepath.Join(dir, "notes.tmp")
	writeFile(t, tmp, []byte("half a file"))
	writeFile(t, other, []byte("not of the store"))
	open(t, dir, storage.Options{}, storage.Tuning{})
	if _, err := os.Stat(tmp); !os.IsNotExist(err) {
		t.Errorf("Stat(%s) = %v, want that it does not exist", tmp, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a file of others was removed: %v", err)
	}
}

func TestOpenAfterAPowerCutAtTheFirstStart(t *testing.T) {
	for _, size := range []int{0, 100, 4096, 16384} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "head.db"), make([]byte, size))
		s := open(t, dir, storage.Options{}, storage.Tuning{})
		b := batch{sig: otlp.Logs, n: 1}
		mustAppend(t, s, b)
		wantIDs(t, s, otlp.Logs, b)
	}
}

func TestDamagedPartitionIsPutAside(t *testing.T) {
	damages := map[string]func(t *testing.T, path string){
		"no bbolt file": func(t *testing.T, path string) { writeFile(t, path, bytes.Repeat([]byte("x"), 40000)) },
		"empty":         func(t *testing.T, path string) { writeFile(t, path, nil) },
		"cut":           func(t *testing.T, path string) { writeFile(t, path, readFile(t, path)[:9000]) },
		"zeroed pages": func(t *testing.T, path string) {
			data := readFile(t, path)
			clear(data[2*os.Getpagesize():])
			writeFile(t, path, data)
		},
		"no information": func(t *testing.T, path string) {
			edit(t, path, func(tx *bolt.Tx) error { return tx.Bucket([]byte("part")).Delete([]byte("v")) })
		},
		"no index": func(t *testing.T, path string) {
			edit(t, path, func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("logs.index")) })
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			clock := newClock(base)
			s := open(t, dir, storage.Options{Now: clock.now}, storage.Tuning{})
			lost := batch{sig: otlp.Logs, n: 20}
			mustAppend(t, s, lost)
			mustCompact(t, s)
			damaged := partitionFiles(t, dir)[0]
			clock.set(base.Add(24 * time.Hour))
			kept, inHead := batch{sig: otlp.Logs, first: 100, n: 20}, batch{sig: otlp.Logs, first: 200, n: 20}
			mustAppend(t, s, kept)
			mustCompact(t, s)
			mustAppend(t, s, inHead)
			closeStore(t, s)
			damage(t, damaged)

			s = open(t, dir, storage.Options{Now: clock.now}, storage.Tuning{})
			wantIDs(t, s, otlp.Logs, kept, inHead)
			if got := s.Stats().CorruptBlocks; got != 1 {
				t.Errorf("CorruptBlocks = %d, want 1", got)
			}
			if _, err := os.Stat(damaged + ".bad"); err != nil {
				t.Errorf("the damaged file is not put aside: %v", err)
			}
			// Its name is not used again.
			clock.set(base)
			late := batch{sig: otlp.Logs, first: 300, n: 20}
			mustAppend(t, s, late)
			mustCompact(t, s)
			wantIDs(t, s, otlp.Logs, kept, inHead, late)
			if _, err := os.Stat(damaged); !os.IsNotExist(err) {
				t.Errorf("Stat(%s) = %v, want that it does not exist", damaged, err)
			}
		})
	}
}

func TestCorruptBlockIsCountedAndPassedOver(t *testing.T) {
	flip := func(v []byte) []byte {
		v = bytes.Clone(v)
		v[len(v)/2] ^= 1
		return v
	}
	block1 := []byte{0, 0, 0, 0, 0, 0, 0, 1}
	damages := map[string]func(tx *bolt.Tx) error{
		"flipped bit": func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("logs.blocks")).Bucket(block1)
			return b.Put([]byte("v"), flip(b.Get([]byte("v"))))
		},
		"missing": func(tx *bolt.Tx) error { return tx.Bucket([]byte("logs.blocks")).DeleteBucket(block1) },
		"header and block flipped": func(tx *bolt.Tx) error {
			index := tx.Bucket([]byte("logs.index"))
			b := tx.Bucket([]byte("logs.blocks")).Bucket(block1)
			if err := index.Put(block1, flip(index.Get(block1))); err != nil {
				return err
			}
			v := bytes.Clone(b.Get([]byte("v")))
			clear(v[:16])
			return b.Put([]byte("v"), v)
		},
		"not in the index": func(tx *bolt.Tx) error { return tx.Bucket([]byte("logs.index")).Delete(block1) },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, storage.Options{}, storage.Tuning{})
			mustAppend(t, s, batch{sig: otlp.Logs, n: 50})
			mustCompact(t, s)
			kept := batch{sig: otlp.Logs, first: 100, n: 50}
			mustAppend(t, s, kept)
			mustCompact(t, s)
			closeStore(t, s)
			edit(t, partitionFiles(t, dir)[0], damage)

			s = open(t, dir, storage.Options{}, storage.Tuning{})
			for range 2 {
				// All columns, wherever the flipped bit is.
				if got := len(held(t, s, otlp.Logs)); got != kept.n {
					t.Errorf("Scan saw %d whole items, want %d", got, kept.n)
				}
			}
			wantIDs(t, s, otlp.Logs, kept)
			if got := s.Stats().CorruptBlocks; got != 1 {
				t.Errorf("CorruptBlocks = %d after two scans, want 1", got)
			}
			more := batch{sig: otlp.Logs, first: 200, n: 50}
			mustAppend(t, s, more)
			mustCompact(t, s)
			wantIDs(t, s, otlp.Logs, kept, more)
		})
	}
}

func TestDamagedHeaderIsReadFromTheBlock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, storage.Options{}, storage.Tuning{})
	b := batch{sig: otlp.Metrics, n: 50}
	mustAppend(t, s, b)
	mustCompact(t, s)
	closeStore(t, s)
	edit(t, partitionFiles(t, dir)[0], func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("metrics.index")).Put([]byte{0, 0, 0, 0, 0, 0, 0, 1}, []byte("nonsense"))
	})
	s = open(t, dir, storage.Options{}, storage.Tuning{})
	wantIDs(t, s, otlp.Metrics, b)
}

// TestFileCutUnderAReader has the pages of a mapped file vanish, as a failing
// disk makes them: a fault, not an error of a call.
func TestFileCutUnderAReader(t *testing.T) {
	for _, pages := range []int64{0, 2, 6} {
		t.Run(fmt.Sprint(pages), func(t *testing.T) { cutUnderAReader(t, pages) })
	}
}

func cutUnderAReader(t *testing.T, pages int64) {
	dir := t.TempDir()
	s, err := storage.OpenTuned(dir, storage.Options{Log: slog.New(slog.DiscardHandler)}, storage.Tuning{Retry: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	mustAppend(t, s, batch{sig: otlp.Logs, n: 3000})
	mustCompact(t, s)
	if err := os.Truncate(partitionFiles(t, dir)[0], pages*int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	kept := batch{sig: otlp.Logs, first: 5000, n: 10}
	mustAppend(t, s, kept)
	for range 2 {
		if got := len(held(t, s, otlp.Logs)); got != kept.n {
			t.Errorf("Scan saw %d whole items, want %d", got, kept.n)
		}
	}
	if got := s.Stats().CorruptBlocks; got != 1 {
		t.Errorf("CorruptBlocks = %d, want 1", got)
	}
	// The compactor needs more than one try to find that it must leave the file.
	mustCompact(t, s)
	wantIDs(t, s, otlp.Logs, kept)
}

func TestDamagedHeadEntryIsPutAside(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, storage.Options{}, storage.Tuning{})
	kept := batch{sig: otlp.Logs, first: 100, n: 10}
	mustAppend(t, s, batch{sig: otlp.Logs, n: 10}, kept)
	closeStore(t, s)
	edit(t, filepath.Join(dir, "head.db"), func(tx *bolt.Tx) error {
		entries := tx.Bucket([]byte("entries"))
		k, _ := entries.Cursor().First()
		b := entries.Bucket(k)
		v := bytes.Clone(b.Get([]byte("v")))
		v[len(v)-1] ^= 0x80
		return b.Put([]byte("v"), v)
	})
	for _, corrupt := range []uint64{1, 0} { // the second start meets nothing
		s = open(t, dir, storage.Options{}, storage.Tuning{})
		wantIDs(t, s, otlp.Logs, kept)
		if got := s.Stats().CorruptBlocks; got != corrupt {
			t.Errorf("CorruptBlocks = %d, want %d", got, corrupt)
		}
		closeStore(t, s)
	}
	if got, _ := filepath.Glob(filepath.Join(dir, "head-*.bad")); len(got) != 1 {
		t.Errorf("put aside: %v, want one file", got)
	}
}

func TestOpenRefusesNewerFormats(t *testing.T) {
	bump := func(b *bolt.Bucket) error {
		v := bytes.Clone(b.Get([]byte("v")))
		v[0] = 99
		storage.PutChecksum(v)
		return b.Put([]byte("v"), v)
	}
	cases := map[string]func(dir string) (string, func(*bolt.Tx) error){
		"entry": func(dir string) (string, func(*bolt.Tx) error) {
			return filepath.Join(dir, "head.db"), func(tx *bolt.Tx) error {
				k, _ := tx.Bucket([]byte("entries")).Cursor().First()
				return bump(tx.Bucket([]byte("entries")).Bucket(k))
			}
		},
		"note": func(dir string) (string, func(*bolt.Tx) error) {
			return partitionFiles(t, dir)[0], func(tx *bolt.Tx) error {
				return changeNote(tx, func(v []byte) { v[0] = 99; storage.PutChecksum(v) })
			}
		},
		"partition": func(dir string) (string, func(*bolt.Tx) error) {
			return partitionFiles(t, dir)[0], func(tx *bolt.Tx) error { return bump(tx.Bucket([]byte("part"))) }
		},
	}
	for name, target := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, storage.Options{}, storage.Tuning{})
			mustAppend(t, s, batch{sig: otlp.Logs, n: 10})
			mustCompact(t, s)
			mustAppend(t, s, batch{sig: otlp.Logs, n: 10})
			closeStore(t, s)
			path, change := target(dir)
			edit(t, path, change)
			if s, err := storage.Open(dir, storage.Options{}); err == nil {
				closeStore(t, s)
				t.Error("Open succeeded, want a refusal of the newer format")
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("the newer file is gone: %v", err)
			}
		})
	}
}

func TestCountersSurvive(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, storage.Options{}, storage.Tuning{})
	s.CountIntake(otlp.Logs, storage.HTTP, storage.Intake{Stored: 5, Rejected: 2, Refused: 1})
	s.CountIntake(otlp.Logs, storage.HTTP, storage.Intake{Stored: 5})
	s.CountIntake(otlp.Metrics, storage.GRPC, storage.Intake{Refused: 7})
	var seqs []uint64
	for i := range 3 {
		mustAppend(t, s, batch{sig: otlp.Logs, first: i, n: 1})
		seqs = append(seqs, s.Stats().Seq)
		mustCompact(t, s)
		closeStore(t, s)
		s = open(t, dir, storage.Options{}, storage.Tuning{})
		if got := s.Stats().Seq; got != seqs[i] {
			t.Errorf("Seq = %d after a restart, want %d", got, seqs[i])
		}
	}
	if seqs[0] == 0 || seqs[1] <= seqs[0] || seqs[2] <= seqs[1] {
		t.Errorf("Seq went %v, want it to rise", seqs)
	}
	st := s.Stats()
	if got, want := st.Signals[otlp.Logs].Intake[storage.HTTP], (storage.Intake{Stored: 10, Rejected: 2, Refused: 1}); got != want {
		t.Errorf("intake of logs = %+v, want %+v", got, want)
	}
	if got, want := st.Signals[otlp.Metrics].Intake[storage.GRPC], (storage.Intake{Refused: 7}); got != want {
		t.Errorf("intake of metrics = %+v, want %+v", got, want)
	}
}

func TestLeftoversOfFailedTransactionsGo(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, storage.Options{}, storage.Tuning{})
	bs := []batch{{sig: otlp.Logs, n: 10}, {sig: otlp.Logs, first: 100, n: 10}, {sig: otlp.Logs, first: 200, n: 10}}
	mustAppend(t, s, bs[0])
	mustCompact(t, s)
	mustAppend(t, s, bs[1])
	if err := s.LeaveLeftovers(); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, s, otlp.Logs, bs[:2]...)
	mustAppend(t, s, bs[2])
	mustCompact(t, s)
	wantIDs(t, s, otlp.Logs, bs...)
	closeStore(t, s)
	s = open(t, dir, storage.Options{}, storage.Tuning{})
	wantIDs(t, s, otlp.Logs, bs...)
	last := batch{sig: otlp.Logs, first: 300, n: 10}
	mustAppend(t, s, last)
	closeStore(t, s)
	s = open(t, dir, storage.Options{}, storage.Tuning{})
	wantIDs(t, s, otlp.Logs, append(bs, last)...)
}

// changeNote changes the first note of a partition file.
func changeNote(tx *bolt.Tx, change func(v []byte)) error {
	b := tx.Bucket([]byte("applied"))
	k, v := b.Cursor().First()
	v = bytes.Clone(v)
	change(v)
	return b.Put(bytes.Clone(k), v)
}

func TestDamagedNoteCostsNoPartition(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, storage.Options{}, storage.Tuning{})
	b := batch{sig: otlp.Logs, n: 10}
	mustAppend(t, s, b)
	mustCompact(t, s)
	closeStore(t, s)
	edit(t, partitionFiles(t, dir)[0], func(tx *bolt.Tx) error {
		return changeNote(tx, func(v []byte) { v[len(v)-1] ^= 1 })
	})
	s = open(t, dir, storage.Options{Log: slog.New(slog.DiscardHandler)}, storage.Tuning{})
	wantIDs(t, s, otlp.Logs, b)
	if got := s.Stats().CorruptBlocks; got != 1 {
		t.Errorf("CorruptBlocks = %d, want 1", got)
	}
	closeStore(t, s)
}

func TestNotesOfOldRunsArePruned(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, storage.Options{}, storage.Tuning{})
	const runs = 12
	for i := range runs {
		for _, sig := range otlp.Signals {
			mustAppend(t, s, batch{sig: sig, first: i * 10, n: 3})
		}
		mustCompact(t, s)
	}
	closeStore(t, s)
	db, err := bolt.Open(partitionFiles(t, dir)[0], 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	notes := 0
	err = db.View(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("applied")).ForEach(func(_, _ []byte) error { notes++; return nil })
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	// The entries of a run leave with the commit that the next request makes at
	// the latest, so the run after that one drops its note.
	if notes < 3 || notes > 6 {
		t.Errorf("%d notes after %d runs of 3 signals, want 3 to 6", notes, runs)
	}
}
