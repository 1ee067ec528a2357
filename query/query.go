package query

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// Source is where an Engine reads: a *storage.Store, or another store of the
// same behaviour.
type Source interface {
	Scan(ctx context.Context, o storage.ScanOptions, visit func(*block.Block, storage.Position) (bool, error)) error
	Headers(sig otlp.Signal, r storage.TimeRange, visit func(*block.Header))
}

// Engine answers queries over one source. Its methods may be called concurrently.
type Engine struct{ src Source }

// New returns an engine over src.
func New(src Source) *Engine { return &Engine{src} }

// CountCap is how far matches are counted after the page is full, when a count
// can't be read from block headers alone: beyond it Total is a lower bound.
const CountCap = 1000

// Cursor is where the next page begins: before the time, and of the items at
// exactly that time only the Remaining that arrived first. Remaining 0 means
// none of that time. The zero Cursor means no bound of its own. Items that
// arrive between two pages shift nothing.
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

// Resource and scope are shared between the items of an answer that came from
// equal ones: compare pointers to hoist them.
type (
	Resource struct {
		pcommon.Resource
		SchemaURL string
		Service   string // attribute service.name, "" when absent
	}
	Scope struct {
		pcommon.InstrumentationScope
		SchemaURL string
	}
)

// LogRecord is one log record with where it came from.
type LogRecord struct {
	plog.LogRecord
	Resource     *Resource
	Scope        *Scope
	TimeUnixNano uint64 // event time by the rule of otlp.Item
	Severity     uint8  // by otlp.EffectiveSeverity
}

// Span is one span with where it came from.
type Span struct {
	ptrace.Span
	Resource *Resource
	Scope    *Scope
}

// Duration returns end - start; 0 when the end is absent or before the start.
func (s Span) Duration() time.Duration { panic("not built yet") }

// Point is one data point with its metric. Exactly the field that
// Metric.Type() names is set.
type Point struct {
	Metric       pmetric.Metric // descriptor; holds this one point
	Resource     *Resource
	Scope        *Scope
	TimeUnixNano uint64
	Attributes   pcommon.Map
}

// TraceID is a trace id or the first digits of one.
type TraceID struct {
	hex string // 6 to 32 lower-case digits
}

// ParseTraceID takes 32 hex digits of either case with blanks around them, or a
// prefix of at least 6.
func ParseTraceID(s string) (TraceID, error) { panic("not built yet") }

// AmbiguousError: a trace id prefix fits several traces.
type AmbiguousError struct{ Candidates []pcommon.TraceID }

func (e *AmbiguousError) Error() string { panic("not built yet") }

// ErrNoTrace: no trace has the id.
var ErrNoTrace = errors.New("no such trace")

// Severity bounds: both inclusive, 0 and 0 for any severity (number 0 included).
type SeverityRange struct{ Min, Max uint8 }

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

// Logs returns the newest log records that match.
func (e *Engine) Logs(ctx context.Context, f LogFilter) (LogPage, error) { panic("not built yet") }

// SpanFilter selects spans.
type SpanFilter struct {
	Range       storage.TimeRange // of the start
	Before      Cursor
	Name        string // exact or a glob with *
	MinDuration time.Duration
	TraceID     TraceID
	Limit       int
}

// SpanPage is a page of spans.
type SpanPage struct {
	Page
	Spans  []Span
	Errors int // of the counted matches, those with status error
}

// Spans returns the newest spans that match.
func (e *Engine) Spans(ctx context.Context, f SpanFilter) (SpanPage, error) { panic("not built yet") }

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
// span lies, so following Next shows every trace once.
func (e *Engine) Traces(ctx context.Context, f SpanFilter) (TracePage, error) { panic("not built yet") }

// Trace is a whole trace.
type Trace struct {
	TraceID  pcommon.TraceID
	Spans    []Span      // by start
	Logs     []LogRecord // by time, at most Limit of them, from the oldest
	LogTotal int
}

// Trace returns all spans of a trace and its logs, at any age. ErrNoTrace or
// *AmbiguousError.
func (e *Engine) Trace(ctx context.Context, id TraceID, logLimit int) (Trace, error) {
	panic("not built yet")
}

// PointFilter selects data points.
type PointFilter struct {
	Range  storage.TimeRange
	Before Cursor
	Name   string // exact or a glob with *
	Limit  int
}

// PointPage is a page of data points.
type PointPage struct {
	Page
	Points []Point
}

// Points returns the newest data points that match.
func (e *Engine) Points(ctx context.Context, f PointFilter) (PointPage, error) {
	panic("not built yet")
}

// MetricInfo is a line of the catalogue.
type MetricInfo struct {
	Name, Description, Unit string
	Type                    pmetric.MetricType
	Services                []string // sorted
	Series, Points          int      // distinct (resource, scope, attributes), and their points
	NewestUnixNano          uint64
}

// MetricNames returns the catalogue of metrics with points in the range, by
// name, and how many there are in all.
func (e *Engine) MetricNames(ctx context.Context, r storage.TimeRange, limit int) (page []MetricInfo, total int, err error) {
	panic("not built yet")
}

// Nearby says what there is when a query found nothing.
type Nearby struct {
	NewestUnixNano uint64   // newest item of the signal at any time, 0 for none
	Services       []string // in the range; when the range is empty, in the newest block
	Names          []string // spans and metrics: the names nearest to the one asked for
}

// Nearby returns the nearest facts for an empty answer, cheaply.
func (e *Engine) Nearby(ctx context.Context, sig otlp.Signal, r storage.TimeRange, name string) (Nearby, error) {
	panic("not built yet")
}
