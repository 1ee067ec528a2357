package mcp

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// serveStats answers GET /api/v1/stats: telemetry.stats without JSON-RPC, for
// dashboards that poll.
func (s *Server) serveStats(c echo.Context) error {
	r := c.Request()
	if !s.guard.allows(r) {
		return foreign.write(c)
	}
	s.guard.preflight(c.Response(), r)
	p, refused := s.authenticate(c)
	if refused != nil {
		return refused.write(c)
	}
	if !p.May(telemetryStats) {
		s.audit(p, telemetryStats, nil, "refused: not in the role "+p.Role.Name)
		return problem{http.StatusForbidden, "your role does not have this"}.write(c)
	}
	result := s.statsResult(s.stats.Stats())
	tag, err := entityTag(result)
	if err != nil {
		return err
	}
	c.Response().Header().Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		return c.NoContent(http.StatusNotModified)
	}
	body, err := marshal(result)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, body)
}

// entityTag names a state of the counters: the seq, which moves with everything
// stored, and a digest of what can change without it, such as refusals, rates
// and retention. Only the clock is left out. It is weak: equal tags mean the
// same to a reader, not the same bytes.
func entityTag(r statsResult) (string, error) {
	r.Uptime, r.Now = "", ""
	b, err := marshal(r)
	if err != nil {
		return "", err
	}
	h := fnv.New64a()
	h.Write(b)
	return fmt.Sprintf(`W/"%d-%x"`, r.Seq, h.Sum64()), nil
}

// matches compares as RFC 9110 section 13.1.2 asks: weakly, with any of a list.
func matches(header, tag string) bool {
	for have := range strings.SplitSeq(header, ",") {
		have = strings.TrimSpace(have)
		if have == "*" || strings.TrimPrefix(have, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
