package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"

	"sonde/storage/otlp"
)

// numberOf reads a key of numberKey.
func numberOf(k []byte) (uint64, error) {
	if len(k) != 8 {
		return 0, fmt.Errorf("%w: key of %d bytes", errDamaged, len(k))
	}
	return binary.BigEndian.Uint64(k), nil
}

// ranges are the entry numbers, per signal, that are in blocks.
type ranges map[otlp.Signal][]numberRange

type numberRange struct{ first, last uint64 } // both inclusive

// read adds the notes of a partition file and returns how many are damaged.
// Without its note a run that a kill left in the head as well is there twice,
// which is better than to lose a whole partition for it.
func (r ranges) read(tx *bolt.Tx) (damaged int, err error) {
	b := tx.Bucket(bucketApplied)
	if b == nil {
		return 0, fmt.Errorf("%w: no bucket %q", errDamaged, bucketApplied)
	}
	err = b.ForEach(func(k, v []byte) error {
		sig, n, err := decodeNote(k, v)
		switch {
		case errors.Is(err, errNewer):
			return err
		case err != nil:
			damaged++
		default:
			r[sig] = append(r[sig], n)
		}
		return nil
	})
	return damaged, err
}

func (r ranges) merge(other ranges) {
	for sig, list := range other {
		r[sig] = append(r[sig], list...)
	}
}

func (r ranges) contain(sig otlp.Signal, num uint64) bool {
	for _, n := range r[sig] {
		if num >= n.first && num <= n.last {
			return true
		}
	}
	return false
}

// highest returns the highest number of all ranges.
func (r ranges) highest() (highest uint64) {
	for _, list := range r {
		for _, n := range list {
			highest = max(highest, n.last)
		}
	}
	return highest
}

// readHead queues the entries that are not in blocks, marks the others for
// deletion, and sets where the committer goes on. Numbers are never used twice,
// not even when a partition knows more than the head: the file may have been
// brought back from elsewhere.
func (s *Store) readHead(c *committer, applied ranges) error {
	next, lost := applied.highest()+1, false
	err := s.head.view(func(tx *bolt.Tx) error {
		entries, meta := tx.Bucket(bucketEntries), tx.Bucket(bucketMeta)
		if v := meta.Get(keyValue); v != nil {
			n, seq, err := s.decodeState(v)
			if errors.Is(err, errNewer) {
				return err
			}
			if err != nil {
				lost = true
				s.log.Error("the counters are lost", "file", headName, "error", err)
			}
			next, c.seq = max(next, n), seq
		}
		return entries.ForEach(func(k, _ []byte) error {
			num, err := numberOf(k)
			if err != nil {
				return err
			}
			next = max(next, num+1)
			return s.readEntry(num, value(entries, k), applied)
		})
	})
	c.next = next
	if lost {
		c.seq = next // no lower than any before: a commit has one entry or more
	}
	s.counters.seq = c.seq
	return err
}

// readEntry takes one entry over. A damaged one is put aside, so that the next
// start does not meet it again and no byte is thrown away.
func (s *Store) readEntry(num uint64, v []byte, applied ranges) error {
	// Before the requests are walked: the number and the signal are enough.
	if checkValue(v, entryVersion) == nil && applied.contain(otlp.Signal(v[1]), num) {
		s.deletes = append(s.deletes, headKey{num: num, sig: otlp.Signal(v[1])})
		return nil
	}
	e, err := decodeEntry(v)
	if errors.Is(err, errNewer) {
		return err
	}
	if err != nil || len(e.reqs) == 0 {
		return s.putAside(num, v, err)
	}
	e.num = num
	p := newPiece(e, s.startHour(e.timeNano))
	s.signal(e.sig).push(p)
	s.headBytes += p.bytes
	return nil
}

func (s *Store) putAside(num uint64, v []byte, cause error) error {
	name := fmt.Sprintf("head-%d%s", num, badSuffix)
	s.counters.corrupt++
	s.log.Error("putting aside a damaged entry of the head", "entry", num, "as", name, "error", cause)
	if err := os.WriteFile(s.path(name), v, 0o600); err != nil {
		return err
	}
	s.deletes = append(s.deletes, headKey{num: num})
	return nil
}
