package mcp_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sonde/mcp"
)

// TestTableBudget: a table is cut at whole rows, and its first line says so.
func TestTableBudget(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	const total = 260
	name := strings.Repeat("n", 190)
	for i := range total {
		if _, err := w.db.CreateCustomer(name, fmt.Sprintf("c%d@example.com", i), ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		arguments string
		most, min int
		wantRows  int // 0: as many as fit
		cut       string
	}{
		{`{}`, 9500, 9000, 0, "; cut at 9500 bytes: id, "},
		{`{"limit":20}`, 9500, 4000, 20, ""},
		{`{"limit":1000}`, 48000, 47000, 0, "; cut at 48000 bytes: id, "},
		{`{"limit":1001}`, 48000, 47000, 0, "; limit 1001 taken as 1000; cut at 48000 bytes: id, "},
	} {
		text := w.call(t, "ada", "", "customers.list", c.arguments).text()
		head, body, _ := strings.Cut(text, "\n")
		rows := strings.Split(body, "\n")
		if len(text) > c.most || len(text) < c.min {
			t.Errorf("customers.list %s has %d bytes, want %d to %d", c.arguments, len(text), c.min, c.most)
		}
		if want := fmt.Sprintf("customers %d of %d", len(rows), total); !strings.HasPrefix(head, want) || !strings.Contains(head, c.cut) {
			t.Errorf("customers.list %s begins %q, want %q and %q", c.arguments, head, want, c.cut)
		}
		if c.wantRows > 0 && len(rows) != c.wantRows {
			t.Errorf("customers.list %s has %d rows, want %d", c.arguments, len(rows), c.wantRows)
		}
		whole := regexp.MustCompile(`^c\d+\tn{190}\tc\d+@example\.com\t-\t2026-11-30T12:00:00Z$`)
		for _, row := range rows {
			if !whole.MatchString(row) {
				t.Errorf("customers.list %s has the row %q, want whole ones", c.arguments, row)
			}
		}
	}
}
