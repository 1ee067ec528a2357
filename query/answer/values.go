package answer

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"sonde/storage/otlp"
)

// appendAttrs appends attributes as " {key=value key=value}", nothing when keep
// passes none. A nil keep passes all.
func appendAttrs(dst []byte, m pcommon.Map, keep func(string, pcommon.Value) bool) []byte {
	start, left := len(dst), 0
	for k, v := range m.All() {
		switch {
		case keep != nil && !keep(k, v):
			continue
		case len(dst)-start > attrsLimit:
			left++
			continue
		case len(dst) == start:
			dst = append(dst, " {"...)
		default:
			dst = append(dst, ' ')
		}
		dst = appendAttr(dst, k, v, valueLimit)
	}
	if len(dst) == start {
		return dst
	}
	if left > 0 {
		dst = strconv.AppendInt(append(dst, " …+"...), int64(left), 10)
	}
	return append(dst, '}')
}

func appendAttr(dst []byte, key string, v pcommon.Value, limit int) []byte {
	if strings.Contains(key, "=") {
		// Only quotes tell a "=" of the key from the one that follows it.
		dst = append(append(append(dst, '"'), cut(Clean(wordEscaper.Replace(key)), keyLimit)...), '"')
	} else {
		dst = appendWord(dst, key, keyLimit)
	}
	return appendValue(append(dst, '='), v, limit)
}

// appendValue appends a value as one word. JSON of arrays and maps needs no
// quotes: it ends where it ends.
func appendValue(dst []byte, v pcommon.Value, limit int) []byte {
	switch v.Type() {
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		return append(dst, cut(Clean(valueText(v)), limit)...)
	case pcommon.ValueTypeStr, pcommon.ValueTypeBytes, pcommon.ValueTypeEmpty:
		return appendWord(dst, valueText(v), limit)
	default:
		return otlp.AppendText(dst, v)
	}
}

func valueText(v pcommon.Value) string {
	if v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return string(otlp.AppendText(nil, v))
}

// appendDropped says how many things a client dropped itself, when it did.
func appendDropped(dst []byte, n uint32, what string) []byte {
	if n == 0 {
		return dst
	}
	return append(dst, " ("+count(int(n))+" "+what+" dropped)"...)
}

// shortTrace and shortSpan return the first 8 of an id's hex digits.
func shortTrace(id pcommon.TraceID) string { return hex.EncodeToString(id[:4]) }
func shortSpan(id pcommon.SpanID) string   { return hex.EncodeToString(id[:4]) }

// count returns n with a comma at every thousand.
func count[N int | uint64](n N) string {
	s := strconv.FormatUint(uint64(max(n, 0)), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural returns "1 span", "2 spans".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// duration returns d to three digits: "850µs", "12.3ms", "1m23s", "2h05m".
func duration(d time.Duration) string { return durationWith(d, "") }

// between returns the time from one to another that is not before it, at most
// the 292 years that a time.Duration holds.
func between(from, to uint64) time.Duration {
	return time.Duration(min(to-from, math.MaxInt64))
}

// durationWith puts blank between number and unit: "340 ms".
func durationWith(d time.Duration, blank string) string {
	if d < 0 {
		return "-" + durationWith(-d, blank)
	}
	switch {
	case d == 0:
		return "0" + blank + "ms"
	case d < time.Microsecond:
		return strconv.FormatInt(int64(d), 10) + blank + "ns"
	case d < time.Millisecond:
		return threeDigits(float64(d)/float64(time.Microsecond)) + blank + "µs"
	case d < time.Second:
		return threeDigits(float64(d)/float64(time.Millisecond)) + blank + "ms"
	case d < time.Minute:
		return threeDigits(d.Seconds()) + blank + "s"
	case d < time.Hour:
		return twoUnits(d, time.Minute, "m", time.Second, "s")
	}
	return twoUnits(d, time.Hour, "h", time.Minute, "m")
}

// twoUnits returns "1m23s", or "1m" when nothing is left for the small unit.
func twoUnits(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := strconv.FormatInt(int64(d/large), 10) + largeName
	if rest := int(d % large / small); rest > 0 {
		text += twoDigits(rest) + smallName
	}
	return text
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// threeDigits is for numbers from 1 to 1,000.
func threeDigits(f float64) string {
	decimals := 2
	switch {
	case f >= 100:
		decimals = 0
	case f >= 10:
		decimals = 1
	}
	return trimZeros(strconv.FormatFloat(f, 'f', decimals, 64))
}

// number returns f to four significant digits, whole numbers below a million
// with all of theirs.
func number(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == math.Trunc(f) && math.Abs(f) < 1e6:
		return strconv.FormatFloat(f, 'f', -1, 64)
	case math.Abs(f) >= 1000 && math.Abs(f) < 1e15:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return trimZeros(strconv.FormatFloat(f, 'g', 4, 64))
}

// trimZeros drops zeros at the end of a decimal fraction.
func trimZeros(s string) string {
	if !strings.Contains(s, ".") || strings.Contains(s, "e") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
