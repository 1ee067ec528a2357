package query

import (
	"cmp"
	"slices"

	"sonde/storage"
)

// Cursor is where the next page begins: before the time, and of the items at
// exactly that time only the Remaining that arrived first. Items are those that
// match the filter. Remaining 0 means none of that time. The zero Cursor means
// no bound of its own. Items that arrive between two pages shift nothing.
type Cursor struct {
	TimeUnixNano uint64
	Remaining    uint64
}

// Page says of an answer how much of the truth it shows.
type Page struct {
	Total      int    // matches in the range (below the cursor), at least
	TotalExact bool   // Total is exact
	Next       Cursor // zero when nothing is left
	// Rows counts the rows looked at: what the answer cost.
	Rows int
}

// place is where an item stands in the order of all answers.
type place struct {
	time uint64
	pos  storage.Position
	row  uint32
}

// compare orders places from the oldest: by time, then by arrival.
func (p place) compare(o place) int {
	if c := cmp.Compare(p.time, o.time); c != 0 {
		return c
	}
	if c := cmp.Compare(p.pos, o.pos); c != 0 {
		return c
	}
	return cmp.Compare(p.row, o.row)
}

// mirrored returns the place that p has when the oldest come first.
func (p place) mirrored() place { return place{^p.time, ^p.pos, ^p.row} }

// entry is something on a page, with its place.
type entry[T any] struct {
	place
	value T
}

// page keeps the newest of the items that are offered to it.
type page[T any] struct {
	limit   int        // at least 1
	entries []entry[T] // newest first
	// tail counts the offered items that are not on the page, at exactly the
	// time of its last.
	tail uint64
}

func newPage[T any](limit int) page[T] { return page[T]{limit: max(limit, 1)} }

func (p *page[T]) full() bool { return len(p.entries) == p.limit }

// last returns the oldest place on the page, which must not be empty.
func (p *page[T]) last() place { return p.entries[len(p.entries)-1].place }

// takes reports whether an item at the place would be on the page.
func (p *page[T]) takes(at place) bool { return !p.full() || at.compare(p.last()) > 0 }

// settled reports that nothing at or before a time can change the page or its tail.
func (p *page[T]) settled(time uint64) bool { return p.full() && p.last().time > time }

// offer puts the value on the page if its place is new enough. On a full page
// the last item makes room; it is returned.
func (p *page[T]) offer(at place, value T) (out entry[T], full bool) {
	if !p.takes(at) {
		if at.time == p.last().time {
			p.tail++
		}
		return out, false
	}
	i, _ := p.find(at)
	if !p.full() {
		p.entries = slices.Insert(p.entries, i, entry[T]{at, value})
		return out, false
	}
	out = p.entries[p.limit-1]
	p.entries = slices.Insert(p.entries[:p.limit-1], i, entry[T]{at, value})
	p.leave(out.place)
	return out, true
}

// find returns the index of the entry at a place, or where it would be.
func (p *page[T]) find(at place) (int, bool) {
	return slices.BinarySearchFunc(p.entries, at, func(e entry[T], at place) int {
		return at.compare(e.place)
	})
}

// leave notes that what stood at a place has gone off the full page.
func (p *page[T]) leave(out place) {
	// Nothing at the new last time can have been turned away before: it would
	// have had to be older than an item that was itself older.
	if p.last().time == out.time {
		p.tail++
	} else {
		p.tail = 0
	}
}

// next returns where the page after this one begins, when there is more than
// the page shows.
func (p *page[T]) next() Cursor { return Cursor{p.last().time, p.tail} }
