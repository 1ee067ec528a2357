package answer

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
)

// Spans returns a page of spans as text, as Logs does.
func Spans(p query.SpanPage, h Head, o Options) string {
	line := newHeadline("spans", h, p.Page, len(p.Spans))
	line.about = errorCount(p)
	if only(p.Page, len(p.Spans)) {
		return spanDetail(line, p.Spans[0])
	}
	times := make([]uint64, len(p.Spans))
	for i, span := range p.Spans {
		times[i] = uint64(span.StartTimestamp())
	}
	line.after = func(i int) query.Cursor { return cursorAfter(times, p.Next, i) }
	s := sheet{headline: line}
	stamp := stamper{day: h.day()}
	for i, span := range p.Spans {
		before := append(stamp.append(nil, times[i]), ' ')
		after := appendSpanText(nil, span, nil)
		for event := range exceptions(span) {
			after = append(append(after, " !"...), exceptionText(span, event)...)
		}
		after = append(after, " "+shortTrace(span.TraceID())+"/"+shortSpan(span.SpanID())...)
		s.rows = append(s.rows, row{
			before:   string(append(before, duration(span.Duration())...)),
			after:    string(after),
			resource: s.resources.ref(span.Resource),
		})
	}
	return s.text(o)
}

func errorCount(p query.SpanPage) string {
	switch {
	case p.Errors == 0:
		return ""
	case !p.TotalExact:
		return " (" + strconv.Itoa(p.Errors) + "+ errors)"
	}
	return " (" + plural(p.Errors, "error") + ")"
}

// appendSpanText appends name, kind, status, attributes, events and links; of
// message and attributes only what differs from the parent, where one is given.
func appendSpanText(dst []byte, span query.Span, parent *query.Span) []byte {
	dst = appendSpanTitle(dst, span, parent)
	dst = appendAttrs(dst, span.Attributes(), differsFrom(parent))
	dst = appendDropped(dst, span.DroppedAttributesCount(), "attributes")
	dst = appendEventNames(dst, span)
	return appendLinks(dst, span)
}

// differsFrom passes the attributes that the parent does not have alike, all
// when there is none.
func differsFrom(parent *query.Span) func(string, pcommon.Value) bool {
	if parent == nil {
		return nil
	}
	return func(key string, v pcommon.Value) bool {
		same, ok := parent.Attributes().Get(key)
		return !ok || !same.Equal(v)
	}
}

func appendSpanTitle(dst []byte, span query.Span, parent *query.Span) []byte {
	dst = append(append(dst, ' '), cut(Clean(span.Name()), nameLimit)...)
	if kind := kindName(span.Kind()); kind != "" && kind != "INTERNAL" {
		dst = append(append(dst, ' '), kind...)
	}
	switch span.Status().Code() {
	case ptrace.StatusCodeOk:
		dst = append(dst, " OK"...)
	case ptrace.StatusCodeError:
		dst = append(dst, " ERROR"...)
		switch message := span.Status().Message(); {
		case message == "":
		case parent != nil && message == parent.Status().Message():
			dst = append(dst, ": (same)"...)
		default:
			dst = append(append(dst, ": "...), cut(Clean(message), nameLimit)...)
		}
	}
	return dst
}

// kindName returns the kind in capitals, "" when unspecified.
func kindName(k ptrace.SpanKind) string {
	if k == ptrace.SpanKindUnspecified {
		return ""
	}
	return strings.ToUpper(k.String())
}

// maxListed is how many events, links, services or exceptions a line names.
const maxListed = 8

// appendEventNames appends the events that are no exceptions, each name once:
// " events(cache.miss, retry×3)".
func appendEventNames(dst []byte, span query.Span) []byte {
	var names []string
	times := map[string]int{}
	for _, event := range span.Events().All() {
		name := event.Name()
		if name == "exception" {
			continue
		}
		if times[name]++; times[name] == 1 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return appendDropped(dst, span.DroppedEventsCount(), "events")
	}
	dst = append(dst, " events("...)
	for i, name := range names[:min(len(names), maxListed)] {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, cut(Clean(name), nameLimit/2)...)
		if n := times[name]; n > 1 {
			dst = strconv.AppendInt(append(dst, "×"...), int64(n), 10)
		}
	}
	if more := len(names) - maxListed; more > 0 {
		dst = strconv.AppendInt(append(dst, ", +"...), int64(more), 10)
	}
	return appendDropped(append(dst, ')'), span.DroppedEventsCount(), "events")
}

// appendLinks appends the traces that a span links to: " → 4bf92f35".
func appendLinks(dst []byte, span query.Span) []byte {
	for i, link := range span.Links().All() {
		if i == maxListed {
			dst = strconv.AppendInt(append(dst, " → +"...), int64(span.Links().Len()-i), 10)
			break
		}
		dst = append(append(dst, " → "...), shortTrace(link.TraceID())...)
	}
	return appendDropped(dst, span.DroppedLinksCount(), "links")
}

// exceptions yields the first few exception events of a span.
func exceptions(span query.Span) func(yield func(ptrace.SpanEvent) bool) {
	return func(yield func(ptrace.SpanEvent) bool) {
		seen := 0
		for _, event := range span.Events().All() {
			if event.Name() != "exception" {
				continue
			}
			if seen++; seen > maxListed || !yield(event) {
				return
			}
		}
	}
}

// exceptionText returns "type: message" of an exception event, without a message
// that is the status of its span, and how long the stack trace is that a whole
// span shows.
func exceptionText(span query.Span, event ptrace.SpanEvent) string {
	get := func(key string) string {
		if v, ok := event.Attributes().Get(key); ok {
			return valueText(v)
		}
		return ""
	}
	text := cut(Clean(get("exception.type")), nameLimit)
	if message := get("exception.message"); message != "" && message != span.Status().Message() {
		if text != "" {
			text += ": "
		}
		text += cut(Clean(message), valueLimit)
	}
	if text == "" {
		text = "exception"
	}
	if stack := get("exception.stacktrace"); stack != "" {
		text += " (stack " + count(len(stack)) + "B)"
	}
	return text
}
