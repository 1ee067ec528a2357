package query

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"sonde/storage"
	"sonde/storage/block"
)

// window is the stretch of time that a query looks at, both bounds inclusive,
// and which of the items at exactly its end.
type window struct {
	from, to uint64
	// tied: of the items at exactly to, only those in ties.
	tied bool
	ties ties
}

// newWindow returns the part of a range that is below a cursor. False: there is
// none. Who gets a tied window must fill in the ties.
func newWindow(r storage.TimeRange, c Cursor) (window, bool) {
	w := window{from: r.From, to: r.To - 1}
	if r.To == 0 {
		w.to = math.MaxUint64
	}
	switch {
	case c == Cursor{} || c.TimeUnixNano > w.to:
	case c.Remaining > 0:
		w.to, w.tied = c.TimeUnixNano, true
		w.ties.remaining = c.Remaining
	default:
		w.to = c.TimeUnixNano - 1 // at least 0: the cursor is not zero
	}
	return w, w.from <= w.to
}

// timeRange returns the window as a Source takes it.
func (w window) timeRange() storage.TimeRange {
	// At the very end of time the sum is 0, which means no upper bound.
	return storage.TimeRange{From: w.from, To: w.to + 1}
}

func (w window) contains(t uint64) bool { return t >= w.from && t <= w.to }

// holds reports whether all rows of a block lie in the window, ties aside.
func (w window) holds(h *block.Header) bool {
	return h.MinTime >= w.from && h.MaxTime <= w.to
}

// choose puts the rows of a block that lie in the window into s, ties aside.
func (w window) choose(b *block.Block, s *rows) error {
	s.fill(b.Rows)
	if w.holds(&b.Header) {
		return nil
	}
	times, err := b.Times()
	if err != nil {
		return err
	}
	for row, t := range times {
		if !w.contains(t) {
			s.remove(row)
		}
	}
	return nil
}

// ties are the items at exactly the time of a cursor, of which it admits those
// that arrived first. Where they lie is known only once all are counted, so
// they are counted before the rows are looked at.
type ties struct {
	remaining uint64
	blocks    []tieBlock // by position once done
}

// tieBlock counts the ties of one block.
type tieBlock struct {
	pos  storage.Position
	rows uint64
}

// errMoved: between two scans blocks were compacted, so that positions of the
// first mean nothing in the second.
var errMoved = errors.New("blocks have moved")

// add notes that a block has ties. After the last must come done.
func (t *ties) add(pos storage.Position, rows int) {
	if rows > 0 {
		t.blocks = append(t.blocks, tieBlock{pos, uint64(rows)})
	}
}

func (t *ties) done() {
	slices.SortFunc(t.blocks, func(a, b tieBlock) int { return cmp.Compare(a.pos, b.pos) })
	var all uint64
	for _, b := range t.blocks {
		all += b.rows
	}
	t.remaining = min(t.remaining, all) // what arrives from here on is not meant
}

// admitted returns how many ties of the block at a position, its first ones,
// the cursor admits.
func (t *ties) admitted(pos storage.Position) uint64 {
	left := t.remaining
	for _, b := range t.blocks {
		if b.pos == pos {
			return min(left, b.rows)
		}
		left -= min(left, b.rows)
	}
	return 0
}

// check returns errMoved unless seen, the ties of a later scan, are the same as
// far as the cursor admits them. What arrived between the scans comes after.
func (t *ties) check(seen *ties) error {
	seen.done()
	left := t.remaining
	for i, b := range t.blocks {
		if left == 0 {
			return nil
		}
		if i >= len(seen.blocks) || seen.blocks[i].pos != b.pos || min(left, seen.blocks[i].rows) != min(left, b.rows) {
			return errMoved
		}
		left -= min(left, b.rows)
	}
	return nil
}
