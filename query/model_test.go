package query_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"sonde/query"
)

// TestModel compares answers to random questions with those that plain slices
// give: while the data is in the head, in blocks, in both, and after a restart.
func TestModel(t *testing.T) {
	w := newWorld(t)
	w.grow(12, 120)
	t.Run("head", w.compare)
	w.compact()
	t.Run("blocks", w.compare)
	w.grow(6, 120)
	w.compact()
	w.grow(6, 120)
	t.Run("both", w.compare)
	w.reopen()
	t.Run("reopened", w.compare)
	w.compact()
	w.reopen()
	t.Run("reopened blocks", w.compare)
}

func (w *world) compare(t *testing.T) {
	outer := w.t
	w.t = t
	defer func() { w.t = outer }()
	for range 40 {
		w.compareLogs()
		w.compareSpans()
		w.comparePoints()
		w.compareTraces()
		w.compareTrace()
	}
	w.compareMetricNames()
}

// comparePage checks what a page says of itself. want are all matches below the
// cursor, newest first.
func comparePage[T interface{ at() uint64 }](w *world, question any, got query.Page, want []T, limit int) {
	w.t.Helper()
	if got.TotalExact && got.Total != len(want) || !got.TotalExact && (got.Total > len(want) || got.Total < query.CountCap) {
		w.t.Errorf("%+v: Total = %d (exact %v), want %d", question, got.Total, got.TotalExact, len(want))
	}
	if next := nextOf(want, limit); got.Next != next {
		w.t.Errorf("%+v: Next = %v, want %v", question, got.Next, next)
	}
}

func (w *world) compareContents(question any, got, want []string) {
	w.t.Helper()
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		w.t.Fatalf("seed %d: %+v: contents differ (-want +got):\n%s", w.seed, question, diff)
	}
}

// ambiguous reports whether err is the right answer to an id that fits several
// of the traces, and the only right one.
func (w *world) ambiguous(question any, err error, id query.TraceID, fits map[pcommon.TraceID]bool) bool {
	w.t.Helper()
	var ambiguous *query.AmbiguousError
	if !errors.As(err, &ambiguous) {
		if len(fits) > 1 || err != nil {
			w.t.Fatalf("seed %d: %+v = %v, want an AmbiguousError: %v", w.seed, question, err, len(fits) > 1)
		}
		return false
	}
	var want []pcommon.TraceID
	for id := range fits {
		want = append(want, id)
	}
	slices.SortFunc(want, func(a, b pcommon.TraceID) int { return strings.Compare(string(a[:]), string(b[:])) })
	if len(want) < 2 || !slices.Equal(ambiguous.Candidates, want[:min(len(want), 10)]) {
		w.t.Fatalf("seed %d: %+v: candidates %v, want %v", w.seed, question, ambiguous.Candidates, want)
	}
	return true
}

func hasPrefix(trace pcommon.TraceID, id query.TraceID) bool {
	return strings.HasPrefix(fmt.Sprintf("%x", trace[:]), id.String()) && (!trace.IsEmpty() || id.IsZero())
}

func (w *world) compareLogs() {
	w.t.Helper()
	f := query.LogFilter{
		Range: w.randomRange(), Before: w.randomCursor(), TraceID: w.randomTraceID(40),
		Limit: pick(w, 1, 3, 50, 1000),
	}
	if w.r.IntN(2) == 0 {
		f.Contains = pick(w, "TIMEOUT", "connection REFUSED", "ärger", "STRASSE", "straẞe", "5 k", "saved", "key", "42", "d=4", "ΣΊΓΜΑΣ", "true", "FALSE", "0.5", "界", "absent", `{"a":"`, `"C":4`, "\t", "\x05", "=")
	}
	switch w.r.IntN(4) {
	case 0:
		f.Severity = query.SeverityRange{Min: pick(w, uint8(1), 9, 13, 17), Max: 24}
	case 1:
		f.Severity = query.SeverityRange{Min: pick(w, uint8(0), 13, 21), Max: 16}
	}
	fits := map[pcommon.TraceID]bool{}
	want := below(matching(w.logs, f.Range, func(l refLog) bool {
		if !hasPrefix(l.trace, f.TraceID) {
			return false
		}
		return f.Severity == query.SeverityRange{} || l.severity >= f.Severity.Min && l.severity <= f.Severity.Max
	}), query.Cursor{})
	want = slices.DeleteFunc(want, func(l refLog) bool {
		return f.Contains != "" && !slices.ContainsFunc(l.texts, func(s string) bool { return containsFold(s, f.Contains) })
	})
	want = below(want, f.Before)
	if !f.TraceID.IsZero() {
		for _, l := range w.logs {
			if hasPrefix(l.trace, f.TraceID) && f.Range.Contains(l.time) && inReach(l.time, f.Before) {
				fits[l.trace] = true
			}
		}
	}
	got, err := w.engine().Logs(w.t.Context(), f)
	if w.ambiguous(f, err, f.TraceID, fits) {
		return
	}
	comparePage(w, f, got.Page, want, f.Limit)
	w.compareContents(f, contents(got.Records, contentOfLog), contents(want[:min(len(want), f.Limit)], func(l refLog) string { return l.content }))
	for i, record := range got.Records {
		if record.TimeUnixNano != want[i].time || record.Severity != want[i].severity {
			w.t.Errorf("%+v: record %d has time %d, severity %d, want %d, %d", f, i, record.TimeUnixNano, record.Severity, want[i].time, want[i].severity)
		}
	}
	var severities [25]int
	for _, l := range want {
		severities[l.severity]++
	}
	if got.TotalExact && severities != got.Severities {
		w.t.Errorf("%+v: Severities = %v, want %v", f, got.Severities, severities)
	}
}

// inReach reports whether a time may be below the cursor.
func inReach(t uint64, c query.Cursor) bool {
	return c == query.Cursor{} || t < c.TimeUnixNano || t == c.TimeUnixNano && c.Remaining > 0
}

func (w *world) randomSpanFilter() query.SpanFilter {
	f := query.SpanFilter{
		Range: w.randomRange(), Before: w.randomCursor(), TraceID: w.randomTraceID(300),
		Limit: pick(w, 1, 3, 20, 1000),
	}
	if w.r.IntN(2) == 0 {
		f.Name = pick(w, "GET /cart", "GET*", "*", "*a*", "*/*}", "absent", "que*ry")
	}
	if w.r.IntN(3) == 0 {
		f.MinDuration = pick(w, 1, 500*time.Millisecond, 900*time.Millisecond, time.Second)
	}
	return f
}

// spansOf returns the spans that match f, whatever its cursor, and the traces
// that its id fits.
func (w *world) spansOf(f query.SpanFilter) ([]refSpan, map[pcommon.TraceID]bool) {
	name := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(f.Name), `\*`, ".*") + "$")
	fits := map[pcommon.TraceID]bool{}
	list := matching(w.spans, f.Range, func(s refSpan) bool {
		if !hasPrefix(s.trace, f.TraceID) {
			return false
		}
		return (f.Name == "" || name.MatchString(s.name)) && s.duration() >= uint64(f.MinDuration)
	})
	if !f.TraceID.IsZero() {
		for _, s := range w.spans {
			if hasPrefix(s.trace, f.TraceID) && f.Range.Contains(s.time) && inReach(s.time, f.Before) {
				fits[s.trace] = true
			}
		}
	}
	return list, fits
}

func (w *world) compareSpans() {
	w.t.Helper()
	f := w.randomSpanFilter()
	want, fits := w.spansOf(f)
	want = below(want, f.Before)
	got, err := w.engine().Spans(w.t.Context(), f)
	if w.ambiguous(f, err, f.TraceID, fits) {
		return
	}
	comparePage(w, f, got.Page, want, f.Limit)
	w.compareContents(f, contents(got.Spans, contentOfSpan), contents(want[:min(len(want), f.Limit)], func(s refSpan) string { return s.content }))
	failed := 0
	for _, s := range want {
		if s.failed {
			failed++
		}
	}
	if got.TotalExact && got.Errors != failed {
		w.t.Errorf("%+v: Errors = %d, want %d", f, got.Errors, failed)
	}
	for i, span := range got.Spans {
		if span.Duration() != time.Duration(want[i].duration()) {
			w.t.Errorf("%+v: span %d has duration %v, want %v", f, i, span.Duration(), time.Duration(want[i].duration()))
		}
	}
}

func (w *world) comparePoints() {
	w.t.Helper()
	f := query.PointFilter{Range: w.randomRange(), Before: w.randomCursor(), Limit: pick(w, 1, 3, 50, 1000)}
	f.Name = pick(w, "", "requests", "*e*", "absent", "mixed")
	name := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(f.Name), `\*`, ".*") + "$")
	want := below(matching(w.points, f.Range, func(p refPoint) bool {
		return f.Name == "" || name.MatchString(p.name)
	}), f.Before)
	got, err := w.engine().Points(w.t.Context(), f)
	if err != nil {
		w.t.Fatalf("Points(%+v) = %v, want no error", f, err)
	}
	comparePage(w, f, got.Page, want, f.Limit)
	w.compareContents(f, contents(got.Points, contentOfPoint), contents(want[:min(len(want), f.Limit)], func(p refPoint) string { return p.content }))
	for i, point := range got.Points {
		if _, attributes := onlyPoint(point.Metric); point.TimeUnixNano != want[i].time || !attributes.Equal(point.Attributes) {
			w.t.Errorf("%+v: point %d is not itself", f, i)
		}
	}
}

// newestOf returns the traces of the spans, given newest first, each at its
// newest one.
func newestOf(spans []refSpan) []refSpan {
	seen := map[pcommon.TraceID]bool{}
	var list []refSpan
	for _, s := range spans {
		if !seen[s.trace] {
			seen[s.trace] = true
			list = append(list, s)
		}
	}
	return list
}

func (w *world) compareTraces() {
	w.t.Helper()
	f := w.randomSpanFilter()
	spans, fits := w.spansOf(f)
	// A trace lies where its newest matching span is.
	lower := map[string]bool{}
	for _, s := range below(spans, f.Before) {
		lower[s.content] = true
	}
	want := slices.DeleteFunc(newestOf(spans), func(s refSpan) bool { return !lower[s.content] })
	if !f.TraceID.IsZero() && inReach(f.Range.From, f.Before) { // the spans above the cursor count here too
		for _, s := range w.spans {
			if hasPrefix(s.trace, f.TraceID) && f.Range.Contains(s.time) {
				fits[s.trace] = true
			}
		}
	}
	got, err := w.engine().Traces(w.t.Context(), f)
	if w.ambiguous(f, err, f.TraceID, fits) {
		return
	}
	if got.TotalExact && got.Total != len(want) || !got.TotalExact && (got.Total > len(want) || got.Total < query.CountCap) {
		w.t.Errorf("Traces(%+v): Total = %d (exact %v), want %d", f, got.Total, got.TotalExact, len(want))
	}
	show := want[:min(len(want), f.Limit)]
	w.compareContents(f, contents(got.Traces, w.summaryText), contents(show, w.refSummary))
	if (got.Next == query.Cursor{}) != (len(want) <= f.Limit) {
		w.t.Errorf("Traces(%+v): Next = %v with %d of %d shown", f, got.Next, len(show), len(want))
	}
	if len(show) == 0 {
		return
	}
	// The page may be cut anywhere.
	i := w.r.IntN(len(show))
	if rest := want[i+1:]; len(rest) > 0 {
		f.Before, f.Limit = got.Traces[i].After, len(rest)+1
		page, err := w.engine().Traces(w.t.Context(), f)
		if err != nil {
			w.t.Fatalf("Traces(%+v) = %v, want no error", f, err)
		}
		w.compareContents(f, contents(page.Traces, w.summaryText), contents(rest, w.refSummary))
	}
}

func (w *world) summaryText(s query.TraceSummary) string {
	return fmt.Sprintf("%x root %s missing %v start %d duration %d spans %d errors %d services %v",
		s.TraceID[:], contentOfSpan(*s.Root), s.RootMissing, s.StartUnixNano, s.Duration, s.Spans, s.Errors, s.Services)
}

func (w *world) refSummary(of refSpan) string {
	var root *refSpan
	var spans, failed int
	first, last := uint64(math.MaxUint64), uint64(0)
	services := map[string]uint64{}
	for i := range w.spans {
		s := &w.spans[i]
		if s.trace != of.trace {
			continue
		}
		spans++
		if s.failed {
			failed++
		}
		first, last = min(first, s.time), max(last, s.time, s.end)
		if start, ok := services[s.service]; s.service != "" && (!ok || s.time < start) {
			services[s.service] = s.time
		}
		if root == nil || s.root && !root.root || s.root == root.root && s.time < root.time {
			root = s
		}
	}
	names := slices.SortedFunc(maps.Keys(services), func(a, b string) int {
		return cmp.Or(cmp.Compare(services[a], services[b]), cmp.Compare(a, b))
	})
	return fmt.Sprintf("%x root %s missing %v start %d duration %d spans %d errors %d services %v",
		of.trace[:], root.content, !root.root, first, last-first, spans, failed, names)
}

func (w *world) compareTrace() {
	w.t.Helper()
	id := w.randomTraceID(pick(w, 40, 300, 400))
	fits := map[pcommon.TraceID]bool{}
	var spans, logs []string
	limit := pick(w, 0, 2, 1000)
	for _, s := range slices.Backward(matching(w.spans, query.SpanFilter{}.Range, func(s refSpan) bool { return hasPrefix(s.trace, id) })) {
		fits[s.trace] = true
		spans = append(spans, s.content)
	}
	for _, l := range slices.Backward(matching(w.logs, query.LogFilter{}.Range, func(l refLog) bool { return hasPrefix(l.trace, id) })) {
		fits[l.trace] = true
		logs = append(logs, l.content)
	}
	got, err := w.engine().Trace(w.t.Context(), id, limit)
	if id.IsZero() || len(fits) == 0 {
		if !errors.Is(err, query.ErrNoTrace) {
			w.t.Errorf("Trace(%v) = %v, want ErrNoTrace", id, err)
		}
		return
	}
	if w.ambiguous(id, err, id, fits) {
		return
	}
	if !fits[got.TraceID] || got.LogTotal != len(logs) {
		w.t.Errorf("Trace(%v) = trace %v with %d logs, want %v with %d", id, got.TraceID, got.LogTotal, fits, len(logs))
	}
	w.compareContents(id, contents(got.Spans, contentOfSpan), spans)
	w.compareContents(id, contents(got.Logs, contentOfLog), logs[:min(len(logs), limit)])
}

func (w *world) compareMetricNames() {
	w.t.Helper()
	for range 10 {
		r := w.randomRange()
		infos := map[string]*query.MetricInfo{}
		series, services := map[string]map[string]bool{}, map[string]map[string]bool{}
		for _, p := range matching(w.points, r, func(refPoint) bool { return true }) {
			key := fmt.Sprintf("%s|%s|%d", p.name, p.unit, p.kind)
			if infos[key] == nil {
				infos[key] = &query.MetricInfo{Name: p.name, Unit: p.unit, Description: p.description, Type: p.kind, NewestUnixNano: p.time}
				series[key], services[key] = map[string]bool{}, map[string]bool{}
			}
			infos[key].Points++
			series[key][p.series] = true
			if p.service != "" {
				services[key][p.service] = true
			}
		}
		var want []query.MetricInfo
		for _, key := range slices.Sorted(maps.Keys(infos)) {
			infos[key].Series = len(series[key])
			infos[key].Services = slices.Sorted(maps.Keys(services[key]))
			want = append(want, *infos[key])
		}
		got, total, err := w.engine().MetricNames(w.t.Context(), r, 5)
		if err != nil || total != len(want) {
			w.t.Errorf("MetricNames(%v) = %d in all, %v, want %d", r, total, err, len(want))
		}
		if diff := gocmp.Diff(want[:min(len(want), 5)], got, cmpopts.EquateEmpty()); diff != "" {
			w.t.Errorf("MetricNames(%v) differs (-want +got):\n%s", r, diff)
		}
	}
}
