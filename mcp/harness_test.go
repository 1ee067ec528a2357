package mcp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/goleak"

	"sonde/mcp"
	"sonde/query"
	"sonde/storage/accounts"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the time of every test: what is answered then does not depend on when
// it is run.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// world is a served Server with people in it: master, who is one; ada, a
// member; and eve, whose role auditor has tools that the member role lacks.
type world struct {
	url     string
	handler http.Handler
	db      *accounts.DB
	tokens  map[string]string // by login
	logged  *safeBuffer
	onCalls *calls
	passed  atomic.Int64 // nanoseconds since noon
}

func (w *world) now() time.Time { return noon.Add(time.Duration(w.passed.Load())) }

// calls are what Options.OnCall was told.
type calls struct {
	mu   sync.Mutex // protects list
	list []string
}

func (c *calls) add(tool, outcome string, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, tool+" "+outcome)
}

func (c *calls) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list
	c.list = nil
	return list
}

type safeBuffer struct {
	mu sync.Mutex // protects b
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

var auditorTools = []string{"telemetry.stats", "logs.query", "users.list", "users.create", "users.set_role", "users.delete"}

// open serves a Server over real accounts and, when engine and stats are not
// nil, a real store.
func open(t testing.TB, engine *query.Engine, stats mcp.Stats, o mcp.Options) *world {
	t.Helper()
	w := &world{tokens: map[string]string{}, logged: &safeBuffer{}, onCalls: &calls{}}
	db, err := accounts.Open(filepath.Join(t.TempDir(), "accounts.db"), accounts.Options{
		Tools: mcp.ToolNames(), MemberTools: mcp.MemberTools(), MasterOnly: mcp.MasterOnly(), Now: w.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	w.db = db
	w.populate(t)
	o.Version, o.Now, o.OnCall = "v1.2.3", w.now, w.onCalls.add
	o.Log = slog.New(slog.NewTextHandler(w.logged, nil))
	e := echo.New()
	e.HideBanner = true
	mcp.New(engine, stats, db, o).Register(e)
	w.handler = e
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func (w *world) populate(t testing.TB) {
	t.Helper()
	master, err := w.db.Bootstrap("")
	if err != nil {
		t.Fatal(err)
	}
	w.tokens["master"] = master
	boss, err := w.db.Authenticate(master)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.CreateRole(boss, accounts.Role{
		Name: "auditor", Title: "Auditor", Soul: "You look after <people>.", Tools: auditorTools,
	}); err != nil {
		t.Fatal(err)
	}
	for _, u := range []accounts.NewUser{
		{Login: "ada", Email: "ada@example.com", Name: "Ada Lovelace"},
		{Login: "eve", Role: "auditor"},
	} {
		if _, err := w.db.CreateUser(boss, u); err != nil {
			t.Fatal(err)
		}
		if w.tokens[u.Login], _, err = w.db.CreateToken(u.Login, "", time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
}

// exchange is one request with its answer.
type exchange struct {
	status int
	header http.Header
	body   string
}

// do sends a request. A header named Host sets the request's Host.
func (w *world) do(t testing.TB, method, path, body string, header http.Header) exchange {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
		r.Header.Del("Host")
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return exchange{resp.StatusCode, resp.Header, string(got)}
}

// post sends a message to /mcp as a login.
func (w *world) post(t testing.TB, login, query, body string) exchange {
	t.Helper()
	return w.do(t, http.MethodPost, "/mcp"+query, body, http.Header{
		"Authorization": {"Bearer " + w.tokens[login]}, "Content-Type": {"application/json"},
	})
}

// result is the part of an answer that tools/call has.
type result struct {
	Content []struct{ Type, Text string }
	IsError bool
}

func (r result) text() string {
	if len(r.Content) != 1 {
		return ""
	}
	return r.Content[0].Text
}

// call calls a tool as a login.
func (w *world) call(t testing.TB, login, query, tool, arguments string) result {
	t.Helper()
	name, err := json.Marshal(tool)
	if err != nil {
		t.Fatal(err)
	}
	x := w.post(t, login, query,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+string(name)+`,"arguments":`+arguments+`}}`)
	var answer struct{ Result *result }
	if err := json.Unmarshal([]byte(x.body), &answer); err != nil || answer.Result == nil {
		t.Fatalf("%s %s as %s = %d %s, want a result", tool, arguments, login, x.status, x.body)
	}
	return *answer.Result
}

// listed is a tool as tools/list shows it.
type listed struct {
	Name, Description string
	InputSchema       json.RawMessage
	Annotations       map[string]bool
}

// list returns what tools/list shows a login.
func (w *world) list(t testing.TB, login, query string) []listed {
	t.Helper()
	x := w.post(t, login, query, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var answer struct{ Result *struct{ Tools []listed } }
	if err := json.Unmarshal([]byte(x.body), &answer); err != nil || answer.Result == nil {
		t.Fatalf("tools/list as %s = %d %s, want a result", login, x.status, x.body)
	}
	return answer.Result.Tools
}

func names(tools []listed) []string {
	var list []string
	for _, t := range tools {
		list = append(list, t.Name)
	}
	return list
}
