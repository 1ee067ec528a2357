package answer

import (
	"time"

	"sonde/query"
	"sonde/storage"
	"sonde/storage/otlp"
)

// Head is what the first line says besides the page.
type Head struct {
	// Range is the window that was searched. To 0: until Now; From 0: no lower
	// bound.
	Range storage.TimeRange
	Now   time.Time
	// Notes are facts about the question, such as "limit 5000 taken as 1000".
	Notes []string
	// Filtered names the filters that were set beyond the window ("severity",
	// "contains"); Empty says that they were.
	Filtered []string
}

// Options bound a text. Zero fields mean the defaults.
type Options struct {
	MaxBytes int // default 9,500
	MaxLines int // default 240
}

// Logs returns a page of log records as text, newest first. When the budget
// ends before the page, the first line says how many are shown and its next
// continues after the last of them. A page whose one record is the only match
// is shown in full, in up to 48,000 bytes whatever the options say.
func Logs(p query.LogPage, h Head, o Options) string { panic("not built yet") }

// Spans returns a page of spans as text, as Logs does.
func Spans(p query.SpanPage, h Head, o Options) string { panic("not built yet") }

// Traces returns a page of traces as text, one line a trace, newest first.
func Traces(p query.TracePage, h Head, o Options) string { panic("not built yet") }

// Trace returns a whole trace as a tree of its spans with its logs in place.
// What the budget cuts, the first line says.
func Trace(t query.Trace, h Head, o Options) string { panic("not built yet") }

// Points returns a page of data points as text, grouped by series. Within a
// series the values run from the oldest to the newest.
func Points(p query.PointPage, h Head, o Options) string { panic("not built yet") }

// MetricNames returns the catalogue of metrics, of which there are total in
// all, one line a name.
func MetricNames(list []query.MetricInfo, total int, h Head, o Options) string {
	panic("not built yet")
}

// Empty returns the answer when nothing was found: the nearest facts there are.
func Empty(sig otlp.Signal, h Head, n query.Nearby) string { panic("not built yet") }

// LogsJSON returns a page of log records as one JSON object: signal, from, to,
// total, totalExact, next (absent on the last page), records, notes. There is
// no budget: the page's limit is the bound.
func LogsJSON(p query.LogPage, h Head) ([]byte, error) { panic("not built yet") }

// SpansJSON is LogsJSON for spans, under the key spans.
func SpansJSON(p query.SpanPage, h Head) ([]byte, error) { panic("not built yet") }

// TracesJSON is LogsJSON for summaries of traces, under the key traces.
func TracesJSON(p query.TracePage, h Head) ([]byte, error) { panic("not built yet") }

// TraceJSON returns one whole trace: traceId, its spans by start, its logs from
// the oldest as records.
func TraceJSON(t query.Trace, h Head) ([]byte, error) { panic("not built yet") }

// PointsJSON is LogsJSON for data points, under the key points.
func PointsJSON(p query.PointPage, h Head) ([]byte, error) { panic("not built yet") }

// MetricNamesJSON is LogsJSON for the catalogue of metrics, under the key
// metrics.
func MetricNamesJSON(list []query.MetricInfo, total int, h Head) ([]byte, error) {
	panic("not built yet")
}

// ParseTime reads a time as people and models write it, relative to now: RFC
// 3339 with or without a zone (then UTC) and with a blank or "T" between date
// and time, a date (its first instant), a Unix time in seconds, milliseconds,
// microseconds or nanoseconds by its size, "now", and a duration before now as
// "-15m", "15m", "now-15m" or "2d" (units ms s m h d w). A printed cursor, the
// time with ".3" after its Z, is read with its tie-breaker; everywhere else
// Remaining is 0. The error says what is accepted.
func ParseTime(arg string, now time.Time) (query.Cursor, error) { panic("not built yet") }

// FormatTime returns a time as RFC 3339 in UTC with the fewest digits that say
// it exactly.
func FormatTime(unixNano uint64) string { panic("not built yet") }

// FormatCursor returns a cursor as an answer prints it after "next: to=": what
// ParseTime reads back as the same cursor.
func FormatCursor(c query.Cursor) string { panic("not built yet") }

// ParseSeverity reads a severity as a floor: a name in any case ("warn",
// "Warning", "err", "critical", "INFO2") or a number 1-24; "=WARN" means that
// range of four alone, "=WARN2" and "=14" that number alone. The error lists
// the levels.
func ParseSeverity(arg string) (query.SeverityRange, error) { panic("not built yet") }

// Clean returns recorded text as answers show it: on one line, without control
// characters, terminal sequences, direction overrides, invisible characters.
// A newline is shown as \n, a tab as \t, a carriage return as \r, invalid UTF-8
// as U+FFFD. Clean text is returned as it is.
func Clean(s string) string { panic("not built yet") }
