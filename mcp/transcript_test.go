package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestTranscripts plays testdata/*.txtar. Each archive gets a world of its own.
// Each file in it is one call: a line "> LOGIN [?QUERY] TOOL ARGUMENTS", then
// the answer: its text as a reader sees it, under "isError:" where it failed,
// and where there is structuredContent the same once more, indented. The TOOL
// tools/list, without arguments, stands for that method: a line a name.
// -update writes the answers down.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("testdata/*.txtar = %v, %v, want some", paths, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			w := openFilled(t)
			for i := range a.Files {
				f := &a.Files[i]
				ask, want, _ := strings.Cut(string(f.Data), "\n")
				got := w.play(t, ask)
				f.Data = []byte(ask + "\n" + got)
				if !*update && got != want {
					t.Errorf("%s: %s (-want +got):\n%s", f.Name, ask, cmp.Diff(want, got))
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var asked = regexp.MustCompile(`^> (\w+) (?:(\?\S+) )?(\S*) (.*)$`)

// play sends the call of one line and renders the answer.
func (w *world) play(t *testing.T, ask string) string {
	t.Helper()
	m := asked.FindStringSubmatch(ask)
	if m == nil || w.tokens[m[1]] == "" {
		t.Fatalf("cannot read %q, want > LOGIN [?QUERY] TOOL ARGUMENTS", ask)
	}
	if m[3] == "tools/list" {
		return strings.Join(names(w.list(t, m[1], m[2])), "\n") + "\n"
	}
	x := w.post(t, m[1], m[2], `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+m[3]+`","arguments":`+m[4]+`}}`)
	var answer struct {
		JSONRPC string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Result  struct {
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
			Structured json.RawMessage `json:"structuredContent"`
			IsError    *bool           `json:"isError"`
		} `json:"result"`
	}
	d := json.NewDecoder(strings.NewReader(x.body))
	d.DisallowUnknownFields()
	err := d.Decode(&answer)
	r := answer.Result
	if err != nil || x.status != 200 || answer.JSONRPC != "2.0" || answer.ID != 1 || len(r.Content) != 1 || r.Content[0].Type != "text" {
		t.Fatalf("%s = %d %s, want a result with one text block (%v)", ask, x.status, x.body, err)
	}
	var b strings.Builder
	if r.IsError != nil {
		if !*r.IsError {
			t.Errorf("%s: isError is false, want it left out", ask)
		}
		b.WriteString("isError:\n")
	}
	text := r.Content[0].Text
	b.WriteString(text + "\n")
	if r.Structured != nil {
		if string(r.Structured) != text {
			t.Errorf("%s: structuredContent %s differs from the text", ask, r.Structured)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, r.Structured, "", "  "); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "structuredContent:\n%s\n", &indented)
	}
	return varying.ReplaceAllString(b.String(), "${1}N")
}

// varying are the numbers that differ from run to run: sizes on disk and how
// long it took to write.
var varying = regexp.MustCompile(`("(?:bytes|meanCommitMs)": ?)[0-9.]+`)
