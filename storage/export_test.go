package storage

import (
	"bytes"
	"context"
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"

	"sonde/storage/otlp"
)

// Tuning lets tests of the package compact early and drive the upkeep.
type Tuning struct {
	RunRows  int
	GenBytes int64
	Retry    time.Duration
	RoomWait time.Duration
	Tick     <-chan time.Time
}

// OpenTuned is Open with thresholds that tests can reach.
func OpenTuned(dir string, o Options, t Tuning) (*Store, error) {
	return open(dir, o, tuning{runRows: t.RunRows, genBytes: t.GenBytes, retry: t.Retry, roomWait: t.RoomWait, tick: t.Tick})
}

// HeadPieces returns how many blocks a scan of the head would visit.
func (s *Store) HeadPieces() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.signals {
		n += len(s.signals[i].pieces)
	}
	return n
}

// HoldCompactors stops compactions before they write, until release.
func (s *Store) HoldCompactors() (release func()) {
	s.createMu.Lock()
	return s.createMu.Unlock
}

// PutChecksum makes a changed value valid again.
var PutChecksum = putChecksum

// WaitHeadEmpty returns once compactions that are due have emptied the head.
// It makes none due.
func (s *Store) WaitHeadEmpty(ctx context.Context) {
	for {
		s.mu.Lock()
		swapped, rows := s.swapped, 0
		for i := range s.signals {
			rows += s.signals[i].headRows
		}
		s.mu.Unlock()
		if rows == 0 {
			return
		}
		select {
		case <-swapped:
		case <-ctx.Done():
			return
		}
	}
}

// LeaveLeftovers puts into the files what transactions leave there whose sync
// failed: an entry, and a block with its header and note, that the store takes
// for never written. It needs an entry and a partition to copy from.
func (s *Store) LeaveLeftovers() error {
	const num = 1 << 40
	s.mu.Lock()
	p := s.parts[0]
	s.mu.Unlock()
	err := s.head.update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketEntries)
		k, _ := b.Cursor().First()
		return putValue(b, num, bytes.Clone(value(b, k)))
	})
	return errors.Join(err, p.update(func(tx *bolt.Tx) error {
		blocks, index := tx.Bucket(bucketBlocks(otlp.Logs)), tx.Bucket(bucketIndex(otlp.Logs))
		k, v := index.Cursor().First()
		return errors.Join(
			putValue(blocks, num, bytes.Clone(value(blocks, k))),
			index.Put(numberKey(num), bytes.Clone(v)),
			tx.Bucket(bucketApplied).Put(noteKey(otlp.Logs, num), encodeNote(otlp.Logs, numberRange{1, num})))
	}))
}

// FlushIntoFailure makes compactions due and returns when one has failed.
func (s *Store) FlushIntoFailure(ctx context.Context) {
	s.flush()
	for {
		s.mu.Lock()
		swapped, failure := s.swapped, s.counters.lastError()
		s.mu.Unlock()
		if failure != "" {
			return
		}
		select {
		case <-swapped:
		case <-ctx.Done():
			return
		}
	}
}
