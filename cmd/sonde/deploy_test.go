package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sonde/config"
)

// The example names every setting, and gives its default.
func TestDeployedExampleIsTheDefault(t *testing.T) {
	file := filepath.Join("..", "..", "deploy", "sonde.yaml")
	got, from, err := config.Load(config.Sources{File: file, FileRequired: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range config.Settings() {
		if from[s.Key] != "file "+file {
			t.Errorf("the example does not give %s", s.Key)
		}
	}
	want := config.Default()
	// An empty list is an empty list.
	want.HTTP.AllowedHosts, got.HTTP.AllowedHosts = nil, nil
	want.HTTP.AllowedOrigins, got.HTTP.AllowedOrigins = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the example differs from the defaults (-want +got):\n%s", diff)
	}
}
