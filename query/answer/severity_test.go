package answer_test

import (
	"strings"
	"testing"

	"sonde/query"
	"sonde/query/answer"
)

func TestParseSeverity(t *testing.T) {
	for _, c := range []struct {
		arg      string
		min, max uint8
	}{
		{"TRACE", 1, 24}, {"debug", 5, 24}, {"Info", 9, 24}, {"WARN", 13, 24}, {"error", 17, 24}, {"FATAL", 21, 24},
		{"warning", 13, 24}, {"err", 17, 24}, {"CRITICAL", 21, 24}, {"Information", 9, 24},
		{"INFO2", 10, 24}, {"warn4", 16, 24}, {" WARN ", 13, 24}, {">=WARN", 13, 24},
		{"1", 1, 24}, {"13", 13, 24}, {"24", 24, 24},
		{"=WARN", 13, 16}, {"=warning", 13, 16}, {"= error", 17, 20}, {"=fatal", 21, 24},
		{"=INFO2", 10, 10}, {"=INFO1", 9, 9}, {"=14", 14, 14},
	} {
		got, err := answer.ParseSeverity(c.arg)
		if want := (query.SeverityRange{Min: c.min, Max: c.max}); err != nil || got != want {
			t.Errorf("ParseSeverity(%q) = %v, %v, want %v", c.arg, got, err, want)
		}
	}
	for _, arg := range []string{"", "=", "0", "25", "256", "-1", "loud", "WARN5", "WARN,ERROR", "13.5"} {
		got, err := answer.ParseSeverity(arg)
		if err == nil || !strings.Contains(err.Error(), "TRACE, DEBUG, INFO, WARN, ERROR, FATAL") {
			t.Errorf("ParseSeverity(%q) = %v, %v, want an error that lists the levels", arg, got, err)
		}
	}
}
