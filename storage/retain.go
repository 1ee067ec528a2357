package storage

import (
	"os"
	"slices"
)

// addPartition makes a partition known; s.mu must be held.
func (s *Store) addPartition(p *partition) {
	s.gens[p.start] = max(s.gens[p.start], p.gen)
	s.parts = append(slices.Clone(s.parts), p) // snapshots hold the old slice
	slices.SortFunc(s.parts, func(a, b *partition) int {
		if a.start != b.start {
			return int(a.start - b.start)
		}
		return a.gen - b.gen
	})
}

// retain deletes the partitions that are too old or too much.
func (s *Store) retain() {
	s.retainMu.Lock()
	defer s.retainMu.Unlock()
	s.mu.Lock()
	dropped := s.expired()
	for _, p := range dropped {
		if s.writable[p.start] == p {
			delete(s.writable, p.start)
		}
	}
	s.forgetPartitions(dropped)
	s.mu.Unlock()
	if len(dropped) == 0 {
		return
	}
	for _, p := range dropped {
		if err := os.Remove(s.path(p.name)); err != nil {
			s.log.Error("cannot delete a partition", "file", p.name, "error", err)
			continue
		}
		s.log.Info("deleted a partition", "file", p.name, "bytes", p.bytes, "until", p.end())
	}
	if err := syncDir(s.dir); err != nil {
		s.log.Error("cannot sync the data folder", "folder", s.dir, "error", err)
	}
	// The space is free once the last reader has gone.
	s.drop(dropped)
}

// expired returns the partitions to delete; s.mu must be held. Those that
// compactors write to go by age alone, and not while one is at it: a file that
// is too large by itself has been followed by a generation already.
func (s *Store) expired() []*partition {
	horizon := s.opts.Now().Add(-s.opts.Retention)
	total := int64(0)
	for _, p := range s.parts {
		total += p.bytes
	}
	var dropped []*partition
	for _, p := range s.parts {
		tooOld := !p.end().After(horizon)
		tooMuch := total > s.opts.MaxSizeBytes && s.writable[p.start] != p
		if p.writers == 0 && (tooOld || tooMuch) {
			dropped = append(dropped, p)
			total -= p.bytes
		}
	}
	return dropped
}

// forgetPartitions takes partitions out of what snapshots will see; s.mu must
// be held.
func (s *Store) forgetPartitions(dropped []*partition) {
	if len(dropped) == 0 {
		return
	}
	gone := func(p *partition) bool { return slices.Contains(dropped, p) }
	s.parts = slices.DeleteFunc(slices.Clone(s.parts), gone)
	for i := range s.signals {
		st := &s.signals[i]
		st.blocks = slices.DeleteFunc(slices.Clone(st.blocks), func(b *blockRef) bool { return gone(b.part) })
	}
}

// drop gives up references to partitions; the last one closes the file.
func (s *Store) drop(parts []*partition) {
	var unused []*partition
	s.mu.Lock()
	for _, p := range parts {
		if p.refs--; p.refs == 0 {
			unused = append(unused, p)
		}
	}
	s.mu.Unlock()
	for _, p := range unused {
		if err := p.close(); err != nil {
			s.log.Error("cannot close a partition", "file", p.name, "error", err)
		}
	}
}
