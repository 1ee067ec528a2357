package otlp

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// fold returns the one letter that stands for all letters equal to r under
// Unicode simple case folding: the lower-case ASCII letter if there is one, as
// for K (the Kelvin sign) and ſ, else the first in code point order.
func fold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return rune(lowerASCII(byte(least)))
	}
	return least
}

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// AppendLower appends src with its ASCII letters in lower case, and reports
// whether all of src is ASCII.
func AppendLower(dst, src []byte) (lowered []byte, ascii bool) {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	at := len(dst)
	dst = append(dst, src...)
	out := dst[at:]
	var seen uint64
	// Eight bytes at a time: in each, the high bit of fromA is set from 'A' on,
	// that of pastZ after 'Z', and what lies between gets the bit 0x20.
	for len(out) >= 8 {
		w := binary.LittleEndian.Uint64(out)
		seen |= w
		low := w &^ highs
		fromA := low + (0x80-'A')*ones
		pastZ := low + (0x80-'Z'-1)*ones
		binary.LittleEndian.PutUint64(out, w|(fromA&^pastZ&^w&highs)>>2)
		out = out[8:]
	}
	for i, c := range out {
		seen |= uint64(c)
		out[i] = lowerASCII(c)
	}
	return dst, seen&highs == 0
}

// Folder folds text, so that texts are equal that differ in case alone. It
// remembers letters, of which a text has few. It is not for concurrent use.
type Folder struct {
	from, to [256]rune
}

// AppendFold appends src with every letter folded. Bytes that are no UTF-8 stay
// as they are.
func (f *Folder) AppendFold(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		if src[i] < utf8.RuneSelf {
			dst = append(dst, lowerASCII(src[i]))
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, src[i])
		} else {
			dst = utf8.AppendRune(dst, f.fold(r))
		}
		i += size
	}
	return dst
}

func (f *Folder) fold(r rune) rune {
	slot := r % rune(len(f.from))
	if f.from[slot] != r {
		f.from[slot], f.to[slot] = r, fold(r)
	}
	return f.to[slot]
}
