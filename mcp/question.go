package mcp

import (
	"context"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"sonde/query"
	"sonde/query/answer"
	"sonde/storage/otlp"
)

// question is what the three query tools have in common: a stretch of time, a
// trace or none, and what the answer's first line says of them.
type question struct {
	window
	trace  query.TraceID
	digits string // of trace, "" when the question is not about one
	head   answer.Head
}

type traceID = pcommon.TraceID

// newQuestion reads the arguments that the query tools share.
func (s *Server) newQuestion(c *call) (*question, error) {
	now := s.o.Now()
	q := &question{head: answer.Head{Now: now, Notes: slices.Clip(c.arguments.notes)}}
	if id := q.filterText(c, "traceId"); id != "" {
		var err error
		if q.trace, err = query.ParseTraceID(id); err != nil {
			return nil, c.arguments.wrong("traceId", "traceId: "+err.Error())
		}
		q.digits = strings.ToLower(strings.TrimSpace(id))
	}
	var err error
	// A trace is looked for at any age: who has its id wants it, not its hour.
	if q.window, err = c.arguments.window(now, q.traced()); err != nil {
		return nil, err
	}
	q.head.Range = q.shown
	return q, nil
}

// traced reports whether the question is about one trace.
func (q *question) traced() bool { return q.digits != "" }

// filterText returns a text argument and notes, when it is set, that the answer
// is filtered by it.
func (q *question) filterText(c *call, name string) string {
	if c.arguments.has(name) {
		q.head.Filtered = append(q.head.Filtered, name)
	}
	return c.arguments.text(name)
}

// checkTrace holds what came back by the start of a trace id to one trace. An
// answer that mixes traces would read as one.
func (q *question) checkTrace(n int, idOf func(int) traceID) error {
	if !q.traced() {
		return nil
	}
	if n == 0 && len(q.digits) < traceDigits {
		return q.noTrace()
	}
	var seen []traceID
	for i := range n {
		if id := idOf(i); !slices.Contains(seen, id) {
			seen = append(seen, id)
		}
	}
	if len(seen) > 1 {
		return &query.AmbiguousError{Candidates: seen[:min(len(seen), maxCandidates)]}
	}
	return nil
}

const (
	traceDigits   = 32
	spanDigits    = 16
	maxCandidates = 10
)

// noTraceError is the answer when no trace has the id asked for.
type noTraceError struct{ digits string }

func (q *question) noTrace() error { return &noTraceError{q.digits} }

func (e *noTraceError) Error() string {
	id := e.digits
	switch len(id) {
	case traceDigits:
		return "traceId: no trace " + id
	case spanDigits:
		return "traceId: no trace id begins with " + id + ", which has the width of a span id; want the 32 hex digits of a trace id, or its first 6 or more"
	}
	return "traceId: no trace id begins with " + id + "; want the 32 hex digits of a trace id, or its first 6 or more"
}

// empty answers a question that found nothing with the nearest facts.
func (s *Server) empty(ctx context.Context, sig otlp.Signal, q *question, name string) (reply, error) {
	near, err := s.engine.Nearby(ctx, sig, q.shown, name)
	if err != nil {
		return reply{}, err
	}
	return reply{text: answer.Empty(sig, q.head, near)}, nil
}

// budget bounds the text of an answer.
func (s *Server) budget() answer.Options { return answer.Options{MaxBytes: s.o.AnswerBytes} }
