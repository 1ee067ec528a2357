package answer_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"sonde/query"
	"sonde/query/answer"
)

func TestParseTime(t *testing.T) {
	now := noon.Add(123456789)
	at := func(s string) uint64 {
		t.Helper()
		x, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(x.UnixNano())
	}
	for _, c := range []struct {
		arg  string
		want uint64
	}{
		{"2026-11-30T11:00:00Z", at("2026-11-30T11:00:00Z")},
		{"2026-11-30t11:00:00z", at("2026-11-30T11:00:00Z")},
		{"2026-11-30T11:00:00", at("2026-11-30T11:00:00Z")},
		{"2026-11-30T11:00:00.5", at("2026-11-30T11:00:00.5Z")},
		{"2026-11-30T11:00:00,5", at("2026-11-30T11:00:00.5Z")},
		{"2026-11-30T11:58:03.100000007Z", at("2026-11-30T11:58:03.100000007Z")},
		{"2026-11-30T11:58:03.1000000079Z", at("2026-11-30T11:58:03.100000007Z")},
		{"2026-11-30T11:00:00+02:00", at("2026-11-30T09:00:00Z")},
		{"2026-11-30T11:00:00+0200", at("2026-11-30T09:00:00Z")},
		{"2026-11-30 11:00:00-05", at("2026-11-30T16:00:00Z")},
		{"2026-11-30 11:00:00Z", at("2026-11-30T11:00:00Z")},
		{"2026-11-30 11:00:00 UTC", at("2026-11-30T11:00:00Z")},
		{"2026-11-30 11:00", at("2026-11-30T11:00:00Z")},
		{"2026-11-30T11:00Z", at("2026-11-30T11:00:00Z")},
		{"  2026-11-30  ", at("2026-11-30T00:00:00Z")},
		{"2300-01-01", uint64(10413792000) * 1e9}, // beyond what int64 nanoseconds hold

		{"1796036400", at("2026-11-30T11:00:00Z")},
		{"1796036400.5", at("2026-11-30T11:00:00.5Z")},
		{"1796036400.123456789123", at("2026-11-30T11:00:00.123456789Z")},
		{"1796036400123", at("2026-11-30T11:00:00.123Z")},
		{"1796036400123.25", at("2026-11-30T11:00:00.12325Z")},
		{"1796036400123456", at("2026-11-30T11:00:00.123456Z")},
		{"1796036400123456789", at("2026-11-30T11:00:00.123456789Z")},
		{"0", 0},
		{"18446744073709551615", math.MaxUint64},

		{"now", at("2026-11-30T12:00:00.123456789Z")},
		{"NOW", at("2026-11-30T12:00:00.123456789Z")},
		{"-15m", at("2026-11-30T11:45:00.123456789Z")},
		{"15m", at("2026-11-30T11:45:00.123456789Z")},
		{"15m ago", at("2026-11-30T11:45:00.123456789Z")},
		{"now-1h", at("2026-11-30T11:00:00.123456789Z")},
		{"now - 1h", at("2026-11-30T11:00:00.123456789Z")},
		{"now+1h", at("2026-11-30T13:00:00.123456789Z")},
		{"1h30m", at("2026-11-30T10:30:00.123456789Z")},
		{"1.5h", at("2026-11-30T10:30:00.123456789Z")},
		{"2d", at("2026-11-28T12:00:00.123456789Z")},
		{"-1w", at("2026-11-23T12:00:00.123456789Z")},
		{"30s", at("2026-11-30T11:59:30.123456789Z")},
		{"250ms", at("2026-11-30T11:59:59.873456789Z")},
	} {
		got, printed, err := answer.ParseTime(c.arg, now)
		if want := (query.Cursor{TimeUnixNano: c.want}); err != nil || got != want || printed {
			t.Errorf("ParseTime(%q) = %v, %t, %v, want %v, not printed", c.arg, got, printed, err, want)
		}
	}
}

func TestParseTimeErrors(t *testing.T) {
	for _, arg := range []string{
		"", " ", "yesterday", "tomorrow-1h", "2026-13-01", "2026-02-30", "2026-11-30T25:00:00Z", "11:58:03.214",
		"2026-11-30T11:00:00Z.", "2026-11-30T11:00:00Z.x", "2026-11-30T11:00:00Z.-3", "2026-11-30T11:00:00Z.99999999999999999999",
		"1969-12-31", "2555-01-01", "99999999999999999999", "-5", "5 minutes", "15M5x", "now-", "now15m", "-900000000d",
		"1e9", "0x10", "1.2.3", "2026-11-30T11:00:00Z..12:00:00Z", "15m now",
	} {
		_, _, err := answer.ParseTime(arg, noon)
		if err == nil {
			t.Errorf("ParseTime(%q) = nil error", arg)
			continue
		}
		for _, part := range []string{"RFC 3339", "-15m", "2d", "it is 2026-11-30T12:00:00Z now"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("ParseTime(%q) = %q, want %q in it", arg, err, part)
			}
		}
	}
	_, _, err := answer.ParseTime(strings.Repeat("x\n", 5000), noon)
	if err == nil || len(err.Error()) > 600 || strings.Contains(err.Error(), "\n") {
		t.Errorf("ParseTime of a long argument = %v, want a short error on one line", err)
	}
	if _, _, err := answer.ParseTime("1969-12-31", noon); err == nil || !strings.Contains(err.Error(), "outside the years 1970 to 2554") {
		t.Errorf("ParseTime(1969-12-31) = %v, want the years there are", err)
	}
}

func TestFormatTime(t *testing.T) {
	for _, c := range []struct {
		t    uint64
		want string
	}{
		{ago(0), "2026-11-30T12:00:00Z"},
		{ago(0) + 100000007, "2026-11-30T12:00:00.100000007Z"},
		{ago(0) + 120000000, "2026-11-30T12:00:00.12Z"},
		{0, "1970-01-01T00:00:00Z"},
		{math.MaxUint64, "2554-07-21T23:34:33.709551615Z"},
	} {
		if got := answer.FormatTime(c.t); got != c.want {
			t.Errorf("FormatTime(%d) = %q, want %q", c.t, got, c.want)
		}
	}
}

func TestFormatCursor(t *testing.T) {
	for want, c := range map[string]query.Cursor{
		"2026-11-30T12:00:00.100000007Z.3": {TimeUnixNano: ago(0) + 100000007, Remaining: 3},
		"2026-11-30T12:00:00Z.0":           {TimeUnixNano: ago(0)},
	} {
		if got := answer.FormatCursor(c); got != want {
			t.Errorf("FormatCursor(%v) = %q, want %q", c, got, want)
		}
	}
}

// What is printed is read back as the same cursor.
func FuzzCursor(f *testing.F) {
	f.Add(uint64(0), uint64(0))
	f.Add(ago(0), uint64(3))
	f.Add(ago(0)+7, uint64(math.MaxUint64))
	f.Add(uint64(math.MaxUint64), uint64(1))
	f.Fuzz(func(t *testing.T, at, remaining uint64) {
		want := query.Cursor{TimeUnixNano: at, Remaining: remaining}
		got, printed, err := answer.ParseTime(answer.FormatCursor(want), noon)
		if err != nil || got != want || !printed {
			t.Errorf("ParseTime(%q) = %v, %t, %v, want %v, printed", answer.FormatCursor(want), got, printed, err, want)
		}
	})
}

// What is accepted is printed so that it is accepted as the same time, whatever
// blanks are around it; what is not accepted is answered on one line.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"now", "-15m", "now-1h", "2d", "2026-11-30", "2026-11-30T11:00:00+02:00", "2026-11-30T11:58:03.100000007Z.3", "1796036400.5", "1796036400123456789"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		got, _, err := answer.ParseTime(arg, noon)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("ParseTime(%q) = %q, want one line", arg, err)
			}
			return
		}
		again, _, err := answer.ParseTime(" "+answer.FormatCursor(got)+"\n", noon.Add(time.Hour))
		if err != nil || again != got {
			t.Errorf("ParseTime(%q) = %v, printed and read again %v, %v", arg, got, again, err)
		}
	})
}
