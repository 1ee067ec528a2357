package mcp_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sonde/mcp"
)

// bearer sends a token with each request; "" sends none.
type bearer struct {
	token string
	base  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.base.RoundTrip(r)
}

// connect opens a session with the official client.
func connect(t *testing.T, w *world, token, query string) (*sdk.ClientSession, error) {
	t.Helper()
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: w.url + "/mcp" + query, HTTPClient: &http.Client{Transport: bearer{token, base}}, MaxRetries: -1,
	}, nil)
	if err == nil {
		t.Cleanup(func() {
			if err := session.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return session, err
}

func TestOfficialClient(t *testing.T) {
	w := openFilled(t)
	for login, want := range map[string][]string{
		"master": mcp.ToolNames(), "ada": mcp.MemberTools(), "eve": auditorTools,
	} {
		session, err := connect(t, w, w.tokens[login], "")
		if err != nil {
			t.Fatal(err)
		}
		if v := session.InitializeResult().ProtocolVersion; !slices.Contains([]string{"2025-03-26", "2025-06-18", "2025-11-25"}, v) {
			t.Errorf("negotiated %q, want one that the server speaks", v)
		}
		if err := session.Ping(t.Context(), nil); err != nil {
			t.Errorf("Ping: %v", err)
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tool := range list.Tools {
			got = append(got, tool.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("ListTools as %s = %v, want %v", login, got, want)
		}
		if n := threads(t, w, login); n != 1 {
			t.Errorf("threads of %s = %d, want 1", login, n)
		}
	}
}

func TestOfficialClientCalls(t *testing.T) {
	w := openFilled(t)
	for _, query := range []string{"", "?names=_", "?format=json"} {
		session, err := connect(t, w, w.tokens["master"], query)
		if err != nil {
			t.Fatal(err)
		}
		tag := fmt.Sprint("q", len(query))
		for _, c := range []struct {
			tool      string
			arguments any
			want      string // in the text
		}{
			{"telemetry.stats", nil, `"seq":`},
			{"logs.query", map[string]any{"severity": "ERROR"}, "payment refused"},
			{"traces.query", map[string]any{}, "POST /checkout"},
			{"traces.query", map[string]any{"traceId": "4bf92f35"}, "charge card"},
			{"traces.query", map[string]any{"minDurationMs": 500.5}, "charge card"},
			{"metrics.query", map[string]any{}, "queue.depth"},
			{"metrics.query", map[string]any{"name": "queue.depth"}, "8"},
			{"customers.create", map[string]any{"name": tag, "email": tag + "@example.com"}, tag + "@example.com"},
			{"customers.list", map[string]any{"limit": 1}, tag},
			{"users.create", map[string]any{"login": tag}, tag},
			{"users.set_role", map[string]any{"login": tag, "role": "auditor"}, "auditor"},
			{"users.list", nil, tag},
			{"users.delete", map[string]any{"login": tag}, tag},
			{"roles.create", map[string]any{"name": tag, "tools": []string{"logs.query"}}, tag},
			{"roles.list", nil, tag},
			{"roles.delete", map[string]any{"name": tag}, tag},
		} {
			name := c.tool
			if query == "?names=_" {
				name = strings.ReplaceAll(name, ".", "_")
			}
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: c.arguments})
			if err != nil {
				t.Errorf("%s %v: %v", name, c.arguments, err)
				continue
			}
			if text := textOf(r); r.IsError || !strings.Contains(text, c.want) {
				t.Errorf("%s %v = %v %s, want %q in it", name, c.arguments, r.IsError, text, c.want)
			}
			if (r.StructuredContent != nil) != (query == "?format=json") {
				t.Errorf("%s%s: structuredContent %v", name, query, r.StructuredContent)
			}
		}
	}
}

func textOf(r *sdk.CallToolResult) string {
	if len(r.Content) == 1 {
		if text, ok := r.Content[0].(*sdk.TextContent); ok {
			return text.Text
		}
	}
	return ""
}

func TestOfficialClientUnknownTool(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	session, err := connect(t, w, w.tokens["ada"], "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"chats.list", "users.list"} {
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name})
		if err != nil || !r.IsError || textOf(r) != "unknown tool "+name {
			t.Errorf("CallTool(%s) = %+v, %v, want isError and unknown tool %s", name, r, err, name)
		}
	}
	if _, err := session.ListResources(t.Context(), nil); err == nil {
		t.Error("ListResources works, want an error")
	}
}

func TestOfficialClientWithoutToken(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	for _, token := range []string{"", "sonde_wrong"} {
		if _, err := connect(t, w, token, ""); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
			t.Errorf("Connect with token %q = %v, want Unauthorized", token, err)
		}
	}
}
