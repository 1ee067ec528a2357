package answer

import (
	"sonde/query"
	"sonde/storage/otlp"
)

type jsonLog struct {
	Time                   string     `json:"time"`
	ObservedTime           string     `json:"observedTime,omitempty"`
	Severity               string     `json:"severity,omitempty"`
	SeverityNumber         int32      `json:"severityNumber"`
	SeverityText           string     `json:"severityText,omitempty"`
	Service                string     `json:"service"`
	EventName              string     `json:"eventName,omitempty"`
	Body                   value      `json:"body"`
	Attributes             attributes `json:"attributes"`
	DroppedAttributesCount uint32     `json:"droppedAttributesCount,omitempty"`
	TraceID                string     `json:"traceId,omitempty"`
	SpanID                 string     `json:"spanId,omitempty"`
	Flags                  uint32     `json:"flags,omitempty"`
	origin
}

func jsonLogs(records []query.LogRecord) []jsonLog {
	list := make([]jsonLog, len(records))
	for i, rec := range records {
		list[i] = jsonLog{
			Time:                   FormatTime(rec.TimeUnixNano),
			ObservedTime:           timeOrNone(uint64(rec.ObservedTimestamp())),
			SeverityNumber:         int32(rec.SeverityNumber()),
			SeverityText:           rec.SeverityText(),
			Service:                rec.Resource.Service,
			EventName:              rec.EventName(),
			Body:                   value{rec.Body()},
			Attributes:             attributes{rec.Attributes()},
			DroppedAttributesCount: rec.DroppedAttributesCount(),
			TraceID:                traceHex(rec.TraceID()),
			SpanID:                 spanHex(rec.SpanID()),
			Flags:                  uint32(rec.Flags()),
			origin:                 originOf(rec.Scope, rec.Resource),
		}
		if rec.Severity > 0 {
			list[i].Severity = severityName(rec.Severity)
		}
	}
	return list
}

// LogsJSON returns a page of log records as one JSON object: signal, from, to,
// total, totalExact, next (absent on the last page), records, notes. There is
// no budget: the page's limit is the bound. Recorded text is exact; characters
// that can't be seen are escaped.
func LogsJSON(p query.LogPage, h Head) ([]byte, error) {
	return encode(struct {
		envelope
		Records []jsonLog `json:"records"`
		Notes   []string  `json:"notes"`
	}{newEnvelope(otlp.Logs, h, p.Page), jsonLogs(p.Records), notes(h)})
}
