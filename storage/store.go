package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sonde/storage/otlp"
)

// Errors of Store. All but ErrLocked and ErrClosed leave the store usable.
var (
	// Append: nothing was stored, the same request may be sent again later.
	ErrOverloaded = errors.New("storage is overloaded")
	ErrDisk       = errors.New("cannot write to disk")
	// Every method after Close.
	ErrClosed = errors.New("storage is closed")
	// Open: another process has the folder.
	ErrLocked = errors.New("data folder is in use by another process")
)

// TimeRange is a stretch of event time in Unix nanoseconds, From inclusive, To
// exclusive. The zero value means all time; To 0 means no upper bound.
type TimeRange struct{ From, To uint64 }

// Contains reports whether t lies in the range.
func (r TimeRange) Contains(t uint64) bool { return t >= r.From && (r.To == 0 || t < r.To) }

// meets reports whether the range shares a moment with [first, last].
func (r TimeRange) meets(first, last uint64) bool {
	return last >= r.From && (r.To == 0 || first < r.To)
}

const numSignals = len(otlp.Signals)

// Store is an open data folder. Its methods may be called concurrently.
type Store struct {
	dir  string
	opts Options
	tune tuning
	log  *slog.Logger
	head file

	queue   chan *pending             // to the committer
	nudge   chan struct{}             // capacity 1: the committer has deletes to do
	wake    [numSignals]chan struct{} // capacity 1: a compactor should look again
	closing chan struct{}             // closed by Close
	calls   sync.WaitGroup            // running calls of the exported methods
	workers sync.WaitGroup            // compactors and upkeep

	stopCommitter chan struct{}
	committerDone chan error // the outcome of the last commit

	createMu sync.Mutex // held while a partition file is created
	retainMu sync.Mutex // held by retain, so that what one has dropped is gone for the next

	mu        sync.Mutex // protects what follows
	closed    bool
	signals   [numSignals]signalState
	headBytes int64                // payloads queued or in the head
	deletes   []headKey            // compacted entries still in head.db, oldest first
	parts     []*partition         // by start, then generation; copied on write
	writable  map[int64]*partition // by start hour: where compactors write
	gens      map[int64]int        // highest generation of a start hour that was ever seen
	swapped   chan struct{}        // closed and replaced when a compaction ends
	counters  counters

	closeOnce sync.Once
	closeErr  error
}

// signalState is what readers and writers of one signal share.
type signalState struct {
	pieces    []*piece    // the head, oldest first; copied on write
	frozen    int         // that many of pieces are being compacted
	headRows  int         // of pieces
	waitBytes int64       // payload bytes of pieces
	blocks    []*blockRef // ascending by id; appended to, copied when cut
	nextBlock uint64      // the id of the next block
	published uint64      // the newest entry number that was in the head
	flushTo   uint64      // entries up to here are due whatever their number
	deleted   uint64      // entries up to here are gone from head.db
}

// Open opens or creates a data folder and recovers what a kill left behind.
func Open(dir string, o Options) (*Store, error) { return open(dir, o, tuning{}) }

func open(dir string, o Options, t tuning) (*Store, error) {
	o = o.withDefaults()
	s := &Store{
		dir: dir, opts: o, tune: t.withDefaults(o), log: o.Log,
		queue:         make(chan *pending, maxBatch),
		nudge:         make(chan struct{}, 1),
		closing:       make(chan struct{}),
		stopCommitter: make(chan struct{}),
		committerDone: make(chan error, 1),
		writable:      make(map[int64]*partition),
		gens:          make(map[int64]int),
		swapped:       make(chan struct{}),
	}
	s.counters.start = o.Now()
	for i := range s.wake {
		s.wake[i] = make(chan struct{}, 1)
		s.signals[i].nextBlock = 1
	}
	c, err := s.recover()
	if err != nil {
		return nil, fmt.Errorf("cannot open storage %q: %w", dir, errors.Join(err, s.closeFiles()))
	}
	s.start(c)
	return s, nil
}

func (s *Store) start(c *committer) {
	go func() { s.committerDone <- c.run() }()
	for _, sig := range otlp.Signals {
		s.workers.Go(func() { s.compactor(sig) })
	}
	s.workers.Go(s.upkeep)
	if len(s.deletes) > 0 {
		poke(s.nudge)
	}
}

// upkeep looks after what time alone makes due.
func (s *Store) upkeep() {
	tick := s.tune.tick
	if tick == nil {
		t := time.NewTicker(upkeepEvery)
		defer t.Stop()
		tick = t.C
	}
	s.retain()
	for {
		select {
		case <-tick:
		case <-s.closing:
			return
		}
		for _, w := range s.wake {
			poke(w)
		}
		s.seal()
		s.retain()
		// Deletes that failed with their commit wait for another chance.
		poke(s.nudge)
	}
}

// Close stops the compactor, waits for running calls, and closes the files. It
// may be called twice.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		close(s.closing)
		s.calls.Wait()
		s.workers.Wait()
		close(s.stopCommitter)
		s.closeErr = errors.Join(<-s.committerDone, s.closeFiles())
	})
	return s.closeErr
}

// closeFiles closes what is open; nothing may use the files any more.
func (s *Store) closeFiles() error {
	var errs []error
	for _, p := range s.parts {
		errs = append(errs, p.close())
	}
	s.parts = nil
	errs = append(errs, s.head.close())
	return errors.Join(errs...)
}

// enter begins a call; each nil needs a leave.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.calls.Add(1)
	return nil
}

func (s *Store) leave() { s.calls.Done() }

// stopping reports whether Close has begun.
func (s *Store) stopping() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// signal returns the state of a signal; s.mu must be held.
func (s *Store) signal(sig otlp.Signal) *signalState { return &s.signals[sig-1] }

// WaitCompacted returns once everything appended before the call is in blocks
// or ctx ends. For tests, benchmarks and an orderly backup.
func (s *Store) WaitCompacted(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	targets := s.flush()
	for {
		s.mu.Lock()
		waiting, swapped := false, s.swapped
		for i := range s.signals {
			waiting = waiting || s.signals[i].hasUpTo(targets[i])
		}
		s.mu.Unlock()
		if !waiting {
			return nil
		}
		select {
		case <-swapped:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return ErrClosed
		}
	}
}

// flush makes all that is in the head due, and returns the newest entry number
// of each signal.
func (s *Store) flush() (targets [numSignals]uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.signals {
		st := &s.signals[i]
		targets[i], st.flushTo = st.published, st.published
		poke(s.wake[i])
	}
	return targets
}

// hasUpTo reports whether the head holds an entry with a number up to num.
func (st *signalState) hasUpTo(num uint64) bool {
	return len(st.pieces) > 0 && st.pieces[0].first() <= num
}

// path returns the path of a file of the folder.
func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// poke makes sure that the reader of a channel of capacity 1 wakes.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// syncDir makes renames and removals in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
