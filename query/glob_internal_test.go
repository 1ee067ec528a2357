package query

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"GET /cart", "GET /cart", true},
		{"GET /cart", "get /cart", false},
		{"GET /cart", "GET /cart/1", false},
		{"GET *", "GET /cart", true},
		{"*cart", "GET /cart", true},
		{"*/*", "GET /cart", true},
		{"*", "", true},
		{"**", "x", true},
		{"a*a", "a", false},
		{"a*b*a", "aba", true},
		{"a*ab", "aab", true},
		{"a*bc*c", "abcc", true},
		{"a*bc*c", "abc", false},
		{"/files/*", "/files/*", true},
	} {
		if got := newGlob(tt.pattern).matches([]byte(tt.name)); got != tt.want {
			t.Errorf("glob %q matches %q = %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
}

func TestGlobAsRegexp(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	text := func(alphabet string, max int) string {
		b := make([]byte, r.IntN(max+1))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	for range 20000 {
		pattern, name := text("ab*", 6), text("ab*", 8)
		parts := strings.Split(pattern, "*")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		want := regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(name)
		if got := newGlob(pattern).matches([]byte(name)); got != want {
			t.Fatalf("seed %d: glob %q matches %q = %v, want %v", seed, pattern, name, got, want)
		}
	}
}
