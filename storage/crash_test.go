package storage_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// Flags of the process that is killed: this test program again.
var (
	crashDir   = flag.String("crash.dir", "", "folder that TestVictim writes to until it is killed")
	crashFirst = flag.Int("crash.first", 0, "number of its first request")
)

const crashItems = 25

// TestVictim appends from four goroutines, with compactions all the time, and
// prints the number of each request that was acknowledged.
func TestVictim(t *testing.T) {
	if *crashDir == "" {
		t.Skip("is run, and killed, by TestKillLosesAndDoublesNothing")
	}
	s, err := storage.OpenTuned(*crashDir, storage.Options{}, storage.Tuning{RunRows: 400, GenBytes: 512 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var out sync.Mutex
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := *crashFirst + w; ; i += 4 {
				b := batch{sig: otlp.Signals[i%3], first: i * crashItems, n: crashItems}
				if err := s.Append(t.Context(), b.request(t)); err != nil {
					t.Errorf("Append = %v", err)
					return
				}
				out.Lock()
				fmt.Println(i)
				out.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestKillLosesAndDoublesNothing(t *testing.T) {
	dir := t.TempDir()
	const rounds = 12
	acked := make(map[int]bool)
	next := 0
	for round := range rounds {
		// A prime step moves the moment of the kill over all that goes on.
		highest := runVictim(t, dir, next, 37+round*13, acked)
		next = highest + 8
		s, err := storage.OpenTuned(dir, storage.Options{}, storage.Tuning{})
		if err != nil {
			t.Fatalf("round %d: Open after the kill = %v", round, err)
		}
		inHead := checkAcked(t, s, acked)
		if round%4 == 3 {
			mustCompact(t, s)
			checkAcked(t, s, acked)
		}
		t.Logf("round %d: %d requests acknowledged, %d records found in the head", round, len(acked), inHead)
		closeStore(t, s)
		if t.Failed() {
			return
		}
	}
	storagetest.Check(t, dir)
}

// runVictim lets a process write, kills it after some acknowledgements, and
// returns the highest request number that it can have used.
func runVictim(t *testing.T, dir string, first, after int, acked map[int]bool) (highest int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestVictim$", "-crash.dir="+dir, "-crash.first="+strconv.Itoa(first))
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(pipe)
	for n := 0; ; n++ {
		if n == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := r.ReadString('\n')
		if err == io.EOF {
			break
		}
		i, convErr := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || convErr != nil {
			t.Fatalf("the victim said %q: %v, %v", line, err, convErr)
		}
		acked[i] = true
		highest = max(highest, i)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the victim ended by itself: %v", err)
	}
	return highest
}

// checkAcked wants every item of an acknowledged request once, and of others
// all or none. It returns how many records the head has.
func checkAcked(t *testing.T, s *storage.Store, acked map[int]bool) (inHead uint64) {
	t.Helper()
	requests := make(map[int]int)
	for _, sig := range otlp.Signals {
		seen, err := countIDs(t.Context(), s, sig)
		if err != nil {
			t.Fatal(err)
		}
		for id, times := range seen {
			if times != 1 {
				t.Errorf("item %s is there %d times", id, times)
			}
			n, err := strconv.Atoi(id)
			if err != nil {
				t.Fatal(err)
			}
			requests[n/crashItems]++
		}
		inHead += s.Stats().Signals[sig].HeadRecords
	}
	for i := range acked {
		if requests[i] != crashItems {
			t.Errorf("request %d was acknowledged, and %d of its %d items are there", i, requests[i], crashItems)
		}
	}
	for i, n := range requests {
		if n != crashItems {
			t.Errorf("request %d has %d of %d items", i, n, crashItems)
		}
	}
	if st := s.Stats(); st.CorruptBlocks != 0 {
		t.Errorf("CorruptBlocks = %d, want 0", st.CorruptBlocks)
	}
	return inHead
}
