package query_test

import (
	"strings"
	"testing"

	"sonde/query"
)

func TestDistance(t *testing.T) {
	long := strings.Repeat("ä", 100)
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"sevrity", "severity", 1},
		{"retenton", "retention", 1},
		{"kitten", "sitting", 3},
		{"flaw", "lawn", 2},
		{"TraceID", "traceId", 0},
		{"Käse", "kase", 1},
		{"\xff", "", 1},
		{long + "one", long + "another", 0},
		{strings.Repeat("a", 1000), "", 100},
	} {
		if got := query.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
