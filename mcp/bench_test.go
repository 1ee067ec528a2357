package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"sonde/mcp"
	"sonde/query"
	"sonde/storage"
	"sonde/storage/storagetest"
)

// BenchmarkStatsCall is what a dashboard's poll costs: telemetry.stats over one
// kept-alive loopback connection. "bare" is an echo handler that reads the same
// body and answers as many bytes; ratio is its time over ours, 1 being as fast.
func BenchmarkStatsCall(b *testing.B) {
	store := storagetest.Open(b, storage.Options{Now: func() time.Time { return noon }})
	w := open(b, query.New(store), store, mcp.Options{})
	fill(b, store)
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"telemetry.stats","arguments":{}}}`
	size := len(w.post(b, "ada", "", body).body)

	e := echo.New()
	reply := []byte(strings.Repeat("x", size))
	e.POST("/mcp", func(c echo.Context) error {
		if _, err := io.Copy(io.Discard, c.Request().Body); err != nil {
			return err
		}
		return c.Blob(http.StatusOK, "application/json", reply)
	})
	bare := httptest.NewServer(e)
	defer bare.Close()

	var bareNs float64
	b.Run("bare", func(b *testing.B) { bareNs = benchmarkPost(b, bare.URL, "none", body, size) })
	b.Run("stats", func(b *testing.B) {
		ns := benchmarkPost(b, w.url, w.tokens["ada"], body, size)
		if bareNs > 0 {
			b.ReportMetric(bareNs/ns, "ratio")
		}
	})
}

// benchmarkPost returns the nanoseconds of one call.
func benchmarkPost(b *testing.B, url, token, body string, size int) float64 {
	b.ReportAllocs()
	b.SetBytes(int64(size))
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for b.Loop() {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/mcp", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || n < int64(size)/2 {
			b.Fatalf("POST = %d, %d bytes, %v", resp.StatusCode, n, err)
		}
		resp.Body.Close()
	}
	return float64(b.Elapsed().Nanoseconds()) / float64(b.N)
}

// BenchmarkList is tools/list, which every conversation begins with.
func BenchmarkList(b *testing.B) {
	w := open(b, nil, nil, mcp.Options{})
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	benchmarkPost(b, w.url, w.tokens["master"], body, len(w.post(b, "master", "", body).body))
}
