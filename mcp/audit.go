package mcp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"sonde/query/answer"
	"sonde/storage/accounts"
)

// maxAuditBytes bounds the arguments of one line of the audit log.
const maxAuditBytes = 4 << 10

// audit writes a line to the audit log. A call is not undone because its line
// can't be written; the operator is told.
func (s *Server) audit(p accounts.Principal, tool string, arguments json.RawMessage, outcome string) {
	err := s.db.Audit(accounts.AuditEntry{
		Time:      s.o.Now().UTC(),
		Login:     p.Login,
		Tool:      cut(withoutTokens(answer.Clean(tool)), 100),
		Arguments: cut(withoutSecrets(arguments), maxAuditBytes),
		Outcome:   outcome,
	})
	if err != nil {
		s.o.Log.Error("cannot write the audit log", "login", p.Login, "tool", tool, "error", err)
	}
}

// auditOutcome words the outcome of a call for the audit log.
func auditOutcome(text, outcome string) string {
	switch outcome {
	case outcomeOK:
		return outcome
	case outcomeRefused:
		return "refused: " + withoutTokens(text)
	}
	return "error: " + withoutTokens(text)
}

// No tool takes a secret, but a caller may send one all the same.
var (
	secretName = regexp.MustCompile(`(?i)token|secret|passw|authorization|credential|api_?key`)
	ownToken   = regexp.MustCompile(`sonde_[A-Za-z0-9_-]{8,}`)
)

const masked = "***"

func withoutTokens(s string) string { return ownToken.ReplaceAllString(s, masked) }

// withoutSecrets returns arguments as compact JSON in which what looks like a
// secret, by its name or as one of our tokens, is masked.
func withoutSecrets(arguments json.RawMessage) string {
	if isAbsent(arguments) {
		return ""
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) == nil {
		for name := range fields {
			if secretName.MatchString(name) {
				fields[name] = json.RawMessage(`"` + masked + `"`)
			}
		}
		if b, err := marshal(fields); err == nil {
			arguments = b
		}
	}
	var compact bytes.Buffer
	if json.Compact(&compact, arguments) != nil {
		return ""
	}
	return withoutTokens(answer.Clean(strings.TrimSpace(compact.String())))
}
