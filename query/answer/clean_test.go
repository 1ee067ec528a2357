package answer_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"sonde/query/answer"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain text, ünïcödé 漢字 🙂", "plain text, ünïcödé 漢字 🙂"},
		{"a\nb\r\nc\td", `a\nb\r\nc\td`},
		{"a\u0085b\u2028c\u2029d", `a\nb\nc\nd`},
		{`C:\new`, `C:\new`},
		{"a\x00b\x07c\x7fd", "abcd"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b[38;2;1;2;3mtrue\x1b[m color", "true color"},
		{"\u009b31mc1\u009b0m", "c1"},
		{"\x1b]8;;http://evil\x07link\x1b]8;;\x1b\\ here", "link here"},
		{"\u009d0;title\u009cx", "x"},
		{"\x1bP1$r\x1b\\dcs", "dcs"},
		{"\x1b(Bset \x1b7save", "set save"},
		{"broken \x1b[31", "broken 31"},
		{"open \x1b]0;title\nnot swallowed", `open 0;title\nnot swallowed`},
		{"\x1b\x1b[1mtwice", "twice"},
		{"\x1b[1\x1b[2mnested", "1nested"},
		{"bidi \u202a\u202b\u202d\u202e\u202c\u2066\u2067\u2068\u2069\u200e\u200f\u061c.", "bidi ."},
		{"zero \u200b\u200c\u200d\u2060\ufeff\u00ad\u180e.", "zero ."},
		{"tags \U000e0001\U000e0041\U000e007f.", "tags ."},
		{"selectors \ufe0f\U000e0100.", "selectors ."},
		{"fillers \u115f\u3164\uffa0.", "fillers ."},
		{"arabic sign \u0600 stays", "arabic sign \u0600 stays"},
		{"bad \xff\xc3 utf8\xed\xa0\x80", "bad \ufffd\ufffd utf8\ufffd\ufffd\ufffd"},
	} {
		if got := answer.Clean(c.in); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\nb", "\x1b[31mred", "\u202e", "\xff\x9b31m", "\x1b]0;t\x07", "\U000e0041", "é\u0085"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := answer.Clean(in)
		if again := answer.Clean(got); again != got {
			t.Errorf("Clean(%q) = %q, cleaned again %q", in, got, again)
		}
		if !utf8.ValidString(got) {
			t.Errorf("Clean(%q) = %q, which is not UTF-8", in, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 ||
				r >= 0xe0000 && r <= 0xe007f || r >= 0x200b && r <= 0x200d || r == 0xfeff {
				t.Errorf("Clean(%q) = %q, which has %U", in, got, r)
			}
		}
		// Visible ASCII stays, unless a terminal sequence took it along.
		if !strings.ContainsAny(in, "\x1b") && !strings.ContainsFunc(in, unicode.IsControl) {
			kept := func(s string) string {
				return strings.Map(func(r rune) rune {
					if r > ' ' && r < 0x7f && r != '\\' && r != 'n' {
						return r
					}
					return -1
				}, s)
			}
			if kept(in) != kept(got) {
				t.Errorf("Clean(%q) = %q, which lost text", in, got)
			}
		}
	})
}
