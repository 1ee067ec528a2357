package mcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sonde/mcp"
)

// maxListBytes is promised: every conversation pays for the list.
const maxListBytes = 3200

func TestListIsSmall(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	for _, query := range []string{"", "?names=_"} {
		x := w.post(t, "master", query, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if len(x.body) > maxListBytes {
			t.Errorf("tools/list%s has %d bytes, want at most %d", query, len(x.body), maxListBytes)
		}
	}
}

func TestListOfEachRole(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	for login, want := range map[string][]string{
		"master": mcp.ToolNames(),
		"ada":    mcp.MemberTools(),
		"eve":    auditorTools,
	} {
		for range 2 { // the second comes from the cache
			if diff := cmp.Diff(want, names(w.list(t, login, ""))); diff != "" {
				t.Errorf("tools/list as %s (-want +got):\n%s", login, diff)
			}
			var spelled []string
			for _, name := range want {
				spelled = append(spelled, strings.ReplaceAll(name, ".", "_"))
			}
			if diff := cmp.Diff(spelled, names(w.list(t, login, "?names=_"))); diff != "" {
				t.Errorf("tools/list?names=_ as %s (-want +got):\n%s", login, diff)
			}
		}
	}
}

func TestNamesOption(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{Underscore: true})
	for query, want := range map[string]string{"": "telemetry_stats", "?names=.": "telemetry.stats", "?names=_": "telemetry_stats"} {
		if got := w.list(t, "ada", query)[0].Name; got != want {
			t.Errorf("first tool of tools/list%s = %q, want %q", query, got, want)
		}
	}
}

func TestListAnnotations(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	got := map[string]string{}
	for _, tool := range w.list(t, "master", "") {
		for _, hint := range slices.Sorted(maps.Keys(tool.Annotations)) {
			got[tool.Name] += fmt.Sprintf("%s %v", hint, tool.Annotations[hint])
		}
	}
	want := map[string]string{
		"telemetry.stats": "readOnlyHint true", "logs.query": "readOnlyHint true", "traces.query": "readOnlyHint true",
		"metrics.query": "readOnlyHint true", "customers.list": "readOnlyHint true", "users.list": "readOnlyHint true",
		"roles.list":       "readOnlyHint true",
		"customers.create": "destructiveHint false", "users.create": "destructiveHint false", "roles.create": "destructiveHint false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// TestListSchemas holds the schemas to what every model API takes.
func TestListSchemas(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	for _, tool := range w.list(t, "master", "") {
		if tool.Description == "" || len(tool.Description) > 120 {
			t.Errorf("%s: description %q, want 1 to 120 bytes", tool.Name, tool.Description)
		}
		var schema map[string]any
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		if _, has := schema["properties"]; schema["type"] != "object" || !has {
			t.Errorf("%s: schema %s, want an object with properties", tool.Name, tool.InputSchema)
		}
		checkSchema(t, tool.Name, schema)
	}
}

func checkSchema(t *testing.T, at string, schema map[string]any) {
	t.Helper()
	for key, value := range schema {
		switch key {
		case "type":
			if kind, _ := value.(string); !slices.Contains([]string{"object", "string", "integer", "number", "array"}, kind) {
				t.Errorf("%s: type %v", at, value)
			}
		case "properties":
			for name, inner := range value.(map[string]any) {
				checkSchema(t, at+"."+name, inner.(map[string]any))
			}
		case "items":
			checkSchema(t, at+"[]", value.(map[string]any))
		case "required":
			properties := schema["properties"].(map[string]any)
			for _, name := range value.([]any) {
				if _, has := properties[name.(string)]; !has {
					t.Errorf("%s: requires %v, which it does not have", at, name)
				}
			}
		case "description":
			if text, _ := value.(string); text == "" {
				t.Errorf("%s: empty description", at)
			}
		default:
			t.Errorf("%s: key %q, want only type, properties, required, items, description", at, key)
		}
	}
	if schema["type"] == "array" && schema["items"] == nil {
		t.Errorf("%s: an array without items", at)
	}
}
