package query

import (
	"context"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// SeverityRange bounds a severity number: both inclusive, 0 and 0 for any
// severity (number 0 included).
type SeverityRange struct{ Min, Max uint8 }

func (r SeverityRange) any() bool { return r == SeverityRange{} }

func (r SeverityRange) contains(severity uint8) bool {
	return r.any() || severity >= r.Min && severity <= r.Max
}

// LogFilter selects log records. Zero fields select all.
type LogFilter struct {
	Range    storage.TimeRange
	Before   Cursor
	Contains string // substring of the body or an attribute value, case folded
	Severity SeverityRange
	TraceID  TraceID
	Limit    int // at least 1
}

// LogPage is a page of log records.
type LogPage struct {
	Page
	Records    []LogRecord
	Severities [25]int // the counted matches by effective severity; complete when TotalExact
}

// Logs returns the newest log records that match. When f.TraceID is a prefix
// that several traces in the range have, it returns an *AmbiguousError.
func (e *Engine) Logs(ctx context.Context, f LogFilter) (LogPage, error) {
	w, ok := newWindow(f.Range, f.Before)
	if !ok {
		return LogPage{Page: Page{TotalExact: true}}, nil
	}
	m := newLogMatcher(f)
	found, err := e.items(ctx, otlp.Logs, w, m, f.Limit)
	if err != nil {
		return LogPage{}, err
	}
	if err := m.trace.ambiguous(); err != nil {
		return LogPage{}, err
	}
	p := LogPage{Page: found.Page, Severities: found.tally.by}
	d := newDecoder()
	for _, entry := range found.entries {
		record, err := d.log(*entry.value, entry.time)
		if err != nil {
			return LogPage{}, err
		}
		p.Records = append(p.Records, record)
	}
	return p, nil
}

// logMatcher evaluates a LogFilter.
type logMatcher struct {
	severity SeverityRange
	trace    traceFilter
	needle   *needle // nil: any text
}

func newLogMatcher(f LogFilter) *logMatcher {
	m := &logMatcher{severity: f.Severity, trace: newTraceFilter(f.TraceID)}
	if f.Contains != "" {
		m.needle = newNeedle(f.Contains)
	}
	return m
}

func (m *logMatcher) skip(h *block.Header) bool {
	return m.inRange(h) == 0
}

func (m *logMatcher) mustSeeAll() bool { return m.trace.partial() }

// inRange returns how many rows have a severity that is asked for.
func (m *logMatcher) inRange(h *block.Header) int {
	n := 0
	for severity, rows := range h.Severities {
		if m.severity.contains(uint8(severity)) {
			n += int(rows)
		}
	}
	return n
}

func (m *logMatcher) byHeader() bool { return m.trace.id.IsZero() && m.needle == nil }

func (m *logMatcher) tallyHeader(h *block.Header, c *tally) {
	for severity, rows := range h.Severities {
		if m.severity.contains(uint8(severity)) {
			c.by[severity] += int(rows)
			c.rows += int(rows)
		}
	}
}

func (m *logMatcher) narrow(b *block.Block, s *rows) error {
	if err := m.trace.narrow(b, s); err != nil || s.empty() {
		return err
	}
	if m.inRange(&b.Header) < b.Rows {
		severity, err := severities(b)
		if err != nil {
			return err
		}
		s.keep(func(row int) bool { return m.severity.contains(severity(row)) })
	}
	if m.needle == nil || s.empty() {
		return nil
	}
	return m.needle.narrow(b, s)
}

func (m *logMatcher) tally(b *block.Block, s *rows, c *tally) error {
	severity, err := severities(b)
	if err != nil {
		return err
	}
	for row := range s.all() {
		c.by[severity(row)]++
	}
	return nil
}

// severities returns the effective severity of each row of a block of logs.
func severities(b *block.Block) (func(row int) uint8, error) {
	numbers, err := b.Uints(block.Severity)
	if err != nil {
		return nil, err
	}
	texts, err := b.Dict(block.SeverityText)
	if err != nil {
		return nil, err
	}
	byText := make([]uint8, len(texts.Values))
	for i, text := range texts.Values {
		byText[i] = otlp.EffectiveSeverity(0, string(text))
	}
	return func(row int) uint8 {
		// Any number that does not count leaves it to the text.
		if n := otlp.EffectiveSeverity(int32(numbers[row]), ""); n != 0 {
			return n
		}
		return byText[texts.Index[row]]
	}, nil
}
