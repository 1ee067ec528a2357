package query

import (
	"context"
	"math"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// TraceReach is how far from a trace's newest matching span Traces looks for the
// other spans of the trace, in both directions of start time.
const TraceReach = time.Hour

// TraceSummary is one trace in a line.
type TraceSummary struct {
	TraceID       pcommon.TraceID
	Root          *Span // earliest span without a parent; else the earliest there is
	RootMissing   bool
	StartUnixNano uint64
	Duration      time.Duration // from the first start to the last end
	Spans, Errors int
	Services      []string // in order of first start
	// After is the cursor right below this trace's newest matching span: who
	// shows only the first traces of a page continues after the last of them.
	After Cursor
}

// TracePage is a page of traces. Next continues with the spans that are older.
type TracePage struct {
	Page   // Total counts traces
	Traces []TraceSummary
}

// Traces returns the traces with the newest spans that match f, each summed up
// over all its spans. A trace belongs to the page on which its newest matching
// span lies, so following Next shows every trace once: a cursor goes into
// f.Before, never into f.Range.To, below which traces show that have newer spans
// above it. Spans of one trace that are further apart than TraceReach are not
// brought together: such a trace may be summed up in part, and show on more than
// one page.
//
// When f.TraceID is a prefix that several traces in the range have, Traces
// returns an *AmbiguousError.
func (e *Engine) Traces(ctx context.Context, f SpanFilter) (TracePage, error) {
	w, ok := newWindow(f.Range, f.Before)
	if !ok {
		return TracePage{Page: Page{TotalExact: true}}, nil
	}
	m := newSpanMatcher(f)
	var p TracePage
	var c *traceCollector
	err := untilSettled(func() error {
		shown, err := e.shownBefore(ctx, f, w, m)
		if err != nil {
			return err
		}
		w.ties = shown.ties
		c = newTraceCollector(w, m, f.Limit, shown.traces)
		sc := scan{signal: otlp.Traces, window: w, match: m, next: c.next, take: c.take}
		if err := e.scan(ctx, &sc); err != nil {
			return err
		}
		p.Total, p.TotalExact, p.Rows = len(c.all), !sc.stopped, shown.looked+sc.looked
		return w.ties.check(&c.ties)
	})
	if err != nil {
		return TracePage{}, err
	}
	if err := m.trace.ambiguous(); err != nil {
		return TracePage{}, err
	}
	if len(c.page.entries) == 0 {
		return p, nil
	}
	after, err := e.cursors(ctx, m, c)
	if err != nil {
		return TracePage{}, err
	}
	if p.Total > len(c.page.entries) {
		p.Next = after[len(after)-1]
	}
	p.Traces, err = e.sumUp(ctx, c.page.entries, &p.Page)
	for i := range p.Traces {
		p.Traces[i].After = after[i]
	}
	return p, err
}

// shown are the traces that belong to earlier pages than the one that a cursor
// begins.
type shown struct {
	traces map[pcommon.TraceID]struct{}
	ties   ties
	looked int
}

// shownBefore returns the traces with matching spans above the cursor of f, and
// the ties at it. w is the window below the cursor.
func (e *Engine) shownBefore(ctx context.Context, f SpanFilter, w window, m *spanMatcher) (shown, error) {
	out := shown{traces: map[pcommon.TraceID]struct{}{}, ties: ties{remaining: w.ties.remaining}}
	above, ok := newWindow(f.Range, Cursor{})
	if !ok || above.to == w.to && !w.tied {
		return out, nil // the cursor cuts nothing off
	}
	above.from = w.to
	if !w.tied {
		above.from++
	}
	above.to = min(above.to, later(w.to))
	var tied []spanPlace
	sc := scan{signal: otlp.Traces, window: above, match: m}
	sc.take = func(b *block.Block, pos storage.Position, s *rows) error {
		spans, err := spanPlaces(b, pos, s)
		if err != nil {
			return err
		}
		before := len(tied)
		for _, span := range spans {
			if w.tied && span.time == w.to {
				tied = append(tied, span)
			} else {
				out.traces[span.id] = struct{}{}
			}
		}
		out.ties.add(pos, len(tied)-before)
		return nil
	}
	if err := e.scan(ctx, &sc); err != nil {
		return out, err
	}
	out.ties.done()
	out.looked = sc.looked
	slices.SortFunc(tied, func(a, b spanPlace) int { return a.compare(b.place) })
	for i, span := range tied {
		if uint64(i) >= w.ties.remaining {
			out.traces[span.id] = struct{}{}
		}
	}
	return out, nil
}

// spanPlace is the place of a span with its trace.
type spanPlace struct {
	place
	id pcommon.TraceID
}

// spanPlaces returns the places of the rows that have a trace id, newest first.
func spanPlaces(b *block.Block, pos storage.Position, s *rows) ([]spanPlace, error) {
	times, err := b.Times()
	if err != nil {
		return nil, err
	}
	ids, err := b.Dict(block.TraceID)
	if err != nil {
		return nil, err
	}
	places := newestFirst(nil, times, pos, s)
	spans := make([]spanPlace, 0, len(places))
	for _, at := range places {
		if id := ids.At(int(at.row)); len(id) == len(pcommon.TraceID{}) {
			spans = append(spans, spanPlace{at, pcommon.TraceID(id)})
		}
	}
	return spans, nil
}

// earlier and later return the times that are TraceReach away from t.
func earlier(t uint64) uint64 { return t - min(t, uint64(TraceReach)) }
func later(t uint64) uint64   { return t + min(math.MaxUint64-t, uint64(TraceReach)) }

// traceOnPage is a trace at the place of its newest matching span.
type traceOnPage struct {
	id pcommon.TraceID
	// same counts the trace's matching spans at exactly that time.
	same uint64
}

// traceCollector gathers the traces with the newest matching spans.
type traceCollector struct {
	window window
	match  *spanMatcher
	shown  map[pcommon.TraceID]struct{} // on earlier pages

	page page[*traceOnPage]
	on   map[pcommon.TraceID]place // of the traces on the page
	// off counts, by trace, the matching spans at exactly the time of the
	// page's last trace, of traces that are not on the page.
	off     map[pcommon.TraceID]uint64
	offTime uint64
	all     map[pcommon.TraceID]struct{} // with matching spans in the window
	ties    ties
}

func newTraceCollector(w window, m *spanMatcher, limit int, shown map[pcommon.TraceID]struct{}) *traceCollector {
	return &traceCollector{
		window: w, match: m, shown: shown,
		page: newPage[*traceOnPage](limit),
		on:   map[pcommon.TraceID]place{},
		off:  map[pcommon.TraceID]uint64{},
		all:  map[pcommon.TraceID]struct{}{},
	}
}

func (c *traceCollector) next(h *block.Header) step {
	if c.page.settled(h.MaxTime) && !c.match.mustSeeAll() && len(c.all) >= CountCap && len(c.all) > c.page.limit {
		return stop
	}
	return read
}

func (c *traceCollector) take(b *block.Block, pos storage.Position, s *rows) error {
	if err := c.window.admit(b, pos, s, &c.ties); err != nil {
		return err
	}
	spans, err := spanPlaces(b, pos, s)
	if err != nil {
		return err
	}
	for _, span := range spans {
		if _, ok := c.shown[span.id]; !ok {
			c.all[span.id] = struct{}{}
			c.offer(span)
		}
	}
	return nil
}

func (c *traceCollector) offer(span spanPlace) {
	if at, ok := c.on[span.id]; ok {
		c.again(at, span)
		return
	}
	if !c.page.takes(span.place) {
		if span.time == c.offTime {
			c.off[span.id]++
		}
		return
	}
	t := &traceOnPage{id: span.id, same: 1}
	if c.page.full() && span.time == c.offTime {
		t.same += c.off[span.id]
		delete(c.off, span.id)
	}
	out, full := c.page.offer(span.place, t)
	c.on[span.id] = span.place
	if full {
		delete(c.on, out.value.id)
	}
	c.shift()
	if full && out.time == c.offTime {
		c.off[out.value.id] = out.value.same
	}
}

// again takes in another span of a trace that is on the page at a place.
func (c *traceCollector) again(at place, span spanPlace) {
	i, _ := c.page.find(at)
	t := c.page.entries[i].value
	if span.time == at.time {
		t.same++
	} else if span.time > at.time {
		t.same = 1
	}
	if span.compare(at) < 0 {
		return
	}
	c.page.entries = slices.Delete(c.page.entries, i, i+1)
	c.page.offer(span.place, t)
	c.on[span.id] = span.place
	c.shift()
}

// shift forgets what is off the page when the time of its last has changed.
// Nothing at the new time can be off: it would have been older than the last
// was before, which itself was older.
func (c *traceCollector) shift() {
	if c.page.full() && c.page.last().time != c.offTime {
		c.offTime = c.page.last().time
		clear(c.off)
	}
}

// cursors returns the cursor right below each trace of the page.
func (e *Engine) cursors(ctx context.Context, m *spanMatcher, c *traceCollector) ([]Cursor, error) {
	entries := c.page.entries
	after := make([]Cursor, len(entries))
	crowded := map[uint64][]spanPlace{} // times at which further traces follow
	w := window{from: math.MaxUint64}
	for i, t := range entries {
		after[i].TimeUnixNano = t.time
		last := i == len(entries)-1
		if !last && entries[i+1].time == t.time || last && c.page.full() && len(c.off) > 0 {
			crowded[t.time] = nil
			w.from, w.to = min(w.from, t.time), max(w.to, t.time)
		}
	}
	if len(crowded) == 0 {
		return after, nil
	}
	err := e.scan(ctx, &scan{signal: otlp.Traces, window: w, match: m,
		take: func(b *block.Block, pos storage.Position, s *rows) error {
			spans, err := spanPlaces(b, pos, s)
			for _, span := range spans {
				if _, ok := crowded[span.time]; ok {
					crowded[span.time] = append(crowded[span.time], span)
				}
			}
			return err
		}})
	for _, spans := range crowded {
		slices.SortFunc(spans, func(a, b spanPlace) int { return a.compare(b.place) })
	}
	for i, t := range entries {
		after[i].Remaining = before(crowded[t.time], t.value)
	}
	return after, err
}

// before returns how many of the spans, all at the time of a trace's newest
// matching span and in order of arrival, arrived before that span. More spans of
// the trace may have arrived after it.
func before(spans []spanPlace, t *traceOnPage) uint64 {
	var same uint64
	for i, span := range spans {
		if span.id == t.id {
			if same++; same == t.same {
				return uint64(i)
			}
		}
	}
	return 0
}
