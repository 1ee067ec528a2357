package query_test

import (
	"strings"
	"testing"

	"sonde/query"
)

func TestParseTraceID(t *testing.T) {
	const whole = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, tt := range []struct{ arg, want string }{
		{whole, whole},
		{strings.ToUpper(whole), whole},
		{" \t" + whole + "\n", whole},
		{"4BF92f", "4bf92f"},
		{"4bf92f3577b34da", "4bf92f3577b34da"},
		{"", ""},
		{"5B8E", ""},
		{"4bf92", ""},
		{whole + "0", ""},
		{"4bf92g", ""},
		{"4bf92 f", ""},
		{"0x4bf92f", ""},
	} {
		got, err := query.ParseTraceID(tt.arg)
		if (err == nil) != (tt.want != "") || got.String() != tt.want {
			t.Errorf("ParseTraceID(%q) = %q, %v, want %q", tt.arg, got, err, tt.want)
		}
		if got.IsZero() != (tt.want == "") {
			t.Errorf("ParseTraceID(%q).IsZero() = %v", tt.arg, got.IsZero())
		}
	}
}
