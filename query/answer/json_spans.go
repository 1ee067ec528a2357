package answer

import (
	"strings"
	"time"

	"sonde/query"
	"sonde/storage/otlp"
)

type jsonSpan struct {
	TraceID                string      `json:"traceId"`
	SpanID                 string      `json:"spanId"`
	ParentSpanID           string      `json:"parentSpanId,omitempty"`
	TraceState             string      `json:"traceState,omitempty"`
	Flags                  uint32      `json:"flags,omitempty"`
	Name                   string      `json:"name"`
	Kind                   string      `json:"kind,omitempty"`
	Service                string      `json:"service"`
	Start                  string      `json:"start"`
	End                    string      `json:"end,omitempty"`
	DurationMs             float64     `json:"durationMs"`
	Status                 jsonStatus  `json:"status"`
	Attributes             attributes  `json:"attributes"`
	DroppedAttributesCount uint32      `json:"droppedAttributesCount,omitempty"`
	Events                 []jsonEvent `json:"events"`
	DroppedEventsCount     uint32      `json:"droppedEventsCount,omitempty"`
	Links                  []jsonLink  `json:"links"`
	DroppedLinksCount      uint32      `json:"droppedLinksCount,omitempty"`
	origin
}

type jsonStatus struct {
	Code    string `json:"code"` // UNSET, OK or ERROR
	Message string `json:"message,omitempty"`
}

type jsonEvent struct {
	Time                   string     `json:"time"`
	Name                   string     `json:"name"`
	Attributes             attributes `json:"attributes"`
	DroppedAttributesCount uint32     `json:"droppedAttributesCount,omitempty"`
}

type jsonLink struct {
	TraceID                string     `json:"traceId"`
	SpanID                 string     `json:"spanId"`
	TraceState             string     `json:"traceState,omitempty"`
	Flags                  uint32     `json:"flags,omitempty"`
	Attributes             attributes `json:"attributes"`
	DroppedAttributesCount uint32     `json:"droppedAttributesCount,omitempty"`
}

func newJSONSpan(span query.Span) jsonSpan {
	s := jsonSpan{
		TraceID:                traceHex(span.TraceID()),
		SpanID:                 spanHex(span.SpanID()),
		ParentSpanID:           spanHex(span.ParentSpanID()),
		TraceState:             span.TraceState().AsRaw(),
		Flags:                  span.Flags(),
		Name:                   span.Name(),
		Kind:                   kindName(span.Kind()),
		Service:                span.Resource.Service,
		Start:                  FormatTime(uint64(span.StartTimestamp())),
		End:                    timeOrNone(uint64(span.EndTimestamp())),
		DurationMs:             milliseconds(span.Duration()),
		Status:                 jsonStatus{strings.ToUpper(span.Status().Code().String()), span.Status().Message()},
		Attributes:             attributes{span.Attributes()},
		DroppedAttributesCount: span.DroppedAttributesCount(),
		Events:                 make([]jsonEvent, 0, span.Events().Len()),
		DroppedEventsCount:     span.DroppedEventsCount(),
		Links:                  make([]jsonLink, 0, span.Links().Len()),
		DroppedLinksCount:      span.DroppedLinksCount(),
		origin:                 originOf(span.Scope, span.Resource),
	}
	for _, e := range span.Events().All() {
		s.Events = append(s.Events, jsonEvent{
			FormatTime(uint64(e.Timestamp())), e.Name(), attributes{e.Attributes()}, e.DroppedAttributesCount(),
		})
	}
	for _, l := range span.Links().All() {
		s.Links = append(s.Links, jsonLink{
			traceHex(l.TraceID()), spanHex(l.SpanID()), l.TraceState().AsRaw(), l.Flags(),
			attributes{l.Attributes()}, l.DroppedAttributesCount(),
		})
	}
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func jsonSpans(spans []query.Span) []jsonSpan {
	list := make([]jsonSpan, len(spans))
	for i, span := range spans {
		list[i] = newJSONSpan(span)
	}
	return list
}

// SpansJSON is LogsJSON for spans, under the key spans.
func SpansJSON(p query.SpanPage, h Head) ([]byte, error) {
	return encode(struct {
		envelope
		Errors int        `json:"errors"`
		Spans  []jsonSpan `json:"spans"`
		Notes  []string   `json:"notes"`
	}{newEnvelope(otlp.Traces, h, p.Page), p.Errors, jsonSpans(p.Spans), notes(h)})
}

type jsonSummary struct {
	TraceID     string    `json:"traceId"`
	Start       string    `json:"start"`
	DurationMs  float64   `json:"durationMs"`
	Service     string    `json:"service"` // of the root
	Name        string    `json:"name"`    // of the root
	RootMissing bool      `json:"rootMissing"`
	Spans       int       `json:"spans"`
	Errors      int       `json:"errors"`
	Services    []string  `json:"services"`
	Root        *jsonSpan `json:"root,omitempty"`
}

// TracesJSON is LogsJSON for summaries of traces, under the key traces.
func TracesJSON(p query.TracePage, h Head) ([]byte, error) {
	list := make([]jsonSummary, len(p.Traces))
	for i, t := range p.Traces {
		list[i] = jsonSummary{
			TraceID:     traceHex(t.TraceID),
			Start:       FormatTime(t.StartUnixNano),
			DurationMs:  milliseconds(t.Duration),
			RootMissing: t.RootMissing,
			Spans:       t.Spans,
			Errors:      t.Errors,
			Services:    services(t.Services),
		}
		if t.Root != nil {
			root := newJSONSpan(*t.Root)
			list[i].Service, list[i].Name, list[i].Root = root.Service, root.Name, &root
		}
	}
	return encode(struct {
		envelope
		Traces []jsonSummary `json:"traces"`
		Notes  []string      `json:"notes"`
	}{newEnvelope(otlp.Traces, h, p.Page), list, notes(h)})
}

// TraceJSON returns one whole trace: traceId, its spans by start, its logs from
// the oldest as records. total counts spans, logTotal logs.
func TraceJSON(t query.Trace, h Head) ([]byte, error) {
	e := newEnvelope(otlp.Traces, h, query.Page{Total: len(t.Spans), TotalExact: true})
	return encode(struct {
		envelope
		TraceID  string     `json:"traceId"`
		LogTotal int        `json:"logTotal"`
		Spans    []jsonSpan `json:"spans"`
		Records  []jsonLog  `json:"records"`
		Notes    []string   `json:"notes"`
	}{e, traceHex(t.TraceID), t.LogTotal, jsonSpans(t.Spans), jsonLogs(t.Logs), notes(h)})
}
