package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"sonde/mcp"
	"sonde/query"
	"sonde/storage"
	"sonde/storage/storagetest"
)

// What goes wrong in a handler is for the log, in its form; the client reads
// nothing of it.
func TestFaultsGoToTheLog(t *testing.T) {
	store := storagetest.Open(t, storage.Options{})
	var log bytes.Buffer
	e := newEcho(mcp.New(query.New(store), store, nil, mcp.Options{}), store, newMetrics(store),
		slog.New(slog.NewTextHandler(&log, nil)))
	e.GET("/panic", func(echo.Context) error { panic("out of cheese") })
	for _, c := range []struct {
		path, logged string
		want         int
	}{
		{"/panic", "out of cheese", http.StatusInternalServerError},
		{"/nothing", "", http.StatusNotFound},
		{"/healthz", "", http.StatusOK},
	} {
		log.Reset()
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, c.path, nil))
		if answer.Code != c.want || strings.Contains(answer.Body.String(), "cheese") {
			t.Errorf("GET %s = %d %s, want %d without the cause", c.path, answer.Code, answer.Body, c.want)
		}
		if got := log.String(); !strings.Contains(got, c.logged) || (got == "") != (c.logged == "") {
			t.Errorf("GET %s logged %q, want %q in it", c.path, got, c.logged)
		}
	}
}
