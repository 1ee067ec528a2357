package answer

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sonde/query"
)

const timeForms = "a time is RFC 3339 such as 2026-11-30T11:00:00Z (no zone means UTC), a date, " +
	"Unix s, ms, µs or ns, now, or a time before now such as -15m, now-1h, 2d (units ms s m h d w)"

var errTimeRange = errors.New("outside the years 1970 to 2554")

// ParseTime reads a time as people and models write it, relative to now: RFC
// 3339 with or without a zone (then UTC) and with a blank or "T" between date
// and time, a date (its first instant), a Unix time in seconds, milliseconds,
// microseconds or nanoseconds by its size, "now", and a duration before now as
// "-15m", "15m", "15m ago", "now-15m" or "2d" (units ms s m h d w). A printed
// cursor, the time with ".3" after its Z, is read with its tie-breaker; for
// every other form printed is false and Remaining 0. Times before 1970 and after
// 2554 are errors. The error says what is accepted and what the time is now.
//
// The instant 1970-01-01T00:00:00Z is returned as 0, which a storage.TimeRange
// takes as no bound.
func ParseTime(arg string, now time.Time) (c query.Cursor, printed bool, err error) {
	s := strings.TrimSpace(arg)
	stamp, remaining, err := cutTieBreaker(s)
	if err == nil {
		var t uint64
		if t, err = parseInstant(stamp, now); err == nil {
			return query.Cursor{TimeUnixNano: t, Remaining: remaining}, stamp != s, nil
		}
	}
	reason := ""
	if errors.Is(err, errTimeRange) {
		reason = " (" + errTimeRange.Error() + ")"
	}
	return query.Cursor{}, false, fmt.Errorf("cannot read %s as a time%s: %s; it is %s now",
		echo(arg), reason, timeForms, now.UTC().Format(time.RFC3339))
}

var errNoTime = errors.New("not a time")

// cutTieBreaker splits the ".3" off "…Z.3".
func cutTieBreaker(s string) (stamp string, remaining uint64, err error) {
	i := strings.LastIndexAny(s, "Zz")
	if i < 0 || i == len(s)-1 || s[i+1] != '.' {
		return s, 0, nil
	}
	if !isDigits(s[i+2:]) {
		return "", 0, errNoTime
	}
	remaining, err = strconv.ParseUint(s[i+2:], 10, 64)
	return s[:i+1], remaining, err
}

func parseInstant(s string, now time.Time) (uint64, error) {
	if t, err := parseCalendar(s); !errors.Is(err, errNoTime) {
		return t, err
	}
	if t, err := parseUnix(s); !errors.Is(err, errNoTime) {
		return t, err
	}
	return parseRelative(s, now)
}

// calendar takes apart a date, and a time of day and a zone where they follow.
var calendar = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(?:(?:[Tt]| +)(\d{2}:\d{2})(:\d{2})?([.,]\d{1,18})?)? ?(Z|z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$`)

func parseCalendar(s string) (uint64, error) {
	m := calendar.FindStringSubmatch(s)
	if m == nil {
		return 0, errNoTime
	}
	date, clock, seconds, fraction, zone := m[1], m[2], m[3], m[4], m[5]
	if clock == "" {
		clock = "00:00"
	}
	if seconds == "" {
		if fraction != "" {
			return 0, errNoTime
		}
		seconds = ":00"
	}
	switch {
	case zone == "" || strings.ContainsAny(zone, "ZzUG"):
		zone = "Z"
	case len(zone) == len("+02"):
		zone += ":00"
	case len(zone) == len("+0200"):
		zone = zone[:3] + ":" + zone[3:]
	}
	// Beyond nanoseconds the digits are cut, not rounded: to stays exclusive.
	if len(fraction) > 10 {
		fraction = fraction[:10]
	}
	t, err := time.Parse(time.RFC3339Nano, date+"T"+clock+seconds+fraction+zone)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNoTime, err)
	}
	return unixNano(t)
}

// unixNano returns t in nanoseconds when 64 unsigned bits hold it.
func unixNano(t time.Time) (uint64, error) {
	const lastSecond = math.MaxUint64 / 1_000_000_000
	sec := t.Unix()
	if sec < 0 || sec > lastSecond {
		return 0, errTimeRange
	}
	second := uint64(sec) * 1e9
	n := second + uint64(t.Nanosecond())
	if n < second {
		return 0, errTimeRange
	}
	return n, nil
}

// parseUnix tells the unit by the size: seconds reach the year 5138 before they
// look like milliseconds, and milliseconds begin in 1973.
func parseUnix(s string) (uint64, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	if !isDigits(whole) || fraction != "" && !isDigits(fraction) {
		return 0, errNoTime
	}
	n, err := strconv.ParseUint(whole, 10, 64)
	if err != nil {
		return 0, errTimeRange
	}
	unit := uint64(1)
	switch {
	case n < 1e11:
		unit = 1e9
	case n < 1e14:
		unit = 1e6
	case n < 1e17:
		unit = 1e3
	}
	if n > math.MaxUint64/unit {
		return 0, errTimeRange
	}
	n *= unit
	second := n
	for _, digit := range []byte(fraction) {
		unit /= 10
		n += uint64(digit-'0') * unit
	}
	if n < second {
		return 0, errTimeRange
	}
	return n, nil
}

var (
	relative = regexp.MustCompile(`^(?:now *([+-])|([+-])?) *((?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+)$`)
	stretch  = regexp.MustCompile(`(\d+(?:\.\d+)?)(ms|s|m|h|d|w)`)
	units    = map[string]time.Duration{
		"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
		"d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}
)

// parseRelative reads a duration without a sign as one before now: all that is
// recorded lies there.
func parseRelative(s string, now time.Time) (uint64, error) {
	s = strings.TrimSuffix(strings.ToLower(s), " ago")
	if s == "now" {
		return unixNano(now)
	}
	m := relative.FindStringSubmatch(s)
	if m == nil {
		return 0, errNoTime
	}
	var d float64
	for _, part := range stretch.FindAllStringSubmatch(m[3], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, errNoTime
		}
		d += n * float64(units[part[2]])
	}
	if d >= math.MaxInt64 {
		return 0, errTimeRange
	}
	if m[1] == "+" || m[2] == "+" {
		return unixNano(now.Add(time.Duration(d)))
	}
	return unixNano(now.Add(-time.Duration(d)))
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// FormatTime returns a time as RFC 3339 in UTC with the fewest digits that say
// it exactly.
func FormatTime(unixNano uint64) string { return utc(unixNano).Format(time.RFC3339Nano) }

// FormatCursor returns a cursor as an answer prints it after "next: to=": what
// ParseTime reads back as the same cursor. The tie-breaker is there even when it
// is 0: it tells where a page ended from a bound that someone chose.
func FormatCursor(c query.Cursor) string {
	return FormatTime(c.TimeUnixNano) + "." + strconv.FormatUint(c.Remaining, 10)
}

// utc goes by seconds: 64 unsigned bits of nanoseconds reach beyond what
// time.Unix takes as nanoseconds alone.
func utc(unixNano uint64) time.Time {
	return time.Unix(int64(unixNano/1e9), int64(unixNano%1e9)).UTC()
}
