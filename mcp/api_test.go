package mcp_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"sonde/mcp"
	"sonde/query"
	"sonde/storage"
	"sonde/storage/accounts"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

func TestStatsByHTTP(t *testing.T) {
	store := storagetest.Open(t, storage.Options{Now: func() time.Time { return noon }})
	w := open(t, query.New(store), store, mcp.Options{})
	get := func(login, tag string) exchange {
		h := http.Header{"Authorization": {"Bearer " + w.tokens[login]}}
		if tag != "" {
			h.Set("If-None-Match", tag)
		}
		return w.do(t, http.MethodGet, "/api/v1/stats", "", h)
	}
	first := get("ada", "")
	tag := first.header.Get("ETag")
	if first.status != 200 || tag == "" || !json.Valid([]byte(first.body)) {
		t.Fatalf("GET /api/v1/stats = %d, ETag %q, %s", first.status, tag, first.body)
	}
	if tool := w.call(t, "ada", "", "telemetry.stats", `{}`); tool.text() != first.body {
		t.Errorf("telemetry.stats = %s, want what GET answers, %s", tool.text(), first.body)
	}
	w.passed.Add(int64(time.Second)) // the clock alone changes nothing
	for _, list := range []string{tag, `"other", ` + tag, tag[len("W/"):], "*"} {
		if x := get("ada", list); x.status != http.StatusNotModified || x.body != "" || x.header.Get("ETag") != tag {
			t.Errorf("If-None-Match %s = %d %s, want 304", list, x.status, x.body)
		}
	}
	store.CountIntake(otlp.Logs, storage.HTTP, storage.Intake{Refused: 3})
	refused := get("ada", tag)
	if refused.status != 200 || refused.header.Get("ETag") == tag {
		t.Errorf("after a refusal = %d, ETag %q, want 200 and another", refused.status, refused.header.Get("ETag"))
	}
	fill(t, store)
	stored := get("ada", refused.header.Get("ETag"))
	var got struct {
		Seq     uint64
		Signals struct {
			Logs struct{ Received, Stored, Rejected, Refused, Held uint64 }
		}
	}
	if err := json.Unmarshal([]byte(stored.body), &got); err != nil || stored.status != 200 {
		t.Fatalf("after an export = %d %s (%v)", stored.status, stored.body, err)
	}
	if l := got.Signals.Logs; got.Seq == 0 || l.Received != 15 || l.Stored != 11 || l.Rejected != 1 || l.Refused != 3 || l.Held != 11 {
		t.Errorf("after an export = %+v, want 15 received: 11 stored, 1 rejected, 3 refused", got)
	}
}

func TestStatsByHTTPRights(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	boss, err := w.db.Authenticate(w.tokens["master"])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.CreateRole(boss, accounts.Role{Name: "clerk", Tools: []string{"customers.list"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.SetRole(boss, "eve", "clerk"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		header http.Header
		status int
	}{
		{http.Header{}, 401},
		{http.Header{"Authorization": {"Bearer sonde_wrong"}}, 401},
		{http.Header{"Authorization": {"Bearer " + w.tokens["eve"]}}, 403},
		{http.Header{"Authorization": {"Bearer " + w.tokens["ada"]}, "Host": {"evil.example.com"}}, 403},
		{http.Header{"Authorization": {"Bearer " + w.tokens["ada"]}, "Origin": {"https://evil.example.com"}}, 403},
	} {
		if x := w.do(t, http.MethodGet, "/api/v1/stats", "", c.header); x.status != c.status {
			t.Errorf("GET /api/v1/stats with %v = %d %s, want %d", c.header, x.status, x.body, c.status)
		}
	}
	if log, err := w.db.AuditLog(1); err != nil || len(log) != 1 || log[0].Login != "eve" || log[0].Outcome != "refused: not in the role clerk" {
		t.Errorf("AuditLog = %+v, %v, want the refusal of eve", log, err)
	}
}
