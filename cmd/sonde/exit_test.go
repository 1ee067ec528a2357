package main

import (
	"bytes"
	"testing"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"help", []string{"--help"}, exitOK},
		{"version", []string{"version"}, exitOK},
		{"unknown command", []string{"sreve"}, exitUsage},
		{"unknown flag", []string{"serve", "--nope"}, exitUsage},
		{"too many arguments", []string{"version", "now"}, exitUsage},
		{"missing argument", []string{"call"}, exitUsage},
		{"login and ingest", []string{"token", "create", "anna", "--ingest", "shop"}, exitUsage},
		{"command that fails", []string{"call", "telemetry.stats"}, exitFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			got := run(t.Context(), c.args, streams{nil, &out, &errs}, nil)
			if got != c.want {
				t.Errorf("run(%q) = %d, want %d; it said %q", c.args, got, c.want, errs.String())
			}
			if (got == exitOK) != (errs.Len() == 0) {
				t.Errorf("run(%q) wrote %q to stderr and ended with %d", c.args, errs.String(), got)
			}
		})
	}
}
