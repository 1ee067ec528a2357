package query

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// SpanFilter selects spans. Zero fields select all.
type SpanFilter struct {
	Range       storage.TimeRange // of the start
	Before      Cursor
	Name        string // exact or a glob with *
	MinDuration time.Duration
	TraceID     TraceID
	Limit       int // at least 1
}

// SpanPage is a page of spans.
type SpanPage struct {
	Page
	Spans  []Span
	Errors int // of the counted matches, those with status error
}

// Spans returns the newest spans that match. When f.TraceID is a prefix that
// several traces in the range have, it returns an *AmbiguousError.
func (e *Engine) Spans(ctx context.Context, f SpanFilter) (SpanPage, error) {
	w, ok := newWindow(f.Range, f.Before)
	if !ok {
		return SpanPage{Page: Page{TotalExact: true}}, nil
	}
	m := newSpanMatcher(f)
	found, err := e.items(ctx, otlp.Traces, w, m, f.Limit)
	if err != nil {
		return SpanPage{}, err
	}
	if err := m.trace.ambiguous(); err != nil {
		return SpanPage{}, err
	}
	p := SpanPage{Page: found.Page, Errors: found.tally.by[ptrace.StatusCodeError]}
	d := newDecoder()
	for _, entry := range found.entries {
		span, err := d.span(*entry.value)
		if err != nil {
			return SpanPage{}, err
		}
		p.Spans = append(p.Spans, span)
	}
	return p, nil
}

// spanMatcher evaluates a SpanFilter.
type spanMatcher struct {
	trace       traceFilter
	name        *glob // nil: any name
	minDuration time.Duration
}

func newSpanMatcher(f SpanFilter) *spanMatcher {
	return &spanMatcher{trace: newTraceFilter(f.TraceID), name: nameGlob(f.Name), minDuration: f.MinDuration}
}

func (m *spanMatcher) skip(h *block.Header) bool {
	return m.minDuration > 0 && h.MaxDurationNano < uint64(m.minDuration)
}

func (m *spanMatcher) mustSeeAll() bool { return m.trace.partial() }

// A header does not tell how many spans have failed.
func (m *spanMatcher) byHeader() bool                    { return false }
func (m *spanMatcher) tallyHeader(*block.Header, *tally) {}

func (m *spanMatcher) narrow(b *block.Block, s *rows) error {
	if err := m.trace.narrow(b, s); err != nil || s.empty() {
		return err
	}
	if m.name != nil {
		names, err := b.Dict(block.Name)
		if err != nil {
			return err
		}
		s.keepValues(names, m.name.matches)
	}
	if m.minDuration <= 0 || s.empty() {
		return nil
	}
	starts, err := b.Times()
	if err != nil {
		return err
	}
	ends, err := b.Uints(block.EndTime)
	if err != nil {
		return err
	}
	s.keep(func(row int) bool { return duration(starts[row], ends[row]) >= m.minDuration })
	return nil
}

func (m *spanMatcher) tally(b *block.Block, s *rows, c *tally) error {
	codes, err := b.Uints(block.StatusCode)
	if err != nil {
		return err
	}
	for row := range s.all() {
		c.by[min(codes[row], uint64(len(c.by)-1))]++
	}
	return nil
}
