package storage

import (
	"errors"
	"fmt"
	"time"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

const (
	// retryFirst is the pause after a first failed compaction; it doubles.
	retryFirst = time.Second
	// A compactor keeps its memory this long for the next run: growing it anew
	// takes a third of the time of a run, and leaves as much garbage.
	keepBuilder = 10 * time.Second
)

// compactor turns the head of one signal into blocks, a run at a time, until
// Close. One goroutine a signal keeps the order of runs the order of arrival.
func (s *Store) compactor(sig otlp.Signal) {
	pause := retryFirst
	var b *block.Builder // nil: no memory is kept
	for {
		s.mu.Lock()
		pieces := s.signal(sig).run(s.tune, s.opts.Now().UnixNano())
		s.mu.Unlock()
		var wait <-chan time.Time
		if pieces != nil {
			if b == nil {
				b = block.NewBuilder(sig)
			}
			err := s.compact(b, sig, pieces)
			if err == nil {
				pause = retryFirst
				s.retain()
				continue
			}
			if s.stopping() {
				return
			}
			pause = min(pause, s.tune.retry)
			s.log.Error("cannot move telemetry out of the head", "signal", sig, "retry", pause, "error", err)
			wait = time.After(pause)
			pause *= 2
		}
		idle, more := s.rest(sig, wait)
		if !more {
			return
		}
		if idle {
			b = nil
		}
	}
}

// rest waits for work, or for wait alone when it is set; more is false at
// Close, idle true when there was nothing to do for keepBuilder.
func (s *Store) rest(sig otlp.Signal, wait <-chan time.Time) (idle, more bool) {
	wake := s.wake[sig-1]
	var late <-chan time.Time
	if wait != nil {
		wake = nil // a full disk does not empty because more is waiting
	} else {
		late = time.After(keepBuilder)
	}
	select {
	case <-wake:
	case <-wait:
	case <-late:
		idle = true
	case <-s.closing:
		return false, false
	}
	return idle, !s.stopping()
}

// compact writes the pieces as blocks into their partition and swaps them
// there. It uses the memory of b.
func (s *Store) compact(b *block.Builder, sig otlp.Signal, pieces []*piece) (err error) {
	defer func() {
		if err != nil {
			s.abandon(sig, err)
		}
	}()
	blocks, err := s.encode(b, pieces)
	if err != nil {
		return err
	}
	p, err := s.acquire(pieces[0].start)
	if err != nil {
		return err
	}
	s.mu.Lock()
	st := s.signal(sig)
	r := &run{
		sig: sig, first: pieces[0].first(), last: pieces[len(pieces)-1].last(),
		blocks: blocks, firstID: st.nextBlock, deleted: st.deleted,
	}
	t := p.totals[sig-1]
	s.mu.Unlock()
	for i := range blocks {
		t.add(&blocks[i].header)
	}
	if err := p.write(r, t); err != nil {
		s.release(p)
		return fmt.Errorf("cannot write partition %s: %w", p.name, err)
	}
	s.swap(p, r, t)
	return nil
}

var errStopping = errors.New("storage is closing")

// encode builds the blocks of a run in memory: at most some MiB.
func (s *Store) encode(b *block.Builder, pieces []*piece) ([]encodedBlock, error) {
	b.Reset()
	for _, p := range pieces {
		for _, r := range p.reqs {
			b.Add(r)
		}
	}
	var blocks []encodedBlock
	err := b.Encode(func(h block.Header, encoded []byte) error {
		if s.stopping() {
			return errStopping
		}
		blocks = append(blocks, encodedBlock{header: h, bytes: encoded})
		return nil
	})
	return blocks, err
}

// swap makes the blocks of a run visible and its head entries vanish in one
// instant.
func (s *Store) swap(p *partition, r *run, t totals) {
	size := fileBytes(s.path(p.name))
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.signal(r.sig)
	for i := range r.blocks {
		// Snapshots hold shorter slices of the same array: they never see this.
		st.blocks = append(st.blocks, &blockRef{header: r.blocks[i].header, id: st.nextBlock, part: p})
		st.nextBlock++
	}
	p.writers--
	p.bytes = size
	p.totals[r.sig-1] = t
	for _, piece := range st.pieces[:st.frozen] {
		for _, num := range piece.nums {
			s.deletes = append(s.deletes, headKey{num: num, sig: r.sig})
		}
	}
	s.headBytes -= st.dropRun()
	s.counters.compactErrors[r.sig-1] = ""
	s.compactionEnded()
	poke(s.nudge)
}

// compactionEnded wakes who waits for it; s.mu must be held.
func (s *Store) compactionEnded() {
	close(s.swapped)
	s.swapped = make(chan struct{})
}

// release takes back an acquire.
func (s *Store) release(p *partition) {
	s.mu.Lock()
	p.writers--
	s.mu.Unlock()
}

// abandon gives a run back to the head.
func (s *Store) abandon(sig otlp.Signal, err error) {
	s.mu.Lock()
	s.signal(sig).frozen = 0
	if !errors.Is(err, errStopping) {
		s.counters.compactErrors[sig-1] = err.Error()
	}
	s.compactionEnded()
	s.mu.Unlock()
}
