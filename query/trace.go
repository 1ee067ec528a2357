package query

import (
	"context"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// Trace is a whole trace.
type Trace struct {
	TraceID  pcommon.TraceID
	Spans    []Span      // by start
	Logs     []LogRecord // by time, at most the limit, from the oldest
	LogTotal int
}

// Trace returns all spans of a trace and its logs, at any age. ErrNoTrace or
// *AmbiguousError. The zero id is ErrNoTrace.
func (e *Engine) Trace(ctx context.Context, id TraceID, logLimit int) (Trace, error) {
	if id.IsZero() {
		return Trace{}, ErrNoTrace
	}
	g := traceGatherer{
		filter:    newTraceFilter(id),
		logs:      newPage[*item](logLimit),
		wantLogs:  logLimit > 0,
		envelopes: envelopes{},
	}
	always := window{to: math.MaxUint64}
	// One filter for both scans: a prefix may fit one trace's spans and the
	// logs of another.
	spans := scan{signal: otlp.Traces, window: always, match: &spanMatcher{trace: g.filter}, take: g.takeSpans}
	if err := e.scan(ctx, &spans); err != nil {
		return Trace{}, err
	}
	logs := scan{signal: otlp.Logs, window: always, match: &logMatcher{trace: g.filter}, take: g.takeLogs}
	if err := e.scan(ctx, &logs); err != nil {
		return Trace{}, err
	}
	if err := g.filter.ambiguous(); err != nil {
		return Trace{}, err
	}
	if len(g.spans)+g.logTotal == 0 {
		return Trace{}, ErrNoTrace
	}
	return g.trace()
}

// traceGatherer gathers the items of one trace.
type traceGatherer struct {
	filter    traceFilter
	id        pcommon.TraceID
	spans     []entry[*item]
	logs      page[*item] // by mirrored places: the oldest
	wantLogs  bool
	logTotal  int
	envelopes envelopes
}

// found notes the trace of the rows, which is one unless the id is ambiguous;
// then there is no use in gathering more.
func (g *traceGatherer) found(b *block.Block, s *rows) (more bool, err error) {
	ids, err := b.Dict(block.TraceID)
	if err != nil {
		return false, err
	}
	for row := range s.all() {
		g.id = pcommon.TraceID(ids.At(row))
		break
	}
	return len(g.filter.seen) < 2, nil
}

func (g *traceGatherer) takeSpans(b *block.Block, pos storage.Position, s *rows) error {
	if more, err := g.found(b, s); err != nil || !more {
		return err
	}
	times, err := b.Times()
	if err != nil {
		return err
	}
	var spans []entry[*item]
	for row := range s.all() {
		it, err := g.envelopes.copyItem(b, row)
		if err != nil {
			return err
		}
		spans = append(spans, entry[*item]{place{times[row], pos, uint32(row)}, &it})
	}
	g.spans = append(g.spans, spans...)
	return nil
}

func (g *traceGatherer) takeLogs(b *block.Block, pos storage.Position, s *rows) error {
	if more, err := g.found(b, s); err != nil || !more {
		return err
	}
	if g.wantLogs {
		times, err := b.Times()
		if err != nil {
			return err
		}
		for row := range s.all() {
			at := place{times[row], pos, uint32(row)}.mirrored()
			if !g.logs.takes(at) {
				continue
			}
			it, err := g.envelopes.copyItem(b, row)
			if err != nil {
				return err
			}
			g.logs.offer(at, &it)
		}
	}
	g.logTotal += s.len()
	return nil
}

// trace decodes what was gathered.
func (g *traceGatherer) trace() (Trace, error) {
	t := Trace{TraceID: g.id, LogTotal: g.logTotal}
	d := newDecoder()
	slices.SortFunc(g.spans, func(a, b entry[*item]) int { return a.compare(b.place) })
	for _, entry := range g.spans {
		span, err := d.span(*entry.value)
		if err != nil {
			return Trace{}, err
		}
		t.Spans = append(t.Spans, span)
	}
	for _, entry := range g.logs.entries {
		record, err := d.log(*entry.value, entry.mirrored().time)
		if err != nil {
			return Trace{}, err
		}
		t.Logs = append(t.Logs, record)
	}
	return t, nil
}
