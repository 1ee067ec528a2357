package query

import (
	"context"
	"slices"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// found is what a query for items of one signal found.
type found struct {
	Page
	tally   tally
	entries []entry[*item] // newest first
}

// items returns a page of the newest items that match.
func (e *Engine) items(ctx context.Context, sig otlp.Signal, w window, m matcher, limit int) (found, error) {
	var f found
	err := untilSettled(func() error {
		if w.tied {
			t, err := e.countTies(ctx, sig, w, m)
			if err != nil {
				return err
			}
			w.ties = t
		}
		c := collector{window: w, match: m, page: newPage[*item](limit), envelopes: envelopes{}}
		sc := scan{signal: sig, window: w, match: m, next: c.next, take: c.take}
		if err := e.scan(ctx, &sc); err != nil {
			return err
		}
		if err := w.ties.check(&c.ties); err != nil {
			return err
		}
		f = found{tally: c.tally, entries: c.page.entries}
		f.Total, f.TotalExact, f.Rows = c.tally.rows, !sc.stopped, sc.looked
		if f.Total > len(f.entries) {
			f.Next = c.page.next()
		}
		return nil
	})
	return f, err
}

// collector gathers the page and the counts of one scan.
type collector struct {
	window window
	match  matcher

	page      page[*item]
	tally     tally
	ties      ties // met in this scan
	envelopes envelopes
	places    []place
}

// next passes over blocks that can be counted by their header, and stops when
// nothing is left to do but to count further.
func (c *collector) next(h *block.Header) step {
	switch {
	case !c.page.settled(h.MaxTime):
		return read
	case c.match.byHeader():
		if !c.window.holds(h) {
			return read
		}
		// The block is older than the page, and so has none of the ties.
		c.match.tallyHeader(h, &c.tally)
		return pass
	case !c.match.mustSeeAll() && c.tally.rows >= CountCap && c.tally.rows > c.page.limit:
		return stop
	}
	return read
}

// take adds the matches of a block. An error leaves the collector as it was.
func (c *collector) take(b *block.Block, pos storage.Position, s *rows) error {
	if err := c.window.admit(b, pos, s, &c.ties); err != nil {
		return err
	}
	counts := c.tally
	counts.rows += s.len()
	if err := c.match.tally(b, s, &counts); err != nil {
		return err
	}
	if !c.page.settled(b.MaxTime) {
		if err := c.collect(b, pos, s); err != nil {
			return err
		}
	}
	c.tally = counts
	return nil
}

// collect offers the rows of a block to the page.
func (c *collector) collect(b *block.Block, pos storage.Position, s *rows) error {
	times, err := b.Times()
	if err != nil {
		return err
	}
	places := newestFirst(c.places[:0], times, pos, s)
	c.places = places
	// Copy first, so that a corrupt column spoils no page.
	var copies []*item
	for _, at := range places[:min(len(places), c.page.limit)] {
		if !c.page.takes(at) {
			break
		}
		it, err := c.envelopes.copyItem(b, int(at.row))
		if err != nil {
			return err
		}
		copies = append(copies, &it)
	}
	for i, at := range places {
		var it *item
		if i < len(copies) {
			it = copies[i]
		}
		c.page.offer(at, it)
	}
	return nil
}

// newestFirst appends the places of the rows, in the order of answers.
func newestFirst(places []place, times []uint64, pos storage.Position, s *rows) []place {
	for row := range s.all() {
		places = append(places, place{times[row], pos, uint32(row)})
	}
	// Rows are mostly in the order of time already, which makes this cheap.
	slices.SortFunc(places, place.compare)
	slices.Reverse(places)
	return places
}
