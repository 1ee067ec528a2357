package answer

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0ms"}, {7, "7ns"}, {1500, "1.5µs"}, {850 * time.Microsecond, "850µs"}, {12345678, "12.3ms"},
		{999999999, "1000ms"}, {1234 * time.Millisecond, "1.23s"}, {59 * time.Second, "59s"}, {time.Minute, "1m"},
		{83 * time.Second, "1m23s"}, {2*time.Hour + 5*time.Minute + 59*time.Second, "2h05m"}, {50 * time.Hour, "50h"},
		{-12 * time.Millisecond, "-12ms"},
	} {
		if got := duration(c.d); got != c.want {
			t.Errorf("duration(%d) = %q, want %q", c.d, got, c.want)
		}
	}
	if got, want := durationWith(340*time.Millisecond, " "), "340 ms"; got != want {
		t.Errorf("durationWith = %q, want %q", got, want)
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0"}, {-3, "-3"}, {999999, "999999"}, {1234567, "1234567"}, {1234.5678, "1235"}, {0.123456, "0.1235"},
		{0.1 + 0.2, "0.3"}, {12.5, "12.5"}, {1e15, "1e+15"}, {1.5e-7, "1.5e-07"},
	} {
		if got := number(c.f); got != c.want {
			t.Errorf("number(%v) = %q, want %q", c.f, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}
