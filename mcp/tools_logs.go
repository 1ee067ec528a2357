package mcp

import (
	"context"
	"fmt"

	"sonde/query"
	"sonde/query/answer"
	"sonde/storage/otlp"
)

const defaultLogs = 50

func runLogs(ctx context.Context, s *Server, c *call) (reply, error) {
	q, err := s.newQuestion(c)
	if err != nil {
		return reply{}, err
	}
	f := query.LogFilter{
		Range: q.rows, Before: q.before, TraceID: q.trace,
		Contains: q.filterText(c, "contains"),
		Limit:    c.arguments.limit(defaultLogs),
	}
	if severity := q.filterText(c, "severity"); severity != "" {
		if f.Severity, err = answer.ParseSeverity(severity); err != nil {
			return reply{}, c.arguments.wrong("severity", "severity: "+err.Error())
		}
	}
	release, err := s.slot(ctx)
	if err != nil {
		return reply{}, err
	}
	defer release()
	page, err := s.engine.Logs(ctx, f)
	if err != nil {
		return reply{}, err
	}
	if err := q.checkTrace(len(page.Records), func(i int) traceID { return page.Records[i].TraceID() }); err != nil {
		return reply{}, err
	}
	if c.face.json {
		b, err := answer.LogsJSON(page, q.head)
		return reply{json: b}, err
	}
	if page.Total > 0 {
		return reply{text: answer.Logs(page, q.head, s.budget())}, nil
	}
	if f.Severity != (query.SeverityRange{}) {
		if err := s.noteOtherSeverities(ctx, f, &q.head); err != nil {
			return reply{}, err
		}
	}
	return s.empty(ctx, otlp.Logs, q, "")
}

// noteOtherSeverities says how many records only the severity kept out.
func (s *Server) noteOtherSeverities(ctx context.Context, f query.LogFilter, h *answer.Head) error {
	f.Severity, f.Limit = query.SeverityRange{}, 1
	page, err := s.engine.Logs(ctx, f)
	if err != nil {
		return err
	}
	h.Notes = append(h.Notes, "without severity: "+counted(page.Page))
	return nil
}

// counted writes a total as exactly as it is known.
func counted(p query.Page) string {
	if p.TotalExact {
		return fmt.Sprint(p.Total)
	}
	return fmt.Sprintf("%d+", p.Total)
}
