package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sonde/mcp"
)

// TestListAndCallAgree: for every role, what tools/list shows is what
// tools/call runs, under both spellings, and nothing else. The calls have an
// argument that no tool takes, so none of them does anything.
func TestListAndCallAgree(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	for login := range w.tokens {
		dotted, underscored := names(w.list(t, login, "")), names(w.list(t, login, "?names=_"))
		for _, name := range mcp.ToolNames() {
			other := strings.ReplaceAll(name, ".", "_")
			listed := slices.Contains(dotted, name)
			if slices.Contains(underscored, other) != listed {
				t.Errorf("%s: %s is listed %v, %s is not so", login, name, listed, other)
			}
			for _, spelling := range []string{name, other} {
				r := w.call(t, login, "", spelling, `{"no such argument":1}`)
				unknown := r.text() == "unknown tool "+spelling
				refused := strings.HasPrefix(r.text(), `unknown argument "no such argument"`)
				if !r.IsError || unknown == listed || refused != listed {
					t.Errorf("%s: %s is listed %v, the call answers %q", login, spelling, listed, r.text())
				}
			}
		}
	}
}

// TestOnCall: what is counted has few names, whatever callers send.
func TestOnCall(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	w.call(t, "ada", "", "chats.list", `{}`)
	w.call(t, "ada", "", "users_list", `{}`)
	w.call(t, "ada", "", "roles_list", `{}`)
	w.call(t, "ada", "", "roles.list", `{"a":1}`)
	w.call(t, "eve", "", "users.set_role", `{"login":"eve","role":"master"}`)
	w.call(t, "master", "", "users.delete", `{"login":"nobody"}`)
	got := fmt.Sprint(w.onCalls.take())
	const want = "[unknown refused unknown refused roles.list ok roles.list invalid users.set_role refused users.delete invalid]"
	if got != want {
		t.Errorf("OnCall was told %s, want %s", got, want)
	}
}
