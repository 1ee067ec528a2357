package answer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns recorded text as answers show it: on one line, without control
// characters, terminal sequences, direction overrides, invisible characters.
// A newline is shown as \n, a tab as \t, a carriage return as \r, invalid UTF-8
// as U+FFFD. Clean text is returned as it is.
func Clean(s string) string {
	i := firstUnclean(s)
	if i == len(s) {
		return s
	}
	b := make([]byte, i, len(s)+16)
	copy(b, s)
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, "\uFFFD"...)
		case r == '\n' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\x1b':
			size += sequenceLen(s[i+size:])
		case r >= 0x80 && r <= 0x9f:
			// A C1 control is ESC and the letter 0x40 below it, in one.
			size += stringLen(byte(r-0x40), s[i+size:])
		case !invisible(r):
			b = append(b, s[i:i+size]...)
		}
		i += size
	}
	return string(b)
}

// firstUnclean returns the offset of the first character that Clean changes,
// len(s) when there is none.
func firstUnclean(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || unclean(r) {
			return i
		}
		i += size
	}
	return len(s)
}

// unclean reports whether Clean changes r.
func unclean(r rune) bool { return r == '\u2028' || r == '\u2029' || invisible(r) }

// invisible reports whether r has no form of its own on the page: the controls,
// and what Unicode calls default ignorable. Those carry direction overrides,
// zero-width characters, tags and variation selectors, in which text can be
// hidden from a person while a model reads it.
func invisible(r rune) bool {
	if r < 0x20 || r >= 0x7f && r <= 0x9f {
		return true
	}
	if r < 0xad {
		return false
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// sequenceLen returns how long the rest of a terminal sequence is that ESC
// opened (ECMA-48). Where it is broken off, only its opening is dropped, so that
// the text after it is not lost.
func sequenceLen(s string) int {
	if s == "" {
		return 0
	}
	if s[0] >= '@' && s[0] <= '_' {
		return 1 + stringLen(s[0], s[1:])
	}
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] <= '/' {
		i++
	}
	if i < len(s) && s[i] >= '0' && s[i] <= '~' {
		return i + 1
	}
	return 0
}

// stringLen returns how much of s belongs to the control function that the
// letter opened: the parameters of CSI, or the string of OSC, DCS, SOS, PM and
// APC with its terminator.
func stringLen(letter byte, s string) int {
	switch letter {
	case '[':
		i := 0
		for i < len(s) && s[i] >= ' ' && s[i] <= '?' {
			i++
		}
		if i < len(s) && s[i] >= '@' && s[i] <= '~' {
			return i + 1
		}
	case ']', 'P', 'X', '^', '_':
		end := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x9c })
		switch {
		case end < 0:
		case s[end] == '\a':
			return end + 1
		case strings.HasPrefix(s[end:], "\x1b\\"), strings.HasPrefix(s[end:], "\u009c"):
			return end + 2
		}
	}
	return 0
}

// cut shortens clean text to about limit bytes at the border of a rune and says
// how many bytes are left. Text only a little longer stays whole.
func cut(s string, limit int) string {
	if len(s) <= limit+limit/16 {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…(+" + strconv.Itoa(len(s)-end) + "B)"
}

// appendWord appends text that must stay one word: clean, cut, and in quotes
// when it is empty or has blanks, quotes or braces in it.
func appendWord(dst []byte, s string, limit int) []byte {
	clean := Clean(s)
	if clean != "" && !strings.ContainsFunc(s, breaksWord) {
		return append(dst, cut(clean, limit)...)
	}
	dst = append(dst, '"')
	// Escaping comes before cleaning: so \n stays what a newline looks like,
	// while a recorded backslash is doubled.
	dst = append(dst, cut(Clean(wordEscaper.Replace(s)), limit)...)
	return append(dst, '"')
}

var wordEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func breaksWord(r rune) bool {
	return r == '"' || r == '{' || r == '}' || unicode.IsSpace(r)
}

// echo quotes an argument back to whom it came from, cut at 100 bytes.
func echo(arg string) string { return `"` + cut(Clean(wordEscaper.Replace(arg)), 100) + `"` }
