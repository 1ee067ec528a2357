package otlp

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// AppendText appends the text of a value as the data model renders it for
// people (common/README.md, "AnyValue representation for non-OTLP protocols"):
// strings as they are, bytes as base64, empty as nothing, numbers and bools in
// JSON's form with NaN, Infinity and -Infinity spelled so, arrays and maps as
// compact JSON without HTML escaping. Search and answers use this one form.
// On a repeated key of a map the first wins. Invalid UTF-8 becomes U+FFFD.
func AppendText(dst []byte, v pcommon.Value) []byte {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return dst
	case pcommon.ValueTypeStr:
		return appendString(dst, v.Str())
	case pcommon.ValueTypeBytes:
		return base64.StdEncoding.AppendEncode(dst, v.Bytes().AsRaw())
	case pcommon.ValueTypeDouble:
		return appendDouble(dst, v.Double())
	}
	return AppendJSON(dst, v)
}

// AppendJSON appends v as a JSON value: as AppendText, but strings (and bytes,
// NaN and the infinities) quoted and empty as null.
func AppendJSON(dst []byte, v pcommon.Value) []byte {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return appendQuoted(dst, v.Str())
	case pcommon.ValueTypeBool:
		return strconv.AppendBool(dst, v.Bool())
	case pcommon.ValueTypeInt:
		return strconv.AppendInt(dst, v.Int(), 10)
	case pcommon.ValueTypeDouble:
		return appendJSONDouble(dst, v.Double())
	case pcommon.ValueTypeBytes:
		return appendJSONBytes(dst, v.Bytes().AsRaw())
	case pcommon.ValueTypeSlice:
		dst = append(dst, '[')
		for i, element := range v.Slice().All() {
			dst = appendComma(dst, i)
			dst = AppendJSON(dst, element)
		}
		return append(dst, ']')
	case pcommon.ValueTypeMap:
		return appendJSONMap(dst, v.Map())
	}
	return append(dst, "null"...)
}

func appendJSONMap(dst []byte, m pcommon.Map) []byte {
	dst = append(dst, '{')
	var keys keySet[string]
	for key, v := range m.All() {
		if !keys.add(key) {
			continue
		}
		dst = appendComma(dst, keys.n-1)
		dst = appendQuoted(dst, key)
		dst = append(dst, ':')
		dst = AppendJSON(dst, v)
	}
	return append(dst, '}')
}

// appendComma appends what separates element i from the one before.
func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// appendString appends s with each byte that is not of valid UTF-8 replaced by
// U+FFFD.
func appendString[T string | []byte](dst []byte, s T) []byte {
	done := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		size := runeSize(s, i)
		if size == 0 {
			dst = append(dst, s[done:i]...)
			dst = utf8.AppendRune(dst, utf8.RuneError)
			i++
			done = i
		}
		i += size
	}
	return append(dst, s[done:]...)
}

// runeSize returns how many bytes the rune at s[i:] has, 0 when there is none.
func runeSize[T string | []byte](s T, i int) int {
	c, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
	if c == utf8.RuneError && size <= 1 {
		return 0
	}
	return size
}

// appendDouble appends the shortest number that reads back as f, in the form
// that encoding/json writes. NaN and the infinities have no form in JSON.
func appendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1] // e-09 is e-9
		dst = dst[:n-1]
	}
	return dst
}

func appendJSONDouble(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		dst = append(dst, '"')
		dst = appendDouble(dst, f)
		return append(dst, '"')
	}
	return appendDouble(dst, f)
}

func appendJSONBytes(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendQuoted appends s as a JSON string that escapes only what it must, so
// that a search for a text finds it in structured values too.
func appendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = appendString(dst, s[done:i])
		dst = appendEscape(dst, c)
		done = i + 1
	}
	dst = appendString(dst, s[done:])
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '\n':
		c = 'n'
	case '\r':
		c = 'r'
	case '\t':
		c = 't'
	case '"', '\\':
	default:
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
	}
	return append(dst, '\\', c)
}

// fewKeys is where looking at each key starts to cost more than hashing.
const fewKeys = 16

// keySet remembers the keys of one map, of which nearly all have few.
type keySet[T string | []byte] struct {
	few  [fewKeys]T
	n    int
	many map[string]struct{} // all keys once they are more than few
}

// add reports whether the key is new.
func (s *keySet[T]) add(key T) bool {
	if s.many != nil {
		s.many[string(key)] = struct{}{}
		added := len(s.many) > s.n
		s.n = len(s.many)
		return added
	}
	for _, k := range s.few[:s.n] {
		if string(k) == string(key) {
			return false
		}
	}
	if s.n < fewKeys {
		s.few[s.n] = key
		s.n++
		return true
	}
	s.many = make(map[string]struct{}, 4*fewKeys)
	for _, k := range s.few {
		s.many[string(k)] = struct{}{}
	}
	return s.add(key)
}
