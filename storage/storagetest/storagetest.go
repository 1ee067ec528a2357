// Package storagetest gives tests a real store in a temporary folder.
package storagetest

import (
	"testing"

	"sonde/storage"
)

// Open opens a store in a temporary folder. At the end of the test it is
// closed and its files are checked for consistency.
func Open(t testing.TB, o storage.Options) *storage.Store {
	t.Helper()
	s, err := storage.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
