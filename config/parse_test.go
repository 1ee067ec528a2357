package config_test

import (
	"math"
	"testing"
	"time"

	"sonde/config"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for given, want := range map[string]time.Duration{
		"15m": 15 * time.Minute, "30d": 30 * day, "2w": 14 * day, "1h30m": 90 * time.Minute, "1d12h": 36 * time.Hour,
		"1.5d": 36 * time.Hour, "0.5h": 30 * time.Minute, "0s": 0, "250ms": 250 * time.Millisecond, "5us": 5 * time.Microsecond, "5µs": 5 * time.Microsecond,
		"7ns": 7, "106751d": 106751 * day, "1w1d1h1m1s": 8*day + time.Hour + time.Minute + time.Second,
	} {
		if got, err := config.ParseDuration(given); got != want || err != nil {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", given, got, err, want)
		}
	}
	const want = ", want a duration such as 30s, 15m, 12h, 30d or 2w"
	const long = ", want a duration of less than 292 years"
	for given, text := range map[string]string{
		"": `got ""` + want, "7": `got "7"` + want, "d": `got "d"` + want, "-1h": `got "-1h"` + want, "+1h": `got "+1h"` + want,
		"1 h": `got "1 h"` + want, "1y": `got "1y"` + want, "1h ": `got "1h "` + want, "1.h": `got "1.h"` + want, "1D": `got "1D"` + want, "1h\n": `got "1h\n"` + want,
		"106752d": `got "106752d"` + long, "999999999999999999999d": `got "999999999999999999999d"` + long, "9999999h": `got "9999999h"` + long, "100000d100000d": `got "100000d100000d"` + long,
	} {
		if got, err := config.ParseDuration(given); err == nil || err.Error() != text {
			t.Errorf("ParseDuration(%q) = %v, %v, want %s", given, got, err, text)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for given, want := range map[string]int64{
		"512MiB": 512 << 20, "20GiB": 20 << 30, "1GB": 1e9, "1048576": 1 << 20, "0": 0, "7B": 7, "1kb": 1000, "1KiB": 1024, "1kib": 1024,
		"10 GiB": 10 << 30, "1.5KiB": 1536, "0.0001KB": 0, "3TiB": 3 << 40, "2PB": 2e15, "1PiB": 1 << 50, "9223372036854775807": math.MaxInt64, "8191PiB": 8191 << 50,
	} {
		if got, err := config.ParseBytes(given); got != want || err != nil {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", given, got, err, want)
		}
	}
	const want = ", want a size such as 512MiB, 20GiB, 1GB or a number of bytes"
	const large = ", want a size of less than 8192 PiB"
	for given, text := range map[string]string{
		"": `got ""` + want, "MiB": `got "MiB"` + want, "-1": `got "-1"` + want, "1G": `got "1G"` + want, "1M": `got "1M"` + want, "1 0MB": `got "1 0MB"` + want,
		"1e9": `got "1e9"` + want, "1.2.3MB": `got "1.2.3MB"` + want, "1EiB": `got "1EiB"` + want, "0x10": `got "0x10"` + want, "١MB": `got "١MB"` + want,
		"8192PiB": `got "8192PiB"` + large, "8192.0PiB": `got "8192.0PiB"` + large,
		// A number too long for 64 bits is read as a fraction would be.
		"9223372036854775808": `got "9223372036854775808"` + large,
	} {
		if got, err := config.ParseBytes(given); err == nil || err.Error() != text {
			t.Errorf("ParseBytes(%q) = %d, %v, want %s", given, got, err, text)
		}
	}
}

func TestFormats(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"7d": 7 * 24 * time.Hour, "24h": 24 * time.Hour, "36h": 36 * time.Hour, "15m": 15 * time.Minute, "10s": 10 * time.Second,
		"1m30s": 90 * time.Second, "0s": 0, "1.5s": 1500 * time.Millisecond,
	} {
		if got := config.FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %s, want %s", d, got, want)
		}
	}
	for want, n := range map[string]int64{
		"10GiB": 10 << 30, "1GB": 1e9, "9500": 9500, "0": 0, "1536KiB": 1536 << 10, "1KiB": 1024, "12MB": 12e6, "12000": 12000,
	} {
		if got := config.FormatBytes(n); got != want {
			t.Errorf("FormatBytes(%d) = %s, want %s", n, got, want)
		}
	}
}

// What a format writes, its parser reads back.
func FuzzFormatsAreRead(f *testing.F) {
	for _, n := range []int64{0, 1, 999, 1000, 1024, 86_400_000_000_000, math.MaxInt64} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		if n < 0 {
			t.Skip()
		}
		if got, err := config.ParseBytes(config.FormatBytes(n)); got != n || err != nil {
			t.Errorf("ParseBytes(FormatBytes(%d)) = %d, %v", n, got, err)
		}
		d := time.Duration(n)
		if got, err := config.ParseDuration(config.FormatDuration(d)); got != d || err != nil {
			t.Errorf("ParseDuration(FormatDuration(%d)) = %d, %v, by way of %s", d, got, err, config.FormatDuration(d))
		}
	})
}
