// Package storagetest gives tests a real store in a temporary folder.
package storagetest

import (
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"sonde/storage"
)

// Open opens a store in a temporary folder. At the end of the test it is
// closed and its files are checked for consistency.
func Open(t testing.TB, o storage.Options) *storage.Store {
	t.Helper()
	dir := t.TempDir()
	s, err := storage.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		Check(t, dir)
	})
	return s
}

// Check reports every bbolt file of a folder whose pages don't fit together.
// The store must be closed.
func Check(t testing.TB, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		checkFile(t, file)
	}
}

func checkFile(t testing.TB, file string) {
	t.Helper()
	db, err := bolt.Open(file, 0o600, &bolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		t.Errorf("cannot open %s: %v", file, err)
		return
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
