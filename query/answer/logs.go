package answer

import (
	"strconv"
	"strings"

	"sonde/query"
)

// Logs returns a page of log records as text, newest first. When the budget
// ends before the page, the first line says how many are shown and its next
// continues after the last of them. A page whose one record is the only match
// is shown in full, in up to 48,000 bytes whatever the options say.
func Logs(p query.LogPage, h Head, o Options) string {
	line := newHeadline("logs", h, p.Page, len(p.Records))
	line.about = severityCounts(p)
	if only(p.Page, len(p.Records)) {
		return logDetail(line, p.Records[0])
	}
	times := make([]uint64, len(p.Records))
	for i, rec := range p.Records {
		times[i] = rec.TimeUnixNano
	}
	line.after = func(i int) query.Cursor { return cursorAfter(times, p.Next, i) }
	s := sheet{headline: line}
	stamp := stamper{day: h.day()}
	for _, rec := range p.Records {
		before := append(stamp.append(nil, rec.TimeUnixNano), ' ')
		before = append(before, severityLabel(rec.Severity, rec.SeverityText())...)
		s.rows = append(s.rows, row{
			before:   string(before),
			after:    string(appendLog(nil, rec)),
			resource: s.resources.ref(rec.Resource),
		})
	}
	return s.text(o)
}

// appendLog appends what a row says after time, severity and resource.
func appendLog(dst []byte, rec query.LogRecord) []byte {
	dst = appendLogText(dst, rec)
	if id := rec.TraceID(); !id.IsEmpty() {
		dst = append(append(dst, ' '), shortTrace(id)...)
	}
	return dst
}

// appendLogText appends event name, body and attributes.
func appendLogText(dst []byte, rec query.LogRecord) []byte {
	if name := rec.EventName(); name != "" {
		dst = appendWord(append(dst, " event="...), name, nameLimit)
	}
	if body := cut(Clean(valueText(rec.Body())), bodyLimit); body != "" {
		dst = append(append(dst, ' '), body...)
	}
	dst = appendAttrs(dst, rec.Attributes(), nil)
	return appendDropped(dst, rec.DroppedAttributesCount(), "attributes")
}

// severityCounts says how many of the total are warnings and worse, by range:
// " (ERROR 12, WARN 80)".
func severityCounts(p query.LogPage) string {
	var parts []string
	for i := len(severityNames) - 1; severityNames[i] != "INFO"; i-- {
		n := 0
		for _, c := range p.Severities[1+4*i : 5+4*i] {
			n += c
		}
		switch {
		case n > 0 && p.TotalExact:
			parts = append(parts, severityNames[i]+" "+count(n))
		case n > 0:
			parts = append(parts, severityNames[i]+" "+strconv.Itoa(n)+"+")
		}
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
