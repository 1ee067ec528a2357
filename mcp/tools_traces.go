package mcp

import (
	"context"
	"errors"
	"time"

	"sonde/query"
	"sonde/query/answer"
	"sonde/storage/otlp"
)

const (
	defaultTraces    = 20
	defaultSpans     = 50
	defaultTraceLogs = 100 // that are shown in their places in a whole trace
)

// runTraces answers with one of three shapes: the whole trace when only its id
// is given, spans when name or minDurationMs select some, traces otherwise.
func runTraces(ctx context.Context, s *Server, c *call) (reply, error) {
	q, err := s.newQuestion(c)
	if err != nil {
		return reply{}, err
	}
	release, err := s.slot(ctx)
	if err != nil {
		return reply{}, err
	}
	defer release()
	if c.arguments.has("name") || c.arguments.has("minDurationMs") {
		return s.spans(ctx, c, q)
	}
	if q.traced() {
		return s.trace(ctx, c, q)
	}
	page, err := s.engine.Traces(ctx, query.SpanFilter{
		Range: q.rows, Before: q.before, Limit: c.arguments.limit(defaultTraces),
	})
	switch {
	case err != nil:
		return reply{}, err
	case c.face.json:
		b, err := answer.TracesJSON(page, q.head)
		return reply{json: b}, err
	case page.Total == 0:
		return s.empty(ctx, otlp.Traces, q, "")
	}
	return reply{text: answer.Traces(page, q.head, s.budget())}, nil
}

func (s *Server) spans(ctx context.Context, c *call, q *question) (reply, error) {
	f := query.SpanFilter{
		Range: q.rows, Before: q.before, TraceID: q.trace,
		Name:  q.filterText(c, "name"),
		Limit: c.arguments.limit(defaultSpans),
	}
	if c.arguments.has("minDurationMs") {
		q.head.Filtered = append(q.head.Filtered, "minDurationMs")
		f.MinDuration = time.Duration(c.arguments.number("minDurationMs") * float64(time.Millisecond))
	}
	page, err := s.engine.Spans(ctx, f)
	if err != nil {
		return reply{}, err
	}
	if err := q.checkTrace(len(page.Spans), func(i int) traceID { return page.Spans[i].TraceID() }); err != nil {
		return reply{}, err
	}
	switch {
	case c.face.json:
		b, err := answer.SpansJSON(page, q.head)
		return reply{json: b}, err
	case page.Total == 0:
		return s.empty(ctx, otlp.Traces, q, f.Name)
	}
	return reply{text: answer.Spans(page, q.head, s.budget())}, nil
}

// trace answers with one whole trace. from and to do not cut it: half a trace
// misleads.
func (s *Server) trace(ctx context.Context, c *call, q *question) (reply, error) {
	if c.arguments.has("from") || c.arguments.has("to") {
		q.head.Notes = append(q.head.Notes, "the whole trace, whatever from and to say")
	}
	q.head.Range.From, q.head.Range.To = 0, 0
	t, err := s.engine.Trace(ctx, q.trace, c.arguments.limit(defaultTraceLogs))
	switch {
	case errors.Is(err, query.ErrNoTrace):
		return reply{}, q.noTrace()
	case err != nil:
		return reply{}, err
	case c.face.json:
		b, err := answer.TraceJSON(t, q.head)
		return reply{json: b}, err
	}
	return reply{text: answer.Trace(t, q.head, s.budget())}, nil
}
