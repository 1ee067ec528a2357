package answer

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
)

// Trace returns a whole trace as a tree of its spans with its logs in place.
// What the budget cuts, the first line says.
func Trace(t query.Trace, h Head, o Options) string {
	f := grow(t)
	w := &treeWriter{start: traceStart(t), instances: map[string]int{}}
	for _, span := range t.Spans {
		w.resources.ref(span.Resource)
	}
	for _, rec := range t.Logs {
		w.resources.ref(rec.Resource)
	}
	for _, r := range w.resources.list {
		w.instances[r.service]++
	}
	for _, group := range fold(f.roots) {
		w.write(group, -1, 0)
	}
	if len(f.loose) > 0 {
		at := w.add(0, treeLine{text: "logs of no span above:", parent: -1, rank: 1})
		for _, rec := range f.loose {
			w.writeLog(rec, at, 1)
		}
	}
	head := traceHead(t, f, h, w.start)
	resources := w.resourceLines(o.maxBytes() / 3)
	const cutNote = "; shown 1,000,000 spans, 1,000,000 logs" // the longest there will be
	room := o.maxBytes() - len(head) - len(cutNote) - len(resources)
	w.keep(room, o.maxLines()-1-strings.Count(resources, "\n"))

	spans, logs := 0, 0
	var body strings.Builder
	for _, line := range w.lines {
		if !line.kept {
			continue
		}
		spans, logs = spans+line.spans, logs+line.logs
		body.WriteString("\n" + line.text)
		if line.below > 0 {
			body.WriteString(" (+" + count(line.below) + " below cut)")
		}
	}
	if spans < len(t.Spans) || logs < len(t.Logs) {
		head += "; shown " + plural(spans, "span") + ", " + plural(logs, "log")
	}
	return head + resources + body.String()
}

// traceStart returns when the first span began, or the first log was written.
func traceStart(t query.Trace) uint64 {
	start := uint64(0)
	for _, span := range t.Spans {
		if s := uint64(span.StartTimestamp()); s > 0 && (start == 0 || s < start) {
			start = s
		}
	}
	if start == 0 && len(t.Logs) > 0 {
		start = t.Logs[0].TimeUnixNano
	}
	return start
}

// stillArriving is how long after its last end a trace may not be complete:
// batches of SDKs wait 5 s, those of collectors as long again.
const stillArriving = 30 * time.Second

// traceHead returns the first line, but for what is cut.
func traceHead(t query.Trace, f *forest, h Head, start uint64) string {
	end, failed, orphans := start, 0, 0
	services := map[string]bool{}
	for _, span := range t.Spans {
		end = max(end, uint64(span.EndTimestamp()))
		services[span.Resource.Service] = true
		if span.Status().Code() == ptrace.StatusCodeError {
			failed++
		}
	}
	hasRoot := false
	for _, n := range f.roots {
		if n.orphan {
			orphans++
		} else {
			hasRoot = true
		}
	}
	begin := utc(start)
	facts := "trace " + hex.EncodeToString(t.TraceID[:]) + " " + begin.Format(time.DateOnly) + " " + clock(begin) +
		", " + duration(between(start, end)) + ", " + plural(len(t.Spans), "span")
	if failed > 0 {
		facts += " (" + plural(failed, "error") + ")"
	}
	facts += ", " + plural(len(services), "service") + ", "
	if t.LogTotal > len(t.Logs) {
		facts += count(len(t.Logs)) + " of "
	}
	facts += plural(max(t.LogTotal, len(t.Logs)), "log")
	if !hasRoot && len(t.Spans) > 0 {
		facts += "; root missing"
	}
	if orphans > 0 {
		facts += "; " + plural(orphans, "span") + " with a missing parent"
	}
	if age := h.Now.Sub(utc(end)); age >= 0 && age < stillArriving {
		facts += "; ended " + duration(age) + " ago, more may arrive"
	}
	for _, note := range h.Notes {
		facts += "; " + Clean(note)
	}
	return facts
}

// resourceLines returns a line for each resource within the limit in bytes,
// each line with the newline before it.
func (w *treeWriter) resourceLines(limit int) string {
	n := len(w.resources.list)
	for n > 0 {
		lines := w.resources.appendLines(nil, n)
		if len(lines) <= limit {
			text := "\n" + strings.TrimSuffix(string(lines), "\n")
			if left := len(w.resources.list) - n; left > 0 {
				text += "\n# " + plural(left, "more resource") + " cut"
			}
			return text
		}
		n /= 2
	}
	return ""
}

// keep marks the lines that so many bytes and lines hold: the roots, what
// failed with all above it, then by depth.
func (w *treeWriter) keep(bytes, lines int) {
	order := make([]int, len(w.lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.lines[a].rank, w.lines[b].rank) })
	for _, i := range order {
		const marker = len(" (+10,000 below cut)")
		size, n := 0, 0
		for up := i; up >= 0 && !w.lines[up].kept && size <= bytes && n <= lines; up = w.lines[up].parent {
			size += 1 + len(w.lines[up].text) + marker
			n++
		}
		if size > bytes || n > lines {
			continue
		}
		bytes, lines = bytes-size, lines-n
		for up := i; up >= 0 && !w.lines[up].kept; up = w.lines[up].parent {
			w.lines[up].kept = true
		}
	}
	// A line comes after its parent: going back, below is complete when met.
	for i, line := range slices.Backward(w.lines) {
		if parent := line.parent; parent >= 0 && !line.kept {
			w.lines[parent].below += line.spans + w.lines[i].below
		}
	}
}
