package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"
	"unicode/utf8"

	"sonde/query"
	"sonde/query/answer"
	"sonde/storage/accounts"
)

// queryTimeout bounds one call: a model waits no longer, and a slot is held no
// longer.
const queryTimeout = 10 * time.Second

// Outcomes of a call, as Options.OnCall is told.
const (
	outcomeOK      = "ok"
	outcomeRefused = "refused"
	outcomeInvalid = "invalid"
	outcomeError   = "error"
)

// callTool runs tools/call. What a model can mend is a result with isError;
// the protocol's own errors are for messages that are no call at all.
func (s *Server) callTool(ctx context.Context, p accounts.Principal, f face, params map[string]json.RawMessage) ([]byte, *rpcError) {
	var name string
	if raw := params["name"]; len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &name) != nil {
		return nil, invalidParams("name: want the name of a tool")
	}
	start := time.Now()
	t := s.byName[name]
	// A tool outside the role does not exist, down to the words of the answer.
	if t == nil || !p.May(t.name) {
		s.audit(p, name, params["arguments"], "refused: unknown tool")
		s.told("unknown", outcomeRefused, start)
		return errorResult("unknown tool " + cut(answer.Clean(name), 100)), nil
	}
	r, err := s.run(ctx, t, p, f, params["arguments"])
	text, outcome := s.judge(t.name, err)
	if t.effect != reads || outcome == outcomeRefused {
		s.audit(p, t.name, params["arguments"], auditOutcome(text, outcome))
	}
	s.told(t.name, outcome, start)
	if err != nil {
		return errorResult(text), nil
	}
	return r.result(f), nil
}

func (s *Server) told(tool, outcome string, start time.Time) {
	if s.o.OnCall != nil {
		s.o.OnCall(tool, outcome, time.Since(start))
	}
}

// run decodes the arguments and runs the tool. A panic costs this call alone.
func (s *Server) run(ctx context.Context, t *tool, p accounts.Principal, f face, raw json.RawMessage) (r reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	a, err := decodeArguments(t, f, raw)
	if err != nil {
		return reply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	return t.run(ctx, s, &call{caller: p, face: f, arguments: a})
}

// slot waits for leave to read the store, and returns what gives it back.
func (s *Server) slot(ctx context.Context) (release func(), err error) {
	select {
	case s.queries <- struct{}{}:
		return func() { <-s.queries }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// judge turns the error of a tool into the line its caller reads and the
// outcome that is counted. It is the one table of this wire; what is not in it
// is ours to mend and is logged.
func (s *Server) judge(tool string, err error) (text, outcome string) {
	switch {
	case err == nil:
		return "", outcomeOK
	case errors.Is(err, accounts.ErrForbidden):
		return err.Error(), outcomeRefused
	case errors.As(err, new(*argumentError)),
		errors.As(err, new(*query.AmbiguousError)),
		errors.As(err, new(*noTraceError)),
		errors.Is(err, accounts.ErrInvalid),
		errors.Is(err, accounts.ErrExists),
		errors.Is(err, accounts.ErrNotFound),
		errors.Is(err, accounts.ErrConflict):
		return err.Error(), outcomeInvalid
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %v: ask for a shorter time between from and to", queryTimeout), outcomeError
	case errors.Is(err, context.Canceled):
		return "the call was given up", outcomeError
	}
	s.o.Log.Error("tool failed", "tool", tool, "error", err)
	return "internal error", outcomeError
}

// result returns the CallToolResult of a reply.
func (r reply) result(f face) []byte {
	text := r.text
	if r.json != nil {
		text = string(r.json)
	}
	b := make([]byte, 0, len(text)+len(text)/8+len(r.json)+64)
	b = append(b, `{"content":[{"type":"text","text":`...)
	b = appendString(b, text)
	b = append(b, "}]"...)
	if f.json && r.json != nil {
		b = append(b, `,"structuredContent":`...)
		b = append(b, r.json...)
	}
	return append(b, '}')
}

// maxErrorBytes keeps a failure from filling a model's context.
const maxErrorBytes = 1 << 10

// errorResult returns the CallToolResult of a failure: one line. Texts may echo
// what was sent or stored, so they are cleaned as rows are.
func errorResult(text string) []byte {
	b := []byte(`{"content":[{"type":"text","text":`)
	b = appendString(b, cut(answer.Clean(text), maxErrorBytes))
	return append(b, `}],"isError":true}`...)
}

// cut shortens s to at most n bytes, at the border of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// quoted returns what was sent as an error may echo it.
func quoted(s string) string { return strconv.Quote(cut(s, 100)) }
