package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	wantDuration = "a duration such as 30s, 15m, 12h, 30d or 2w"
	wantBytes    = "a size such as 512MiB, 20GiB, 1GB or a number of bytes"
)

// ParseDuration reads durations as time.ParseDuration does, with days (d, 24
// hours) and weeks (w), and without signs: "15m", "1h30m", "30d", "2w". The
// error is `got "…", want …`, to be put after what was being read.
func ParseDuration(s string) (time.Duration, error) {
	term := regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h|d|w)`)
	var sum time.Duration
	rest := s
	for rest != "" {
		m := term.FindStringSubmatch(rest)
		if m == nil {
			return 0, gotWant(s, wantDuration)
		}
		rest = rest[len(m[0]):]
		d, err := durationTerm(m[1], m[2])
		if err != nil || d > math.MaxInt64-sum {
			return 0, gotWant(s, "a duration of less than 292 years")
		}
		sum += d
	}
	if s == "" {
		return 0, gotWant(s, wantDuration)
	}
	return sum, nil
}

func durationTerm(number, unit string) (time.Duration, error) {
	hours := map[string]float64{"d": 24, "w": 7 * 24}[unit]
	if hours == 0 {
		return time.ParseDuration(number + unit)
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, err
	}
	return time.ParseDuration(strconv.FormatFloat(n*hours, 'f', -1, 64) + "h")
}

// FormatDuration writes a duration as ParseDuration reads it, in the largest
// unit that is exact: "7d", "24h", "15m", "1.5s".
func FormatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d > day && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// byteUnit is a unit of sizes and how many bytes it has.
type byteUnit struct {
	name  string
	bytes int64
}

// byteUnits returns the units, binary ones first, large ones first.
func byteUnits() []byteUnit {
	return []byteUnit{
		{"PiB", 1 << 50}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
		{"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
	}
}

// ParseBytes reads a size: a number with a binary unit (KiB to PiB), a decimal
// one (KB to PB), B, or none for bytes; the case of letters doesn't matter, and
// fractions are cut to whole bytes. K, M and G alone are refused, since people
// mean both by them. The error is as for ParseDuration.
func ParseBytes(s string) (int64, error) {
	number, unit := s, ""
	if i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }); i >= 0 {
		number, unit = s[:i], strings.TrimSpace(s[i:])
	}
	factor := int64(0)
	if unit == "" {
		factor = 1
	}
	for _, u := range byteUnits() {
		if strings.EqualFold(u.name, unit) {
			factor = u.bytes
		}
	}
	if factor == 0 {
		return 0, gotWant(s, wantBytes)
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		if n > math.MaxInt64/factor {
			return 0, gotWant(s, "a size of less than 8192 PiB")
		}
		return n * factor, nil
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, gotWant(s, wantBytes)
	}
	if n *= float64(factor); n >= math.MaxInt64 {
		return 0, gotWant(s, "a size of less than 8192 PiB")
	}
	return int64(n), nil
}

// FormatBytes writes a size as ParseBytes reads it, in the largest unit that is
// exact: "10GiB", "1GB", "9500".
func FormatBytes(n int64) string {
	for _, u := range byteUnits() {
		if n != 0 && u.bytes > 1000 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
