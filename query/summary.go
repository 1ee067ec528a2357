package query

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// sumUp returns the summaries of the traces of a page, each over all spans
// within TraceReach of its place, whether they match the filter or not.
func (e *Engine) sumUp(ctx context.Context, traces []entry[*traceOnPage], p *Page) ([]TraceSummary, error) {
	s := summer{sums: map[pcommon.TraceID]*traceSum{}, envelopes: envelopes{}, services: map[string]string{}}
	// Newest first: the window reaches from before the last to after the first.
	w := window{from: earlier(traces[len(traces)-1].time), to: later(traces[0].time)}
	for _, t := range traces {
		s.times = append(s.times, t.time)
		s.sums[t.value.id] = &traceSum{near: t.time, start: math.MaxUint64, services: map[string]uint64{}}
	}
	slices.Reverse(s.times)
	sc := scan{signal: otlp.Traces, window: w, match: &s, take: s.take}
	if err := e.scan(ctx, &sc); err != nil {
		return nil, err
	}
	p.Rows += sc.looked
	d := newDecoder()
	summaries := make([]TraceSummary, 0, len(traces))
	for _, t := range traces {
		summary, err := s.sums[t.value.id].summary(t.value.id, d)
		if err != nil {
			return nil, err
		}
		summaries = append(summaries, summary)
	}
	return summaries, nil
}

// traceSum adds up the spans of one trace.
type traceSum struct {
	near          uint64 // spans further than TraceReach from this time don't count
	start, end    uint64
	spans, errors int
	services      map[string]uint64 // to the first start
	root          root
	item          *item // of the root, nil until copied
}

// root says where the best root so far is.
type root struct {
	place
	found   bool
	orphan  bool // has a parent: the trace's true root is missing
	changed bool // not yet copied
}

// better reports whether a span would be a better root than r.
func (r *root) better(at place, orphan bool) bool {
	if !r.found || r.orphan != orphan {
		return !r.found || r.orphan
	}
	return at.compare(r.place) < 0
}

func (t *traceSum) summary(id pcommon.TraceID, d *decoder) (TraceSummary, error) {
	s := TraceSummary{TraceID: id, Spans: t.spans, Errors: t.errors, RootMissing: t.root.orphan}
	if t.item == nil {
		return s, nil // retention took the trace away between the scans
	}
	span, err := d.span(*t.item)
	if err != nil {
		return s, err
	}
	s.Root = &span
	s.StartUnixNano, s.Duration = t.start, duration(t.start, t.end)
	s.Services = slices.SortedFunc(maps.Keys(t.services), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.services[a], t.services[b]), cmp.Compare(a, b))
	})
	return s, nil
}

// summer is the matcher and collector of the spans of some traces.
type summer struct {
	sums      map[pcommon.TraceID]*traceSum
	times     []uint64 // ascending, where the traces are
	envelopes envelopes
	services  map[string]string // by resource envelope
}

// skip reports that no trace is near the block.
func (s *summer) skip(h *block.Header) bool {
	i, _ := slices.BinarySearch(s.times, earlier(h.MinTime))
	return i == len(s.times) || s.times[i] > later(h.MaxTime)
}

func (s *summer) mustSeeAll() bool                        { return false }
func (s *summer) byHeader() bool                          { return false }
func (s *summer) tallyHeader(*block.Header, *tally)       {}
func (s *summer) tally(*block.Block, *rows, *tally) error { return nil }

func (s *summer) narrow(b *block.Block, in *rows) error {
	ids, err := b.Dict(block.TraceID)
	if err != nil {
		return err
	}
	in.keepValues(ids, func(id []byte) bool { return s.sum(id) != nil })
	if in.empty() {
		return nil
	}
	starts, err := b.Times()
	if err != nil {
		return err
	}
	in.keep(func(row int) bool {
		near := s.sum(ids.At(row)).near
		return starts[row] >= earlier(near) && starts[row] <= later(near)
	})
	return nil
}

func (s *summer) sum(id []byte) *traceSum {
	if len(id) != len(pcommon.TraceID{}) {
		return nil
	}
	return s.sums[pcommon.TraceID(id)]
}

// spanColumns are what a summary reads of a block.
type spanColumns struct {
	starts, ends, codes []uint64
	ids, resources      *block.Dict
	parents             *block.Strings
}

func readSpanColumns(b *block.Block) (c spanColumns, err error) {
	if c.starts, err = b.Times(); err != nil {
		return c, err
	}
	if c.ends, err = b.Uints(block.EndTime); err != nil {
		return c, err
	}
	if c.codes, err = b.Uints(block.StatusCode); err != nil {
		return c, err
	}
	if c.ids, err = b.Dict(block.TraceID); err != nil {
		return c, err
	}
	if c.resources, err = b.Dict(block.Resource); err != nil {
		return c, err
	}
	c.parents, err = b.Strings(block.ParentSpanID)
	return c, err
}

func (s *summer) take(b *block.Block, pos storage.Position, in *rows) error {
	c, err := readSpanColumns(b)
	if err != nil {
		return err
	}
	var touched []*traceSum
	for row := range in.all() {
		t := s.sum(c.ids.At(row))
		start := c.starts[row]
		t.spans++
		t.start = min(t.start, start)
		t.end = max(t.end, start, c.ends[row])
		if c.codes[row] == uint64(ptrace.StatusCodeError) {
			t.errors++
		}
		if service := s.service(c.resources.At(row)); service != "" {
			if first, ok := t.services[service]; !ok || start < first {
				t.services[service] = start
			}
		}
		at := place{start, pos, uint32(row)}
		if orphan := hasID(c.parents.At(row)); t.root.better(at, orphan) {
			if !t.root.changed {
				touched = append(touched, t)
			}
			t.root = root{place: at, found: true, orphan: orphan, changed: true}
		}
	}
	for _, t := range touched {
		it, err := s.envelopes.copyItem(b, int(t.root.row))
		if err != nil {
			return err
		}
		t.item, t.root.changed = &it, false
	}
	return nil
}

// service returns the service name of a resource envelope.
func (s *summer) service(envelope []byte) string {
	name, ok := s.services[string(envelope)]
	if !ok {
		name = serviceName(envelope)
		s.services[string(envelope)] = name
	}
	return name
}

// hasID reports whether an id is there: all zeros mean none.
func hasID(id []byte) bool {
	return slices.ContainsFunc(id, func(b byte) bool { return b != 0 })
}
