package receiver_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"sonde/receiver"
	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// TestExport sends each signal in each way that a client may choose and looks
// whether the store holds what was sent, in the head and in blocks.
func TestExport(t *testing.T) {
	for _, signal := range otlp.Signals {
		t.Run(signal.String(), func(t *testing.T) {
			store := storagetest.Open(t, storage.Options{})
			s := start(t, store, receiver.Options{})
			conn := s.dial(t)
			var want []proto.Message
			for _, compression := range []string{"", "gzip", "zstd"} {
				request := protoOf(t, sample(signal, "grpc "+compression, 7))
				var options []grpc.CallOption
				if compression != "" {
					options = append(options, grpc.UseCompressor(compression))
				}
				answer, err := invoke(t.Context(), conn, signal, request, options...)
				if err != nil || len(answer) != 0 {
					t.Fatalf("Export over gRPC, %q = %x, %v, want an empty message", compression, answer, err)
				}
				want = append(want, split(t, signal, request)...)
			}
			for name := range compressions {
				for _, mediaType := range []string{"application/x-protobuf", "application/json"} {
					request := sample(signal, fmt.Sprint("http ", name, mediaType), 7)
					want = append(want, split(t, signal, protoOf(t, request))...)
					body, wantAnswer := protoOf(t, request), ""
					if mediaType == "application/json" {
						body, wantAnswer = jsonOf(t, request), "{}"
					}
					body, header := compressed(t, name, body)
					r := s.post(t, signal, body, "Content-Type", mediaType, "Content-Encoding", header)
					if r.status != 200 || r.body != wantAnswer || r.header.Get("Content-Type") != mediaType {
						t.Fatalf("POST %s, %s = %d %q %q, want 200 %q", mediaType, name, r.status, r.header.Get("Content-Type"), r.body, wantAnswer)
					}
				}
			}
			wantItems(t, "before compaction", readBack(t, store, signal), want)
			waitCompacted(t, store)
			wantItems(t, "after compaction", readBack(t, store, signal), want)

			stats := store.Stats().Signals[signal]
			for transport, requests := range map[storage.Transport]uint64{storage.GRPC: 3, storage.HTTP: 2 * uint64(len(compressions))} {
				if got, want := stats.Intake[transport], (storage.Intake{Stored: 7 * requests}); got != want {
					t.Errorf("intake by %v = %+v, want %+v", transport, got, want)
				}
			}
		})
	}
}

func waitCompacted(t testing.TB, store *storage.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := store.WaitCompacted(ctx); err != nil {
		t.Fatal(err)
	}
}
