package query

import (
	"bytes"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"sonde/storage/block"
)

// traceFilter selects the rows of one trace. The zero value selects all rows.
type traceFilter struct {
	id TraceID
	// seen are the traces that a prefix fits, up to one more than are told.
	seen map[pcommon.TraceID]struct{}
}

func newTraceFilter(id TraceID) traceFilter {
	return traceFilter{id, map[pcommon.TraceID]struct{}{}}
}

// partial reports that the filter has to see all traces to know whether its
// prefix fits one alone. Blocks must not be skipped then for other reasons.
func (f *traceFilter) partial() bool { return !f.id.IsZero() && !f.id.whole() }

// narrow removes the rows of other traces from s. A partial filter must see all
// rows of the window.
func (f *traceFilter) narrow(b *block.Block, s *rows) error {
	if f.id.IsZero() {
		return nil
	}
	ids, err := b.Dict(block.TraceID)
	if err != nil {
		return err
	}
	s.keepValues(ids, f.id.matches)
	if !f.partial() || s.empty() {
		return nil
	}
	for row := range s.all() {
		f.see(ids.At(row))
	}
	return nil
}

func (f *traceFilter) see(id []byte) {
	if len(f.seen) <= maxCandidates {
		f.seen[pcommon.TraceID(id)] = struct{}{}
	}
}

// ambiguous returns an *AmbiguousError when the prefix fits several traces.
func (f *traceFilter) ambiguous() error {
	if len(f.seen) < 2 {
		return nil
	}
	e := &AmbiguousError{}
	for id := range f.seen {
		e.Candidates = append(e.Candidates, id)
	}
	slices.SortFunc(e.Candidates, func(a, b pcommon.TraceID) int { return bytes.Compare(a[:], b[:]) })
	e.Candidates = e.Candidates[:min(len(e.Candidates), maxCandidates)]
	return e
}
