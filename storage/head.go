package storage

import (
	"slices"
	"sync"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

const (
	// A piece grows no further: as many rows as a block has, or as many bytes as
	// can be built anew without being felt.
	maxPieceRows  = block.MaxRows
	maxPieceBytes = 4 << 20
)

// piece is a stretch of the head: adjacent entries of one signal and one
// partition, which a scan sees as one block. All but the block is fixed when
// the piece is made; pieces merge into new ones.
type piece struct {
	sig              otlp.Signal
	start            int64    // start hour of the partition it will go to
	timeNano         int64    // when the oldest entry was committed
	nums             []uint64 // entry numbers, ascending
	reqs             []*otlp.Request
	rows             int
	bytes            int64 // of payloads
	minTime, maxTime uint64

	build  sync.Once // makes blk and header; then any number may read them
	header block.Header
	blk    *block.Block
}

func (p *piece) first() uint64 { return p.nums[0] }
func (p *piece) last() uint64  { return p.nums[len(p.nums)-1] }

// position puts pieces behind all blocks, which are numbered from 1.
func (p *piece) position() Position { return Position(1<<63 | p.first()) }

// newPiece makes a piece of one entry.
func newPiece(e entry, start int64) *piece {
	p := &piece{sig: e.sig, start: start, timeNano: e.timeNano, nums: []uint64{e.num}, reqs: e.reqs}
	for i, r := range e.reqs {
		lowest, highest := itemTimes(r.Items)
		if i == 0 {
			p.minTime, p.maxTime = lowest, highest
		}
		p.minTime, p.maxTime = min(p.minTime, lowest), max(p.maxTime, highest)
		p.rows += len(r.Items)
		p.bytes += int64(len(r.Payload))
	}
	return p
}

// itemTimes returns the lowest and highest event time of items.
func itemTimes(items []otlp.Item) (lowest, highest uint64) {
	lowest, highest = items[0].TimeUnixNano, items[0].TimeUnixNano
	for i := range items {
		lowest = min(lowest, items[i].TimeUnixNano)
		highest = max(highest, items[i].TimeUnixNano)
	}
	return lowest, highest
}

// merge returns a piece of the entries of p and then those of q.
func (p *piece) merge(q *piece) *piece {
	return &piece{
		sig: p.sig, start: p.start, timeNano: p.timeNano,
		nums:    slices.Concat(p.nums, q.nums),
		reqs:    slices.Concat(p.reqs, q.reqs),
		rows:    p.rows + q.rows,
		bytes:   p.bytes + q.bytes,
		minTime: min(p.minTime, q.minTime),
		maxTime: max(p.maxTime, q.maxTime),
	}
}

// mergeable reports whether q should become one piece with p before it.
//
// Pieces at least halve in size from the old to the new, as digits of a counter
// do. So the newest rows, which a reader that follows the log asks for after
// each append, sit in small pieces; a row is built into a block a logarithmic
// number of times until its piece is full, and a thousand tiny requests make a
// dozen blocks.
func (p *piece) mergeable(q *piece) bool {
	return p.start == q.start && p.rows < 2*q.rows &&
		p.rows+q.rows <= maxPieceRows && p.bytes+q.bytes <= maxPieceBytes
}

// prepare builds the block on first use.
func (p *piece) prepare() {
	p.build.Do(func() {
		b := block.NewBuilder(p.sig)
		for _, r := range p.reqs {
			b.Add(r)
		}
		p.blk = b.Block()
		p.header = p.blk.Header
	})
}

// visit gives f the block.
func (p *piece) visit(f func(*block.Block) error) error {
	p.prepare()
	return f(p.blk)
}

// push adds the newest piece to a head; Store.mu must be held.
func (st *signalState) push(p *piece) {
	pieces := slices.Concat(st.pieces, []*piece{p}) // snapshots hold the old slice
	for n := len(pieces); n-2 >= st.frozen && pieces[n-2].mergeable(pieces[n-1]); n-- {
		pieces[n-2] = pieces[n-2].merge(pieces[n-1])
		pieces = pieces[:n-1]
	}
	st.pieces = pieces
	st.headRows += p.rows
	st.waitBytes += p.bytes
	st.published = p.last()
}

// due reports whether the head should be compacted; Store.mu must be held.
func (st *signalState) due(t tuning, nowNano int64) bool {
	if len(st.pieces) == 0 {
		return false
	}
	age := nowNano - st.pieces[0].timeNano
	if age < 0 {
		age = -age // the clock was set back: waiting for it could take years
	}
	return st.headRows >= t.runRows || st.waitBytes >= t.runBytes ||
		age >= int64(t.runAge) || st.hasUpTo(st.flushTo)
}

// run freezes and returns the oldest pieces of one partition, enough for one
// compaction; nil when nothing is due. Store.mu must be held.
func (st *signalState) run(t tuning, nowNano int64) []*piece {
	if st.frozen > 0 || !st.due(t, nowNano) {
		return nil
	}
	rows, bytes := 0, int64(0)
	for _, p := range st.pieces {
		if p.start != st.pieces[0].start || rows >= t.runRows || bytes >= t.runBytes {
			break
		}
		rows += p.rows
		bytes += p.bytes
		st.frozen++
	}
	return st.pieces[:st.frozen:st.frozen]
}

// dropRun takes the run out of the head; Store.mu must be held.
func (st *signalState) dropRun() (bytes int64) {
	for _, p := range st.pieces[:st.frozen] {
		st.headRows -= p.rows
		bytes += p.bytes
	}
	st.waitBytes -= bytes
	st.pieces = slices.Clone(st.pieces[st.frozen:])
	st.frozen = 0
	return bytes
}
