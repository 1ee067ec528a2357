package storage_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// TestEachItemIsSeenOnceWhileAllMoves has writers, scans and compactions run
// against each other: whatever was acknowledged before a scan began is in it,
// and nothing is in it twice.
func TestEachItemIsSeenOnceWhileAllMoves(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, storage.Options{}, storage.Tuning{RunRows: 300})
	const writers, requests, perRequest = 3, 60, 11
	var acked [writers]atomic.Int64 // requests, by writer
	sigOf := func(w int) otlp.Signal { return otlp.Signals[w%len(otlp.Signals)] }

	var writing, scanning sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		writing.Go(func() {
			for i := range requests {
				b := batch{sig: sigOf(w), first: (w*requests + i) * perRequest, n: perRequest, start: base.Add(time.Duration(i%7) * time.Minute)}
				if err := s.Append(t.Context(), b.request(t)); err != nil {
					t.Errorf("Append = %v", err)
					return
				}
				acked[w].Add(1)
			}
		})
	}
	for range 2 {
		scanning.Go(func() {
			for running := true; running; {
				select {
				case <-done:
					running = false // one last look
				default:
				}
				for w := range writers {
					before := int(acked[w].Load())
					seen, err := countIDs(t.Context(), s, sigOf(w))
					if err != nil {
						t.Errorf("Scan = %v", err)
						return
					}
					checkSeen(t, seen, w*requests*perRequest, before*perRequest)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	scanning.Wait()
	mustCompact(t, s)
	for _, sig := range otlp.Signals {
		if st := s.Stats().Signals[sig]; st.Records != requests*perRequest || st.HeadRecords != 0 {
			t.Errorf("%v: Stats has %d records, %d in the head, want %d and 0", sig, st.Records, st.HeadRecords, requests*perRequest)
		}
	}
}

func countIDs(ctx context.Context, s *storage.Store, sig otlp.Signal) (map[string]int, error) {
	seen := make(map[string]int)
	err := s.Scan(ctx, storage.ScanOptions{Signal: sig}, func(b *block.Block, pos storage.Position) (bool, error) {
		rows, err := blockRows(b, pos)
		for _, r := range rows {
			seen[r.id]++
		}
		return true, err
	})
	return seen, err
}

// checkSeen wants ids first..first+n-1 among those that a scan saw, each once.
func checkSeen(t *testing.T, seen map[string]int, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		if seen[fmt.Sprint(i)] == 0 {
			t.Errorf("item %d is missing from a scan that began after its acknowledgement", i)
			return
		}
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("a scan saw item %s %d times", id, times)
			return
		}
	}
}
