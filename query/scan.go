package query

import (
	"context"
	"errors"
	"fmt"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// matcher is the filter of one query, as it is evaluated on a block.
type matcher interface {
	// skip reports that no row of such a block can match.
	skip(h *block.Header) bool
	// mustSeeAll reports that blocks without matches count as well.
	mustSeeAll() bool
	// byHeader reports that tallyHeader works: the filter asks for nothing
	// that a header does not tell.
	byHeader() bool
	// tallyHeader adds the matches of a block, all rows of which lie in the
	// window, to c.
	tallyHeader(h *block.Header, c *tally)
	// narrow removes the rows that don't match from s.
	narrow(b *block.Block, s *rows) error
	// tally adds the rows of s, which match, to c.
	tally(b *block.Block, s *rows, c *tally) error
}

// tally counts matches.
type tally struct {
	rows int
	by   [25]int // logs: by severity; spans: by status code
}

// step is what to do with a block.
type step uint8

const (
	read step = iota
	pass      // go on to the next block
	stop      // end the scan
)

// scan is one scan over the blocks that may have matches.
type scan struct {
	signal otlp.Signal
	window window
	match  matcher
	// next, when set, decides about a block before it is read.
	next func(h *block.Header) step
	// take gets each block with the rows that are in the window and match: at
	// least one. With a tied window it gets all ties.
	take func(b *block.Block, pos storage.Position, s *rows) error

	stopped bool // next has ended the scan
	looked  int  // rows looked at
}

// scan runs sc, newest MaxTime first.
func (e *Engine) scan(ctx context.Context, sc *scan) error {
	var s rows
	before := func(h *block.Header) step {
		switch {
		case !sc.match.mustSeeAll() && sc.match.skip(h):
			return pass
		case sc.next != nil:
			return sc.next(h)
		}
		return read
	}
	o := storage.ScanOptions{
		Signal: sc.signal,
		Range:  sc.window.timeRange(),
		Skip:   func(h *block.Header) bool { return before(h) == pass },
	}
	err := e.src.Scan(ctx, o, func(b *block.Block, pos storage.Position) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		// Asked again: a Source may ask Skip about all blocks before the first visit.
		switch before(&b.Header) {
		case pass:
			return true, nil
		case stop:
			sc.stopped = true
			return false, nil
		}
		sc.looked += b.Rows
		if err := sc.window.choose(b, &s); err != nil || s.empty() {
			return true, err
		}
		if err := sc.match.narrow(b, &s); err != nil || s.empty() {
			return true, err
		}
		return true, sc.take(b, pos, &s)
	})
	if err != nil {
		return fmt.Errorf("cannot scan %s: %w", sc.signal, err)
	}
	return nil
}

// untilSettled calls run again for as long as it returns errMoved: for queries
// that scan more than once and lean on positions.
func untilSettled(run func() error) error {
	// A compaction between two scans is rare, two in a row are rarer.
	const attempts = 20
	for range attempts {
		if err := run(); !errors.Is(err, errMoved) {
			return err
		}
	}
	return fmt.Errorf("cannot find where the page begins: %w", errMoved)
}

// countTies counts the matches at exactly the end of the window.
func (e *Engine) countTies(ctx context.Context, sig otlp.Signal, w window, m matcher) (ties, error) {
	t := ties{remaining: w.ties.remaining}
	err := e.scan(ctx, &scan{
		signal: sig,
		window: window{from: w.to, to: w.to},
		match:  m,
		take: func(_ *block.Block, pos storage.Position, s *rows) error {
			t.add(pos, s.len())
			return nil
		},
	})
	t.done()
	return t, err
}

// admit removes the ties from s that the cursor of the window does not admit,
// and notes all of them in seen.
func (w window) admit(b *block.Block, pos storage.Position, s *rows, seen *ties) error {
	if !w.tied || b.MaxTime < w.to {
		return nil
	}
	times, err := b.Times()
	if err != nil {
		return err
	}
	left := w.ties.admitted(pos)
	all := 0
	s.keep(func(row int) bool {
		if times[row] != w.to {
			return true
		}
		all++
		admitted := left > 0
		left -= min(left, 1)
		return admitted
	})
	seen.add(pos, all)
	return nil
}
