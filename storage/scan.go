package storage

import (
	"container/heap"
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// Position orders blocks and items by arrival: of two items with equal times
// the one with the lower block position, then the lower row, arrived first.
// Positions rise with arrival and survive compaction in their order, not in
// their value.
type Position uint64

// ScanOptions say what Scan visits.
type ScanOptions struct {
	Signal otlp.Signal
	Range  TimeRange
	// Skip, when set, is asked with the header of each block that meets Range;
	// true passes over the block without reading it. The header must not be
	// changed.
	Skip func(*block.Header) bool
}

// Scan visits the blocks that have items in the range, those with the newest
// MaxTime first, as one consistent snapshot: each item that was appended before
// Scan began is seen once. Items outside the range occur in the blocks too.
// visit returns false to stop. Scan returns visit's error, ctx's error, or nil;
// a corrupt block is counted and logged, and the scan goes on without it: visit
// returns block.ErrCorrupt as it came.
//
// visit must not call the store, and its block is valid until it returns.
func (s *Store) Scan(ctx context.Context, o ScanOptions, visit func(*block.Block, Position) (more bool, err error)) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if o.Signal < otlp.Logs || o.Signal > otlp.Metrics {
		return fmt.Errorf("cannot scan signal %d", o.Signal)
	}
	snap := s.snapshot(o.Signal)
	defer s.drop(snap.parts)
	for todo := snap.candidates(o.Range); len(todo) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.stopping() {
			return ErrClosed
		}
		c := heap.Pop(&todo).(candidate)
		if c.block != nil && c.block.corrupt.Load() || o.Skip != nil && o.Skip(c.header()) {
			continue
		}
		more := true
		err := c.read(func(b *block.Block) (err error) {
			more, err = visit(b, c.pos)
			return err
		})
		switch {
		case err == nil && more:
		case err == nil:
			return nil
		case c.block != nil && (errors.Is(err, block.ErrCorrupt) || errors.Is(err, errDamaged)):
			s.foundCorrupt(c.block, err)
		default:
			return err
		}
	}
	return nil
}

// Headers calls visit with the header of every block that meets the range, in
// no promised order, without reading data. Enough for counts of whole blocks.
// The headers must not be changed. After Close there are none.
func (s *Store) Headers(sig otlp.Signal, r TimeRange, visit func(*block.Header)) {
	if s.enter() != nil {
		return
	}
	defer s.leave()
	if sig < otlp.Logs || sig > otlp.Metrics {
		return
	}
	snap := s.snapshot(sig)
	defer s.drop(snap.parts)
	for _, c := range snap.candidates(r) {
		if c.block == nil || !c.block.corrupt.Load() {
			visit(c.header())
		}
	}
}

// snapshot is what a reader sees. None of it changes; the partitions stay open
// until drop.
type snapshot struct {
	pieces []*piece
	blocks []*blockRef
	parts  []*partition
}

func (s *Store) snapshot(sig otlp.Signal) snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		p.refs++
	}
	st := s.signal(sig)
	return snapshot{pieces: st.pieces, blocks: st.blocks, parts: s.parts}
}

// candidate is a block to be visited: in a partition, or a piece of the head.
type candidate struct {
	maxTime uint64
	pos     Position
	block   *blockRef
	piece   *piece
}

// candidates returns a heap of what meets the range. A heap, since a reader of
// the newest items takes a few of many thousands.
func (sn snapshot) candidates(r TimeRange) candidates {
	var cs candidates
	for _, b := range sn.blocks {
		if r.meets(b.header.MinTime, b.header.MaxTime) {
			cs = append(cs, candidate{maxTime: b.header.MaxTime, pos: Position(b.id), block: b})
		}
	}
	for _, p := range sn.pieces {
		if r.meets(p.minTime, p.maxTime) {
			cs = append(cs, candidate{maxTime: p.maxTime, pos: p.position(), piece: p})
		}
	}
	heap.Init(&cs)
	return cs
}

// candidates is a heap with the newest MaxTime on top, of equals the latest.
type candidates []candidate

func (cs candidates) Len() int { return len(cs) }

func (cs candidates) Less(i, j int) bool {
	if cs[i].maxTime != cs[j].maxTime {
		return cs[i].maxTime > cs[j].maxTime
	}
	return cs[i].pos > cs[j].pos
}

func (cs candidates) Swap(i, j int) { cs[i], cs[j] = cs[j], cs[i] }

// Push is part of heap.Interface.
func (cs *candidates) Push(x any) { *cs = append(*cs, x.(candidate)) }

// Pop is part of heap.Interface.
func (cs *candidates) Pop() any {
	last := len(*cs) - 1
	c := (*cs)[last]
	*cs = (*cs)[:last]
	return c
}

func (c candidate) header() *block.Header {
	if c.piece != nil {
		c.piece.prepare()
		return &c.piece.header
	}
	return &c.block.header
}

// read gives f the block; bytes of a partition stay mapped until it returns.
func (c candidate) read(f func(*block.Block) error) error {
	if c.piece != nil {
		return c.piece.visit(f)
	}
	return c.block.read(f)
}

// read opens the block in a transaction of its own: one that lingers would make
// the file keep pages that its writer has freed.
func (r *blockRef) read(f func(*block.Block) error) error {
	tx, err := r.part.begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of a read: it only ends it
	var b *block.Block
	err = guard(func() (err error) {
		b, err = r.open(tx)
		return err
	})
	if err != nil {
		return err
	}
	return guardFaults(func() error { return f(b) })
}

func (r *blockRef) open(tx *bolt.Tx) (*block.Block, error) {
	v := value(tx.Bucket(bucketBlocks(r.header.Signal)), numberKey(r.id))
	if v == nil {
		return nil, fmt.Errorf("%w: block is missing", errDamaged)
	}
	b, err := block.Open(v)
	if err != nil {
		return nil, err
	}
	if h := &b.Header; h.Signal != r.header.Signal || h.Rows != r.header.Rows ||
		h.MinTime != r.header.MinTime || h.MaxTime != r.header.MaxTime {
		return nil, fmt.Errorf("%w: block and index differ", errDamaged)
	}
	return b, nil
}

// foundCorrupt counts and logs a block once.
func (s *Store) foundCorrupt(r *blockRef, err error) {
	if r.corrupt.Swap(true) {
		return
	}
	s.mu.Lock()
	s.counters.corrupt++
	s.mu.Unlock()
	s.log.Error("passing over a corrupt block", "file", r.part.name, "signal", r.header.Signal,
		"block", r.id, "rows", r.header.Rows, "error", err)
}
