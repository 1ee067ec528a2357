package mcp_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sonde/mcp"
	"sonde/query"
	"sonde/storage"
	"sonde/storage/storagetest"
)

// FuzzMessages: whatever a master sends, the answer is one JSON object (or 202
// and nothing), by the status the protocol has for it, and never a fault of
// ours.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		ping, "[]", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`,
		`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"roles.list","arguments":{"limit":"5","":null}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"logs_query","arguments":{"limit":1e3,"from":1,"to":"x"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"traces.query","arguments":"{\"minDurationMs\":-0}"}}`,
	} {
		f.Add([]byte(seed))
	}
	store := storagetest.Open(f, storage.Options{Now: func() time.Time { return noon }})
	world := open(f, query.New(store), store, mcp.Options{})
	fill(f, store)
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/mcp", strings.NewReader(string(body)))
		r.Header.Set("Authorization", "Bearer "+world.tokens["master"])
		w := httptest.NewRecorder()
		world.handler.ServeHTTP(w, r)
		got := w.Body.Bytes()
		if w.Code == http.StatusAccepted && len(got) == 0 {
			return
		}
		var answer map[string]json.RawMessage
		if err := json.Unmarshal(got, &answer); err != nil || !utf8.Valid(got) {
			t.Fatalf("POST %q = %d %q, want one JSON object (%v)", body, w.Code, got, err)
		}
		if bytes.Contains(got, []byte(`"internal error"`)) {
			t.Errorf("POST %q = %s: %s", body, got, world.logged)
		}
		_, result := answer["result"]
		_, failure := answer["error"]
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest || result == failure || string(answer["jsonrpc"]) != `"2.0"` {
			t.Errorf("POST %q = %d %s, want 200 or 400 with a result or an error", body, w.Code, got)
		}
	})
}
