package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"sonde/storage"
	"sonde/storage/otlp"
)

const (
	headerTimeout = time.Minute // for the header of a request
	idleTimeout   = time.Minute // between two requests of a connection
	// stallTimeout is how long a client may send nothing in the midst of a body.
	stallTimeout = time.Minute
	// drainTimeout is how long what is left of a refused body may take. It is
	// read before the answer is sent, so that clients which read only after
	// writing get to see it: net/http reads 256 KiB, and we more where a body is
	// refused for its size.
	drainTimeout = time.Second
	maxDrain     = 256 << 20
)

// format is how a request is encoded, and therefore its answer.
type format uint8

const (
	formatJSON format = iota // also where the request's encoding is unknown
	formatProto
)

// mediaType returns the media type of a format.
func (f format) mediaType() string {
	if f == formatProto {
		return "application/x-protobuf"
	}
	return "application/json"
}

// formatOf reads a Content-Type. Parameters, even broken ones, and case don't
// matter.
func formatOf(contentType string) (format, error) {
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		name = ""
	}
	switch name {
	case formatProto.mediaType():
		return formatProto, nil
	case formatJSON.mediaType():
		return formatJSON, nil
	}
	return formatJSON, fmt.Errorf("%w %q: use %s or %s", errMediaType, contentType, formatProto.mediaType(), formatJSON.mediaType())
}

func (r *Receiver) newHTTPServer() *http.Server {
	e := echo.New()
	e.HTTPErrorHandler = r.echoFailure
	e.Use(r.guardHTTP)
	for _, signal := range otlp.Signals {
		e.Any("/v1/"+signal.String(), r.exportHandler(signal))
	}
	return &http.Server{
		Handler:           e,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ConnState:         r.fresh.note,
		BaseContext:       func(net.Listener) context.Context { return r.cutting },
		ErrorLog:          slog.NewLogLogger(r.options.Log.Handler(), slog.LevelDebug),
	}
}

func (r *Receiver) exportHandler(s otlp.Signal) echo.HandlerFunc {
	return func(c echo.Context) error {
		as, a, err := r.exportHTTP(c, s)
		if err != nil {
			return writeFailure(c, as, r.noteFailure(s, storage.HTTP, err))
		}
		if as == formatProto {
			return c.Blob(http.StatusOK, as.mediaType(), a.proto())
		}
		return c.Blob(http.StatusOK, as.mediaType(), a.json())
	}
}

// exportHTTP does everything but answer. What costs the client least is checked
// first: a request that is refused for its header is not read.
func (r *Receiver) exportHTTP(c echo.Context, s otlp.Signal) (format, answer, error) {
	request := c.Request()
	as, mediaTypeErr := formatOf(request.Header.Get(echo.HeaderContentType))
	if request.Method != http.MethodPost {
		return as, answer{}, notPost(c)
	}
	if err := r.authorize(request.Header.Get(echo.HeaderAuthorization)); err != nil {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, "Bearer")
		return as, answer{}, err
	}
	if mediaTypeErr != nil {
		return as, answer{}, mediaTypeErr
	}
	body, err := r.readBody(c)
	if err != nil {
		return as, answer{}, err
	}
	if as == formatJSON {
		var e error
		if err := r.expand(request.Context(), func() { body, e = decodeJSON(s, body) }); err != nil {
			return as, answer{}, err
		}
		if e != nil {
			return as, answer{}, e
		}
	}
	a, err := r.export(request.Context(), s, storage.HTTP, body)
	return as, a, err
}

// notPost refuses every method but one.
func notPost(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderAllow, http.MethodPost)
	return fmt.Errorf("%w: use %s", errMethod, http.MethodPost)
}

// writeFailure answers with a google.rpc.Status in the request's encoding.
func writeFailure(c echo.Context, as format, f failure) error {
	// Where there are no deadlines the rest takes as long as it takes.
	_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Now().Add(drainTimeout))
	if request := c.Request(); f.status == http.StatusRequestEntityTooLarge && request.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, request.Body, maxDrain) // as far as it comes
	}
	if f.retryAfter > 0 {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(f.retryAfter.Seconds())))
	}
	return c.Blob(f.status, as.mediaType(), f.body(as))
}

// echoFailure answers what no handler has: unknown paths and methods, panics.
func (r *Receiver) echoFailure(err error, c echo.Context) {
	if c.Response().Committed {
		return // the connection is broken or the answer under way
	}
	switch {
	case errors.Is(err, echo.ErrNotFound):
		err = fmt.Errorf("%w: %s", errPath, c.Request().URL.Path)
	case errors.Is(err, echo.ErrMethodNotAllowed): // one that HTTP doesn't know
		err = notPost(c)
	}
	as, _ := formatOf(c.Request().Header.Get(echo.HeaderContentType))
	f, _ := failureOf(err)
	if err := writeFailure(c, as, f); err != nil {
		r.options.Log.Debug("cannot answer", "transport", storage.HTTP, "error", err)
	}
}

// guardHTTP turns a panic into an error of the request that caused it, and lets
// no handler begin once the receiver has stopped.
func (r *Receiver) guardHTTP(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		if !r.inFlight.TryRLock() {
			return storage.ErrClosed
		}
		defer r.inFlight.RUnlock()
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			r.options.Log.Error("panic while serving OTLP", "transport", storage.HTTP, "path", c.Path(), "panic", p, "stack", string(debug.Stack()))
			err = errPanic
		}()
		return next(c)
	}
}

// freshConns are connections on which no byte has come yet. Shutdown of
// net/http waits up to 5 s for the first request of each, so they are closed.
type freshConns struct {
	mu    sync.Mutex // protects conns and done
	conns map[net.Conn]struct{}
	done  bool
}

// note follows the states of connections for http.Server.ConnState.
func (f *freshConns) note(c net.Conn, state http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state != http.StateNew {
		delete(f.conns, c)
		return
	}
	if f.done {
		c.Close()
		return
	}
	if f.conns == nil {
		f.conns = map[net.Conn]struct{}{}
	}
	f.conns[c] = struct{}{}
}

// closeAll closes the fresh connections of now and later.
func (f *freshConns) closeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
	for c := range f.conns {
		c.Close()
	}
	clear(f.conns)
}
