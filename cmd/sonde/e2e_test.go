package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestDemoIsFound sends the demo through the OpenTelemetry SDK and finds its
// fault the way an agent would, with the official MCP client.
func TestDemoIsFound(t *testing.T) {
	p := startProcess(t, t.TempDir(), masterToken)
	demo := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(p.stderr.Name()), "sonde"),
		"demo", "--endpoint", p.at.GRPC, "--for", "3s", "--rate", "100")
	if out, err := demo.CombinedOutput(); err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	session, err := connectMCP(t.Context(), p.at.HTTP, masterToken, "")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	ask := func(tool string, arguments map[string]any) string {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content[0].(*mcp.TextContent).Text
		if result.IsError {
			t.Fatalf("%s(%v) failed: %s", tool, arguments, text)
		}
		return text
	}
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      []string
	}{
		{"logs.query", map[string]any{"severity": "ERROR"}, []string{"payment authorization failed", "nordbank", "pool exhausted"}},
		{"logs.query", map[string]any{"contains": "max_connections"}, []string{"configuration reloaded", "payments"}},
		{"traces.query", map[string]any{"name": "POST /authorize", "minDurationMs": 2900}, []string{"payments", "nordbank"}},
		{"traces.query", nil, []string{"gateway", "checkout"}},
		{"metrics.query", nil, []string{"shop.orders", "http.server.request.duration", "payments.acquirer.connections.limit"}},
		{"metrics.query", map[string]any{"name": "payments.acquirer.connections.limit"}, []string{"nordbank"}},
		{"telemetry.stats", nil, []string{"logs", "traces", "metrics", "seq"}},
	} {
		text := ask(c.tool, c.arguments)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s(%v) does not mention %q:\n%s", c.tool, c.arguments, want, text)
			}
		}
	}
	p.end(os.Interrupt)
}

func TestListShowsThirteenTools(t *testing.T) {
	p := startProcess(t, t.TempDir(), masterToken)
	session, err := connectMCP(t.Context(), p.at.HTTP, masterToken, "")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	want := []string{
		"telemetry.stats", "logs.query", "traces.query", "metrics.query", "customers.list", "customers.create",
		"users.list", "users.create", "users.set_role", "users.delete", "roles.list", "roles.create", "roles.delete",
	}
	if !slices.Equal(names, want) {
		t.Errorf("tools/list = %q, want %q", names, want)
	}
	if _, err := connectMCP(t.Context(), p.at.HTTP, "wrong", ""); err == nil {
		t.Error("a wrong token was let in")
	}
	p.end(os.Interrupt)
}
