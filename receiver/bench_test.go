package receiver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sonde/receiver"
	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

const (
	connections = 4
	// corpusRequests are sent over and over. They fill two runs of the
	// compactor, so that a block has no row twice.
	corpusRequests = 128
	// overloadPause is how long a client waits that was told to come later. The
	// server asks for a second, which would make a short benchmark a coarse one.
	overloadPause = 5 * time.Millisecond
)

// sendFunc exports one request. It reports whether the server had no room for it.
type sendFunc func(ctx context.Context, body []byte) (overloaded bool, err error)

// load sends n requests of the corpus on several connections and returns once
// all are acknowledged, with how often the server asked to come later.
func load(b *testing.B, senders []sendFunc, corpus [][]byte, n int) (refused int64) {
	var (
		next, refusals atomic.Int64
		clients        sync.WaitGroup
	)
	for _, send := range senders {
		clients.Go(func() {
			pause := time.NewTimer(0)
			<-pause.C
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				for {
					overloaded, err := send(b.Context(), corpus[i%int64(len(corpus))])
					if err == nil {
						break
					}
					if !overloaded {
						b.Error(err)
						return
					}
					refusals.Add(1)
					pause.Reset(overloadPause)
					<-pause.C
				}
			}
		})
	}
	clients.Wait()
	return refusals.Load()
}

// grpcSenders opens the connections.
func grpcSenders(b *testing.B, addr string, s otlp.Signal) []sendFunc {
	senders := make([]sendFunc, connections)
	for i := range senders {
		conn := (&server{grpcAddr: addr}).dial(b)
		senders[i] = func(ctx context.Context, body []byte) (bool, error) {
			_, err := invoke(ctx, conn, s, body)
			return status.Code(err) == codes.Unavailable, err
		}
	}
	return senders
}

func httpSenders(b *testing.B, addr string, s otlp.Signal) []sendFunc {
	senders := make([]sendFunc, connections)
	for i := range senders {
		transport := &http.Transport{DisableCompression: true}
		b.Cleanup(transport.CloseIdleConnections)
		senders[i] = func(ctx context.Context, body []byte) (bool, error) {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/"+s.String(), bytes.NewReader(body))
			if err != nil {
				return false, err
			}
			request.Header.Set("Content-Type", asProto)
			response, err := transport.RoundTrip(request)
			if err != nil {
				return false, err
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err == nil && response.StatusCode != http.StatusOK {
				err = fmt.Errorf("status %d: %q", response.StatusCode, text)
			}
			return response.StatusCode == http.StatusServiceUnavailable, err
		}
	}
	return senders
}

// BenchmarkExport sends requests of 1,000 items on 4 connections to a receiver
// with a real store. records/s is what was acknowledged; drained-records/s
// counts until all of it is in blocks, which is what can be kept up; disk-B/record
// is what the blocks take.
func BenchmarkExport(b *testing.B) {
	senders := map[string]func(*testing.B, *server, otlp.Signal) []sendFunc{
		"grpc": func(b *testing.B, s *server, signal otlp.Signal) []sendFunc {
			return grpcSenders(b, s.grpcAddr, signal)
		},
		"http": func(b *testing.B, s *server, signal otlp.Signal) []sendFunc {
			return httpSenders(b, s.httpAddr, signal)
		},
	}
	items := map[otlp.Signal]string{otlp.Logs: "logs", otlp.Traces: "spans", otlp.Metrics: "points"}
	corpora := map[otlp.Signal]func() [][]byte{}
	for _, signal := range otlp.Signals {
		corpora[signal] = sync.OnceValue(func() [][]byte { return newCorpus(signal, corpusRequests) })
	}
	for _, transport := range []string{"grpc", "http"} {
		for _, signal := range otlp.Signals {
			b.Run(transport+"/"+items[signal], func(b *testing.B) {
				corpus := corpora[signal]()
				store := storagetest.Open(b, storage.Options{})
				s := start(b, store, receiver.Options{})
				clients := senders[transport](b, s, signal)
				load(b, clients, corpus, connections) // the first call of each connects
				b.SetBytes(meanLen(corpus))
				b.ReportAllocs()
				b.ResetTimer()
				refused := load(b, clients, corpus, b.N)
				b.StopTimer()
				acknowledged := b.Elapsed()
				began := time.Now()
				if err := store.WaitCompacted(b.Context()); err != nil {
					b.Fatal(err)
				}
				drained := acknowledged + time.Since(began)

				records := float64(b.N * batch)
				b.ReportMetric(records/acknowledged.Seconds(), "records/s")
				b.ReportMetric(records/drained.Seconds(), "drained-records/s")
				b.ReportMetric(float64(blockBytes(store))/float64(store.Stats().Signals[signal].Records), "disk-B/record")
				b.ReportMetric(float64(refused), "refused")
			})
		}
	}
}

func meanLen(corpus [][]byte) int64 {
	sum := 0
	for _, body := range corpus {
		sum += len(body)
	}
	return int64(sum / len(corpus))
}

// blockBytes is what the partitions take on disk. The head is left out: its size
// depends on what waited in it at most.
func blockBytes(store *storage.Store) (sum int64) {
	for _, f := range store.Stats().Files {
		if !strings.HasPrefix(f.Name, "head") {
			sum += f.Bytes
		}
	}
	return sum
}
