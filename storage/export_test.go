package storage

import (
	"context"
	"time"
)

// Tuning lets tests of the package compact early and drive the upkeep.
type Tuning struct {
	RunRows  int
	GenBytes int64
	Retry    time.Duration
	Tick     <-chan time.Time
}

// OpenTuned is Open with thresholds that tests can reach.
func OpenTuned(dir string, o Options, t Tuning) (*Store, error) {
	return open(dir, o, tuning{runRows: t.RunRows, genBytes: t.GenBytes, retry: t.Retry, tick: t.Tick})
}

// WaitRoom returns once the head has changed, after an ErrOverloaded.
func (s *Store) WaitRoom(ctx context.Context, n int64) {
	for {
		s.mu.Lock()
		swapped, room := s.swapped, s.headBytes+n <= s.opts.MaxHeadBytes
		s.mu.Unlock()
		if room {
			return
		}
		select {
		case <-swapped:
		case <-ctx.Done():
			return
		}
	}
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
