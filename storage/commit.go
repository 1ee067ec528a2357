package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"sonde/storage/otlp"
)

const (
	// One commit takes at most this many requests or bytes, so that the first
	// of them does not wait for an endless last.
	maxBatch      = 256
	maxBatchBytes = 16 << 20
	// Deletes of a commit: many times what it adds, yet done in a millisecond.
	maxDeletes = 512
)

// Buckets and keys of head.db.
var (
	bucketEntries = []byte("entries")
	bucketMeta    = []byte("meta")
	keyValue      = []byte("v")
)

// headKey names an entry of head.db that is to be deleted.
type headKey struct {
	num uint64
	sig otlp.Signal // 0: of no signal that was ever published
}

// committer writes head.db: one goroutine, so that many requests share a sync.
type committer struct {
	s    *Store
	next uint64 // number of the next entry
	seq  uint64 // of commits with entries

	batch []*pending
	bufs  [numSignals][]byte
}

// run commits until Close, and what is left then.
func (c *committer) run() error {
	for {
		select {
		case p := <-c.s.queue:
			c.drain(p)
			_ = c.commit() // who waits has been told
		case <-c.s.nudge:
			c.batch = c.batch[:0]
			if c.s.hasDeletes() {
				_ = c.commit() // the deletes stay due
			}
		case <-c.s.stopCommitter:
			c.batch = c.batch[:0]
			return c.commit()
		}
	}
}

// drain collects what else is waiting.
func (c *committer) drain(first *pending) {
	c.batch = append(c.batch[:0], first)
	size := len(first.body)
	for len(c.batch) < maxBatch && size < maxBatchBytes {
		select {
		case p := <-c.s.queue:
			c.batch = append(c.batch, p)
			size += len(p.body)
		default:
			return
		}
	}
}

// commit writes the batch and the deletes that are due, publishes and answers.
func (c *committer) commit() error {
	began := time.Now()
	deletes := c.s.takeDeletes(maxDeletes)
	entries := c.entries()
	next, seq := c.next+uint64(len(entries)), c.seq
	if len(entries) > 0 {
		seq++
	}
	err := c.write(entries, deletes, c.s.encodeState(next, seq))
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrDisk, err)
		c.s.commitFailed(c.batch, err)
	} else {
		c.next, c.seq = next, seq
		c.s.publish(entries, deletes, seq, time.Since(began))
	}
	for _, p := range c.batch {
		p.done <- err
	}
	clear(c.batch)
	return err
}

// entries groups the batch into at most one entry per signal.
func (c *committer) entries() []entry {
	now := c.s.opts.Now().UnixNano()
	var entries []entry
	num := c.next
	for _, sig := range otlp.Signals {
		var reqs []*otlp.Request
		for _, p := range c.batch {
			if p.req.Signal == sig {
				reqs = append(reqs, p.req)
			}
		}
		if len(reqs) > 0 {
			entries = append(entries, entry{num: num, sig: sig, timeNano: now, reqs: reqs})
			num++
		}
	}
	return entries
}

// encode returns the value of an entry in a buffer that lasts until the next
// commit.
func (c *committer) encode(e entry) []byte {
	pendings := make([]*pending, 0, len(e.reqs))
	for _, p := range c.batch {
		if p.req.Signal == e.sig {
			pendings = append(pendings, p)
		}
	}
	buf := appendEntry(c.bufs[e.sig-1][:0], e.sig, e.timeNano, pendings)
	c.bufs[e.sig-1] = nil
	if cap(buf) <= 2*maxBatchBytes {
		c.bufs[e.sig-1] = buf
	}
	return buf
}

// write does it all in one transaction.
func (c *committer) write(entries []entry, deletes []headKey, meta []byte) error {
	return c.s.head.update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketEntries)
		if err := deleteFrom(b, c.next); err != nil {
			return err
		}
		for _, d := range deletes {
			if err := b.DeleteBucket(numberKey(d.num)); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
				return err
			}
		}
		for _, e := range entries {
			if err := putValue(b, e.num, c.encode(e)); err != nil {
				return err
			}
		}
		return tx.Bucket(bucketMeta).Put(keyValue, meta)
	})
}

// deleteFrom deletes the sub-buckets from a number on. Where new ones are about
// to be put there can only be leftovers of a transaction that failed: a failed
// sync says nothing of what was written, and bbolt goes on from what is there.
func deleteFrom(b *bolt.Bucket, num uint64) error {
	for {
		k, _ := b.Cursor().Last()
		if k == nil || binary.BigEndian.Uint64(k) < num {
			return nil
		}
		if err := b.DeleteBucket(k); err != nil {
			return err
		}
	}
}

// putValue puts a value into a sub-bucket of its own. As a plain key it would
// drag its neighbours along at each write: bbolt rewrites whole leaves.
func putValue(b *bolt.Bucket, num uint64, v []byte) error {
	sub, err := b.CreateBucket(numberKey(num))
	if err != nil {
		return err
	}
	return sub.Put(keyValue, v)
}

// value returns what putValue put, nil when it is not there.
func value(b *bolt.Bucket, key []byte) []byte {
	if b == nil {
		return nil
	}
	sub := b.Bucket(key)
	if sub == nil {
		return nil
	}
	return sub.Get(keyValue)
}

func numberKey(num uint64) []byte { return binary.BigEndian.AppendUint64(nil, num) }

// publish makes committed entries visible and forgets committed deletes.
func (s *Store) publish(entries []entry, deletes []headKey, seq uint64, took time.Duration) {
	size := fileBytes(s.path(headName))
	// Made before the lock is taken: it looks at every item.
	pieces := make([]*piece, len(entries))
	for i, e := range entries {
		pieces[i] = newPiece(e, s.startHour(e.timeNano))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pieces {
		st := s.signal(p.sig)
		st.push(p)
		s.counters.stored(p.sig, uint64(p.rows), p.timeNano)
		if st.due(s.tune, p.timeNano) {
			poke(s.wake[p.sig-1])
		}
	}
	for _, d := range deletes {
		if d.sig != 0 {
			s.signal(d.sig).deleted = d.num
		}
	}
	s.dropDeletes(deletes)
	s.counters.committed(seq, took, size)
}

// commitFailed takes back what Append reserved.
func (s *Store) commitFailed(batch []*pending, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range batch {
		s.headBytes -= int64(len(p.req.Payload))
	}
	s.counters.commitError = err.Error()
}

func (s *Store) hasDeletes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.deletes) > 0
}

// takeDeletes returns a copy of the oldest deletes that are due. They stay due
// until a commit has done them.
func (s *Store) takeDeletes(most int) []headKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]headKey(nil), s.deletes[:min(most, len(s.deletes))]...)
}

// dropDeletes removes from the front what was done; s.mu must be held.
func (s *Store) dropDeletes(done []headKey) {
	n := 0
	for n < len(s.deletes) && n < len(done) && s.deletes[n] == done[n] {
		n++
	}
	s.deletes = s.deletes[n:]
	if len(s.deletes) > 0 {
		poke(s.nudge)
	}
}
