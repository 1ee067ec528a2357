package answer

import (
	"strings"

	"sonde/query"
)

// Traces returns a page of traces as text, one line a trace, newest first.
func Traces(p query.TracePage, h Head, o Options) string {
	line := newHeadline("traces", h, p.Page, len(p.Traces))
	line.after = func(i int) query.Cursor { return p.Traces[i].After }
	s := sheet{headline: line}
	stamp := stamper{day: h.day()}
	for _, t := range p.Traces {
		s.rows = append(s.rows, row{
			before:   string(appendSummary(stamp.append(nil, t.StartUnixNano), t)),
			resource: -1, // a trace has many
		})
	}
	return s.text(o)
}

func appendSummary(dst []byte, t query.TraceSummary) []byte {
	dst = append(dst, " "+duration(t.Duration)...)
	if t.RootMissing || t.Root == nil {
		dst = append(dst, " (root missing)"...)
	}
	services := t.Services
	if t.Root != nil {
		root := t.Root.Resource.Service
		dst = append(dst, " "+serviceName(root)...)
		dst = appendSpanTitle(dst, *t.Root, nil)
		if len(services) == 1 && services[0] == root {
			services = nil
		}
	}
	dst = append(dst, ", "+plural(t.Spans, "span")...)
	if t.Errors > 0 {
		dst = append(dst, ", "+plural(t.Errors, "error")...)
	}
	if len(services) > 0 {
		dst = append(dst, ", in "+nameList(services, maxListed)...)
	}
	return append(dst, " "+shortTrace(t.TraceID)...)
}

func serviceName(s string) string {
	if s = cut(Clean(s), nameLimit); s != "" {
		return s
	}
	return "(no service)"
}

// nameList returns the first few of some recorded names: "cart, checkout, +3".
func nameList(names []string, limit int) string {
	var parts []string
	for _, name := range names[:min(len(names), limit)] {
		parts = append(parts, serviceName(name))
	}
	if more := len(names) - len(parts); more > 0 {
		parts = append(parts, "+"+count(more))
	}
	return strings.Join(parts, ", ")
}
