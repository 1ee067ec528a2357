package otlp_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"sonde/storage/otlp"
)

func TestFolderFoldsSimply(t *testing.T) {
	var f otlp.Folder
	fold := func(r rune) string { return string(f.AppendFold(nil, []byte(string(r)))) }
	for r := range rune(utf8.MaxRune + 1) {
		next := unicode.SimpleFold(r)
		if got, want := fold(next), fold(r); got != want {
			t.Errorf("AppendFold(%q) = %q, AppendFold(%q) = %q, want the same", next, got, r, want)
		}
		if got := fold(r); !strings.EqualFold(got, string(r)) {
			t.Errorf("AppendFold(%q) = %q, want a letter equal to it", r, got)
		}
	}
	if got, want := f.AppendFold([]byte("a"), []byte("B\xffC")), []byte("ab\xffc"); !bytes.Equal(got, want) {
		t.Errorf("AppendFold = %q, want %q: bytes that are no UTF-8 stay", got, want)
	}
}

func TestAppendLower(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	want := bytes.Clone(all)
	for c := 'A'; c <= 'Z'; c++ {
		want[c] = byte(c) + 'a' - 'A'
	}
	// From each offset, so that every byte is met at every place of a word.
	for start := range 9 {
		got, ascii := otlp.AppendLower([]byte("X"), all[start:])
		if !bytes.Equal(got, append([]byte("X"), want[start:]...)) || ascii {
			t.Errorf("AppendLower of the bytes from %d = %q, %t, want %q, false", start, got, ascii, want[start:])
		}
	}
	if got, ascii := otlp.AppendLower(nil, []byte("plain ASCII, no More")); string(got) != "plain ascii, no more" || !ascii {
		t.Errorf("AppendLower = %q, %t, want it in lower case, true", got, ascii)
	}
}
