package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"sonde/mcp"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func pong(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

func failure(id, code string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + code + `,`
}

// TestMessages sends bodies as they stand on the wire. Want is the start of the
// answer.
func TestMessages(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	for _, c := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"ping", ping, 200, pong("1")},
		{"blanks around", " \r\n\t" + ping + "\n", 200, pong("1")},
		{"id zero", `{"jsonrpc":"2.0","id":0,"method":"ping"}`, 200, pong("0")},
		{"id negative", `{"jsonrpc":"2.0","id":-7,"method":"ping"}`, 200, pong("-7")},
		{"id beyond 64 bits", `{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}`, 200, pong("12345678901234567890123")},
		{"id beyond a float's integers", `{"jsonrpc":"2.0","id": 9007199254740993 ,"method":"ping"}`, 200, pong("9007199254740993")},
		{"id empty string", `{"jsonrpc":"2.0","id":"","method":"ping"}`, 200, pong(`""`)},
		{"id with escapes", `{"jsonrpc":"2.0","id":"\u0041\"<","method":"ping"}`, 200, pong(`"\u0041\"<"`)},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, failure("null", "-32600")},
		{"id fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400, failure("null", "-32600")},
		{"id exponent", `{"jsonrpc":"2.0","id":1e3,"method":"ping"}`, 400, failure("null", "-32600")},
		{"id object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, 400, failure("null", "-32600")},
		{"id array", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, 400, failure("null", "-32600")},
		{"id bool", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, 400, failure("null", "-32600")},
		{"no id", `{"jsonrpc":"2.0","method":"ping"}`, 202, ""},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/nothing","params":{"a":1}}`, 202, ""},
		{"notification with odd params", `{"jsonrpc":"2.0","method":"notifications/nothing","params":[1]}`, 202, ""},
		{"notification with an id", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, 200, failure("1", "-32601")},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ""},
		{"error response", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`, 202, ""},
		{"response with both", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, 400, failure("1", "-32600")},
		{"batch", "[" + ping + "]", 400, failure("null", "-32600")},
		{"empty batch", " []", 400, failure("null", "-32600")},
		{"bare string", `"ping"`, 400, failure("null", "-32600")},
		{"bare null", `null`, 400, failure("null", "-32600")},
		{"empty object", `{}`, 400, failure("null", "-32600")},
		{"empty body", ``, 400, failure("null", "-32700")},
		{"not JSON", `{"jsonrpc":"2.0","id":1,`, 400, failure("null", "-32700")},
		{"trailing data", ping + ping, 400, failure("null", "-32700")},
		{"byte order mark", "\ufeff" + ping, 400, failure("null", "-32700")},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", 400, failure("null", "-32700")},
		{"nested beyond reason", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), 400, failure("null", "-32700")},
		{"version missing", `{"id":1,"method":"ping"}`, 400, failure("1", "-32600")},
		{"version 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, failure("1", "-32600")},
		{"version a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, 400, failure("1", "-32600")},
		{"method missing", `{"jsonrpc":"2.0","id":1}`, 400, failure("1", "-32600")},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":7}`, 400, failure("1", "-32600")},
		{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, 400, failure("1", "-32600")},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, 200, failure("1", "-32601")},
		{"method unknown", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, 200, failure("1", "-32601")},
		{"method in another case", `{"jsonrpc":"2.0","id":1,"method":"Ping"}`, 200, failure("1", "-32601")},
		{"server/discover", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`, 200, failure("1", "-32601")},
		{"key METHOD", `{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, 400, failure("1", "-32600")},
		{"key ID", `{"jsonrpc":"2.0","ID":1,"method":"ping"}`, 202, ""},
		{"key method after Method", `{"jsonrpc":"2.0","id":1,"Method":"tools/list","method":"ping"}`, 200, pong("1")},
		{"key twice, the last holds", `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list","method":"ping"}`, 200, pong("2")},
		{"key with NUL", `{"jsonrpc":"2.0","id":1,"method\u0000":"tools/list","method":"ping"}`, 200, pong("1")},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, 200, pong("1")},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, 200, failure("1", "-32602")},
		{"params a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"{}"}`, 200, failure("1", "-32602")},
		{"list with a cursor", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"abc"}}`, 200, failure("1", "-32602")},
		{"list with an empty cursor", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":""}}`, 200, failure("1", "-32602")},
		{"list with cursor null", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[`},
		{"call without params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 200, failure("1", "-32602")},
		{"call without name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}`, 200, failure("1", "-32602")},
		{"call with name a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}`, 200, failure("1", "-32602")},
		{"call with key Name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"roles.list"}}`, 200, failure("1", "-32602")},
		{"initialize without version", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, 200, failure("1", "-32602")},
		{"initialize with version a number", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`, 200, failure("1", "-32602")},
	} {
		x := w.post(t, "ada", "", c.body)
		if x.status != c.status || !strings.HasPrefix(x.body, c.want) || (c.want == "" && x.body != "") {
			t.Errorf("%s: POST = %d %.300s, want %d %s", c.name, x.status, x.body, c.status, c.want)
		}
		if x.body != "" && x.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: Content-Type = %q, want application/json", c.name, x.header.Get("Content-Type"))
		}
	}
}

// TestRequestWithoutIDIsNotRun: what can't be answered must not act.
func TestRequestWithoutIDIsNotRun(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	x := w.post(t, "ada", "", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"customers.create","arguments":{"name":"A","email":"a@example.com"}}}`)
	if x.status != http.StatusAccepted || x.body != "" {
		t.Errorf("tools/call without id = %d %q, want 202 and nothing", x.status, x.body)
	}
	if _, total, err := w.db.Customers(0); total != 0 || err != nil {
		t.Errorf("Customers = %d, %v, want none", total, err)
	}
	x = w.post(t, "ada", "", `{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
	if x.status != http.StatusAccepted {
		t.Errorf("initialize without id = %d, want 202", x.status)
	}
	if n := threads(t, w, "ada"); n != 0 {
		t.Errorf("threads of ada = %d, want 0", n)
	}
}

func threads(t *testing.T, w *world, login string) uint64 {
	t.Helper()
	users, _, err := w.db.Users(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range users {
		if u.Login == login {
			return u.Threads
		}
	}
	t.Fatalf("no user %s", login)
	return 0
}

func TestHeaders(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{
		AllowedHosts:   []string{"sonde.example.com", "proxy.example.com:8443"},
		AllowedOrigins: []string{"https://dash.example.com"},
	})
	for _, c := range []struct {
		header, value string
		status        int
	}{
		{"Accept", "application/json, text/event-stream", 200},
		{"Accept", "application/json", 200},
		{"Accept", "application/*", 200},
		{"Accept", "*/*", 200},
		{"Accept", "text/html, application/json;q=0.1", 200},
		{"Accept", "text/html", 406},
		{"Accept", "text/event-stream", 406},
		{"Accept", "application/json;q=0", 406},
		{"Content-Type", "application/json; charset=utf-8", 200},
		{"Content-Type", "Application/JSON", 200},
		{"Content-Type", "text/plain", 415},
		{"Content-Type", "application/x-www-form-urlencoded", 415},
		{"Content-Type", "application/jsonp", 415},
		{"MCP-Protocol-Version", "2025-03-26", 200},
		{"MCP-Protocol-Version", "2025-06-18", 200},
		{"MCP-Protocol-Version", "2025-11-25", 200},
		{"MCP-Protocol-Version", "2024-11-05", 400},
		{"MCP-Protocol-Version", "2026-07-28", 400},
		{"MCP-Protocol-Version", "banana", 400},
		{"Mcp-Session-Id", "anything", 200},
		{"Host", "localhost", 200},
		{"Host", "LOCALHOST:1234", 200},
		{"Host", "app.localhost:80", 200},
		{"Host", "127.0.0.1:9", 200},
		{"Host", "127.8.8.8", 200},
		{"Host", "[::1]:4319", 200},
		{"Host", "[::ffff:127.0.0.1]", 200},
		{"Host", "sonde.example.com", 200},
		{"Host", "Sonde.Example.com:4319", 200},
		{"Host", "sonde.example.com.", 200},
		{"Host", "proxy.example.com:8443", 200},
		{"Host", "proxy.example.com", 403},
		{"Host", "evil.example.com", 403},
		{"Host", "sonde.example.com.evil.example", 403},
		{"Host", "localhost.evil.example", 403},
		{"Host", "127.0.0.1.nip.io", 403},
		{"Host", "10.0.0.1", 403},
		{"Origin", "http://localhost:3000", 200},
		{"Origin", "https://127.0.0.1", 200},
		{"Origin", "http://[::1]:8080", 200},
		{"Origin", "https://dash.example.com", 200},
		{"Origin", "https://DASH.example.com", 200},
		{"Origin", "http://dash.example.com", 403},
		{"Origin", "https://dash.example.com:444", 403},
		{"Origin", "https://evil.example.com", 403},
		{"Origin", "http://localhost.evil.example", 403},
		{"Origin", "http://localhost@evil.example", 403},
		{"Origin", "null", 403},
		{"Origin", "file://", 403},
		{"Origin", "chrome-extension://abcdef", 403},
	} {
		h := http.Header{"Authorization": {"Bearer " + w.tokens["ada"]}}
		h.Set(c.header, c.value)
		x := w.do(t, http.MethodPost, "/mcp", ping, h)
		if x.status != c.status || (c.status == 200) != (x.body == pong("1")) {
			t.Errorf("%s: %s: POST = %d %s, want %d", c.header, c.value, x.status, x.body, c.status)
		}
	}
}

// TestSameOrigin: a page that this server itself serves may call it under
// whatever name it is allowed to have.
func TestSameOrigin(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{AllowedHosts: []string{"sonde.example.com"}})
	h := http.Header{
		"Authorization": {"Bearer " + w.tokens["ada"]},
		"Host":          {"sonde.example.com:4319"}, "Origin": {"https://sonde.example.com:4319"},
	}
	if x := w.do(t, http.MethodPost, "/mcp", ping, h); x.status != 200 {
		t.Errorf("same origin: POST = %d %s, want 200", x.status, x.body)
	}
	h.Add("Origin", "https://evil.example.com")
	if x := w.do(t, http.MethodPost, "/mcp", ping, h); x.status != 403 {
		t.Errorf("two origins: POST = %d %s, want 403", x.status, x.body)
	}
}

func TestPreflight(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{AllowedOrigins: []string{"https://dash.example.com"}})
	ask := func(origin string) exchange {
		return w.do(t, http.MethodOptions, "/mcp", "", http.Header{
			"Origin": {origin}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"authorization"},
		})
	}
	x := ask("https://dash.example.com")
	if x.status != http.StatusNoContent || x.header.Get("Access-Control-Allow-Origin") != "https://dash.example.com" {
		t.Errorf("preflight of a configured origin = %d %v, want 204 with leave", x.status, x.header)
	}
	x = ask("http://localhost:3000")
	if x.status != http.StatusMethodNotAllowed || x.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("preflight of a loopback origin = %d %v, want 405 without leave", x.status, x.header)
	}
	x = w.do(t, http.MethodPost, "/mcp", ping, http.Header{
		"Origin": {"https://dash.example.com"}, "Authorization": {"Bearer " + w.tokens["ada"]},
	})
	if x.status != 200 || x.header.Get("Access-Control-Allow-Origin") != "https://dash.example.com" {
		t.Errorf("POST of a configured origin = %d %v, want 200 with leave", x.status, x.header)
	}
}

func TestMethods(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		x := w.do(t, method, "/mcp", "", http.Header{"Authorization": {"Bearer " + w.tokens["ada"]}})
		if x.status != http.StatusMethodNotAllowed || x.header.Get("Allow") != "POST" {
			t.Errorf("%s = %d, Allow %q, want 405, POST", method, x.status, x.header.Get("Allow"))
		}
	}
}

func TestBodyLimit(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	sized := func(n int) string {
		const head, tail = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":"`, `"}}`
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	if x := w.post(t, "ada", "", sized(4<<20)); x.status != 200 {
		t.Errorf("body of 4 MiB = %d %s, want 200", x.status, x.body)
	}
	if x := w.post(t, "ada", "", sized(4<<20+1)); x.status != 413 {
		t.Errorf("body of 4 MiB and a byte = %d %s, want 413", x.status, x.body)
	}
}

func TestQueryParameters(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	for query, status := range map[string]int{
		"?format=json": 200, "?format=text&names=.": 200, "?names=underscore": 200, "?other=1": 200,
		"?format=xml": 400, "?names=camel": 400,
	} {
		if x := w.post(t, "ada", query, ping); x.status != status {
			t.Errorf("POST /mcp%s = %d %s, want %d", query, x.status, x.body, status)
		}
	}
}
