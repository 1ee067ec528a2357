package mcp

import (
	"fmt"
	"strings"
	"time"

	"sonde/query/answer"
)

const (
	defaultRows = 100
	// maxTableBytes is the budget of a table whose limit the caller set: a table
	// has no next page to turn to.
	maxTableBytes = 48_000
)

// table is an answer of rows: a first line that says what they are, then one
// line a row, its cells parted by tabs. No cell can forge a row or a cell: all
// are cleaned, and Clean leaves neither newlines nor tabs.
type table struct {
	noun    string // plural: "customers"
	order   string // "newest first"
	columns []string
	rows    [][]string
	total   int
	notes   []string
}

// text writes the table within a budget, in whole rows.
func (t table) text(a *arguments, bytes int) string {
	if a.has("limit") {
		bytes = max(bytes, maxTableBytes)
	}
	var body strings.Builder
	shown := 0
	room := bytes - len(t.head(t.total, "")) - 40 // 40: what head says of a cut
	for _, row := range t.rows {
		line := cells(row)
		if body.Len()+len(line)+1 > room {
			break
		}
		body.WriteByte('\n')
		body.WriteString(line)
		shown++
	}
	cutNote := ""
	if shown < len(t.rows) {
		cutNote = fmt.Sprintf("; cut at %d bytes", bytes)
	}
	return t.head(shown, cutNote) + body.String()
}

func (t table) head(shown int, cutNote string) string {
	s := fmt.Sprintf("%s %d of %d", t.noun, shown, t.total)
	if shown > 1 {
		s += ", " + t.order
	}
	for _, note := range t.notes {
		s += "; " + note
	}
	s += cutNote
	if len(t.rows) > 0 {
		s += ": " + strings.Join(t.columns, ", ")
	}
	return s
}

// cells joins the cells of a row; an empty one is a dash.
func cells(row []string) string {
	clean := make([]string, len(row))
	for i, cell := range row {
		if clean[i] = answer.Clean(cell); clean[i] == "" {
			clean[i] = "-"
		}
	}
	return strings.Join(clean, "\t")
}

// one writes a single row with the name of each cell: what became of a write.
// Empty cells are left out.
func (t table) one(what string, row []string) string {
	var b strings.Builder
	b.WriteString(what)
	sep := ": "
	for i, cell := range row {
		if cell == "" {
			continue
		}
		b.WriteString(sep + t.columns[i] + "=" + word(answer.Clean(cell)))
		sep = " "
	}
	return b.String()
}

// word quotes a value that would not read as one word.
func word(s string) string {
	if strings.ContainsAny(s, " \"=,") {
		return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
	}
	return s
}

// when writes a time to the second, "" for none.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// tableJSON returns a table for programs: its rows under their noun, how many
// there are in all, and what was taken otherwise than it was sent.
func tableJSON[T any](noun string, rows []T, total int, notes []string) (reply, error) {
	v := map[string]any{noun: notNil(rows), "total": total}
	if len(notes) > 0 {
		v["notes"] = notes
	}
	return jsonReply(v)
}

// jsonReply returns the reply for programs.
func jsonReply(v any) (reply, error) {
	b, err := marshal(v)
	return reply{json: b}, err
}

// notNil makes an empty list [] in JSON, not null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
