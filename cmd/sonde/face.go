package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"sonde/mcp"
	"sonde/storage"
)

// httpFace is an HTTP server that was started. The nil face is one that was not.
type httpFace struct{ server *http.Server }

// serveHTTP serves h on l until shutdown; any other end is sent to failed.
func serveHTTP(l net.Listener, h http.Handler, log *slog.Logger, failed chan<- error) *httpFace {
	f := &httpFace{&http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
	go func() {
		if err := f.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("cannot go on serving %s: %w", l.Addr(), err)
		}
	}()
	return f
}

// shutdown finishes what is in flight until ctx ends, then cuts the rest.
func (f *httpFace) shutdown(ctx context.Context) error {
	if f == nil {
		return nil
	}
	if err := f.server.Shutdown(ctx); err != nil {
		return errors.Join(err, f.server.Close())
	}
	return nil
}

// newEcho routes everything that the http listener serves.
func newEcho(face *mcp.Server, store *storage.Store, m *metrics, log *slog.Logger) *echo.Echo {
	e := echo.New()
	e.HideBanner = true
	e.HidePort = true
	e.Logger.SetOutput(io.Discard) // it writes to standard output; what matters is logged below
	e.Use(middleware.RecoverWithConfig(middleware.RecoverConfig{
		LogErrorFunc: func(_ echo.Context, err error, stack []byte) error {
			return fmt.Errorf("panic: %w\n%s", err, stack)
		},
	}))
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		switch {
		case c.Response().Committed:
			log.Debug("cannot send an answer", "path", c.Path(), "error", err) // to a client that left
		case !errors.As(err, new(*echo.HTTPError)):
			log.Error("cannot answer", "path", c.Path(), "error", err)
		}
		e.DefaultHTTPErrorHandler(err, c)
	}
	face.Register(e)
	e.GET("/metrics", echo.WrapHandler(m.handler()))
	e.GET("/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	e.GET("/readyz", func(c echo.Context) error {
		if problem := store.Stats().LastError; problem != "" {
			return c.String(http.StatusServiceUnavailable, "cannot store: "+problem+"\n")
		}
		return c.String(http.StatusOK, "ok\n")
	})
	return e
}
