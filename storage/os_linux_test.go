package storage_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// openHandles counts the descriptors of this process that refer to a
// file, deleted or not.
func openHandles(t *testing.T, path string) int {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, link := range links {
		// Descriptors come and go; one that is gone is not open.
		if target, err := os.Readlink(link); err == nil && (target == path || target == path+" (deleted)") {
			n++
		}
	}
	return n
}

// cpuTime returns what the process has used of all processors.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// smallDisk mounts a file system of a few MiB, or skips the test.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes the free space of a file system but for some bytes.
func fill(t *testing.T, path string, leave int) {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &st); err != nil {
		t.Fatal(err)
	}
	if free := int(st.Bavail)*int(st.Bsize) - leave; free > 0 {
		writeFile(t, path, make([]byte, free))
	}
}

func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, 16<<20)
	s, err := storage.OpenTuned(dir, storage.Options{Log: slog.New(slog.DiscardHandler)}, storage.Tuning{Retry: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var kept []batch
	b := batch{sig: otlp.Logs, n: 500}
	mustAppend(t, s, b)
	kept = append(kept, b)

	ballast := filepath.Join(dir, "ballast")
	fill(t, ballast, 64<<10)
	var refused error
	for i := 1; refused == nil && i < 1000; i++ {
		b := batch{sig: otlp.Logs, first: i * 1000, n: 500}
		if refused = s.Append(t.Context(), b.request(t)); refused == nil {
			kept = append(kept, b)
		}
	}
	if !errors.Is(refused, storage.ErrDisk) || !errors.Is(refused, unix.ENOSPC) {
		t.Fatalf("Append on a full disk = %v, want %v with its cause", refused, storage.ErrDisk)
	}
	wantIDs(t, s, otlp.Logs, kept...)
	if s.Stats().LastError == "" {
		t.Error("LastError is empty while the disk is full")
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	after := batch{sig: otlp.Logs, first: 2_000_000, n: 500}
	mustAppend(t, s, after)
	kept = append(kept, after)
	wantIDs(t, s, otlp.Logs, kept...)
	if got := s.Stats().LastError; got != "" {
		t.Errorf("LastError = %q after a commit that succeeded, want none", got)
	}

	// Now the compactor meets the full disk, and gets through after it.
	fill(t, ballast, 0)
	s.FlushIntoFailure(t.Context())
	wantIDs(t, s, otlp.Logs, kept...)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	mustCompact(t, s)
	wantIDs(t, s, otlp.Logs, kept...)
	closeStore(t, s)

	s, err = storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, s, otlp.Logs, kept...)
	closeStore(t, s)
	storagetest.Check(t, dir)
}
