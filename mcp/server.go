package mcp

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// maxBodyBytes bounds a request. Arguments are small; the room is for clients
// that send a conversation's worth of _meta along.
const maxBodyBytes = 4 << 20

// face is how a request wants to be answered.
type face struct {
	json       bool // ?format=json: for programs
	underscore bool // ?names=_ : tools are spelled without dots
}

// spell returns a tool's name as this face shows it.
func (f face) spell(name string) string {
	if f.underscore {
		return underscored(name)
	}
	return name
}

// foreign is the problem of a request that the guard does not allow.
var foreign = problem{http.StatusForbidden, "this Host or Origin is not allowed: see http.allowed_hosts and http.allowed_origins"}

// serveMCP answers /mcp.
func (s *Server) serveMCP(c echo.Context) error {
	r := c.Request()
	if !s.guard.allows(r) {
		return foreign.write(c)
	}
	if s.guard.preflight(c.Response(), r) {
		return nil
	}
	if r.Method != http.MethodPost {
		c.Response().Header().Set(echo.HeaderAllow, http.MethodPost)
		return problem{http.StatusMethodNotAllowed, "send JSON-RPC by POST; there is no stream to GET"}.write(c)
	}
	p, refused := s.authenticate(c)
	if refused != nil {
		return refused.write(c)
	}
	f, failure := s.readFace(r)
	if failure == nil {
		failure = checkHeaders(r.Header)
	}
	var m message
	if failure == nil {
		m, failure = readMessage(c.Response(), r)
	}
	if failure != nil {
		return writeJSON(c, failure.status, failure.response(m.id))
	}
	if m.id == nil {
		// A notification, a response, or a request that can't be answered: none
		// of them makes this server do anything.
		return c.NoContent(http.StatusAccepted)
	}
	result, failure := s.dispatch(r.Context(), p, f, m)
	if failure != nil {
		return writeJSON(c, failure.status, failure.response(m.id))
	}
	return writeJSON(c, http.StatusOK, response(m.id, result))
}

// readFace reads the query parameters of the address.
func (s *Server) readFace(r *http.Request) (face, *rpcError) {
	f := face{underscore: s.o.Underscore}
	if r.URL.RawQuery == "" {
		return f, nil
	}
	q := r.URL.Query()
	switch format := q.Get("format"); format {
	case "", "text":
	case "json":
		f.json = true
	default:
		return f, badRequest(`format: want text or json, got ` + quoted(format))
	}
	switch names := q.Get("names"); names {
	case "":
	case ".", "dotted":
		f.underscore = false
	case "_", "underscore":
		f.underscore = true
	default:
		return f, badRequest(`names: want _ or ., got ` + quoted(names))
	}
	return f, nil
}

// checkHeaders holds the rules of the Streamable HTTP transport, with leniency
// where no harm comes of it: a plain script may leave any of them out.
func checkHeaders(h http.Header) *rpcError {
	if v := h.Get(echo.HeaderContentType); v != "" {
		if media, _, err := mime.ParseMediaType(v); err != nil || media != echo.MIMEApplicationJSON {
			return &rpcError{http.StatusUnsupportedMediaType, codeInvalidRequest, "want Content-Type application/json"}
		}
	}
	if !accepts(h.Values(echo.HeaderAccept)) {
		return &rpcError{http.StatusNotAcceptable, codeInvalidRequest, "answers are application/json: name it in Accept"}
	}
	if v := h.Get("MCP-Protocol-Version"); v != "" && !slices.Contains(protocolVersions, v) {
		return badRequest("MCP-Protocol-Version: want one of " + strings.Join(protocolVersions, ", ") + ", got " + quoted(v))
	}
	return nil
}

// accepts reports whether a JSON answer is welcome: no header at all means it is.
func accepts(values []string) bool {
	named := false
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			media, params, err := mime.ParseMediaType(part)
			if err != nil {
				continue
			}
			named = true
			if q, err := strconv.ParseFloat(params["q"], 64); err == nil && q == 0 {
				continue
			}
			switch media {
			case "application/json", "application/*", "*/*":
				return true
			}
		}
	}
	return !named
}

// readMessage reads the body and takes it apart.
func readMessage(w http.ResponseWriter, r *http.Request) (message, *rpcError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return message{}, &rpcError{http.StatusRequestEntityTooLarge, codeInvalidRequest, "request is larger than 4 MiB"}
	}
	if err != nil {
		return message{}, &rpcError{http.StatusBadRequest, codeParse, "cannot read the request"}
	}
	return decodeMessage(body)
}

// writeJSON sends a JSON body. Answers hold what the caller's rights show, so
// nothing on the way may keep them.
func writeJSON(c echo.Context, status int, body []byte) error {
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.Blob(status, echo.MIMEApplicationJSON, body)
}

// problem is a failure that comes before any JSON-RPC.
type problem struct {
	status int
	text   string
}

func (p problem) write(c echo.Context) error {
	body, err := marshal(map[string]string{"error": p.text})
	if err != nil {
		return err
	}
	return writeJSON(c, p.status, body)
}
