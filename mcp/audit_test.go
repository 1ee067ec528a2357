package mcp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sonde/mcp"
	"sonde/storage/accounts"
)

// TestAudit: every write and every refusal is a line; reading is not.
func TestAudit(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	for _, c := range []struct{ login, tool, arguments string }{
		{"ada", "roles.list", `{}`},
		{"ada", "roles.list", `{"a":1}`},
		{"ada", "customers_create", `{"name":"Acme", "email":"a@example.com"}`},
		{"ada", "customers.create", `{"name":"Acme","email":"a@example.com"}`},
		{"ada", "users_delete", `{"login":"eve"}`},
		{"eve", "users.set_role", `{"login":"eve","role":"master"}`},
		{"ada", "chats\n.list", `{"token":"abc","note":"use ` + w.tokens["ada"] + `"}`},
		{"ada", "customers.create", `{"plan":3}`},
		{"ada", w.tokens["ada"], `null`},
		{"master", "roles.create", `{"name":"` + strings.Repeat("é", 2000) + `","soul":"` + strings.Repeat("é", 500) + `","tools":["logs.query"]}`},
	} {
		w.call(t, c.login, "", c.tool, c.arguments)
	}
	log, err := w.db.AuditLog(0)
	if err != nil {
		t.Fatal(err)
	}
	want := []accounts.AuditEntry{
		{Login: "ada", Tool: "***", Outcome: "refused: unknown tool"},
		{Login: "ada", Tool: "customers.create", Arguments: `{"plan":3}`, Outcome: "error: missing argument name; customers.create takes name (required), email (required), plan; try customers.create {\"name\":\"Ada Lovelace\",\"email\":\"ada@example.com\",\"plan\":3}"},
		{Login: "ada", Tool: `chats\n.list`, Arguments: `{"note":"use ***","token":"***"}`, Outcome: "refused: unknown tool"},
		{Login: "eve", Tool: "users.set_role", Arguments: `{"login":"eve","role":"master"}`},
		{Login: "ada", Tool: "users_delete", Arguments: `{"login":"eve"}`, Outcome: "refused: unknown tool"},
		{Login: "ada", Tool: "customers.create", Arguments: `{"email":"a@example.com","name":"Acme"}`},
		{Login: "ada", Tool: "customers.create", Arguments: `{"email":"a@example.com","name":"Acme"}`, Outcome: "ok"},
	}
	if len(log) != len(want)+1 {
		t.Fatalf("AuditLog = %d lines, want %d: %+v", len(log), len(want)+1, log)
	}
	long := log[0]
	if n := len(long.Arguments); n > 4096 || n < 4090 || long.Tool != "roles.create" || !strings.HasPrefix(long.Outcome, "error: name: got ") {
		t.Errorf("AuditLog: long arguments have %d bytes in %s, %q; want them cut at 4096", n, long.Tool, long.Outcome)
	}
	for i, got := range log[1:] {
		if !got.Time.Equal(noon) {
			t.Errorf("AuditLog: line %d is of %v, want %v", i, got.Time, noon)
		}
		got.Time = want[i].Time
		// How accounts words what it refuses is its own affair.
		if prefix := map[int]string{3: "refused: role: got ", 5: "error: email: got "}[i]; prefix != "" && strings.HasPrefix(got.Outcome, prefix) {
			got.Outcome = ""
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("AuditLog: line %d (-want +got):\n%s", i, diff)
		}
	}
}
