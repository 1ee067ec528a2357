package receiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/encoding"

	"sonde/storage"
	"sonde/storage/otlp"
)

// uncounted is a Writer for requests that don't come to it.
type uncounted struct{ Writer }

func (uncounted) CountIntake(otlp.Signal, storage.Transport, storage.Intake) {}

// TestFewExpandAtATime: many small bodies that become large must not become
// large together.
func TestFewExpandAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(uncounted{}, Options{})
		var inside atomic.Int64
		leave := make(chan struct{})
		r.decoders.byName["gzip"] = func(io.Reader, int64, int64) ([]byte, error) {
			inside.Add(1)
			<-leave
			return nil, errCompression
		}
		var clients sync.WaitGroup
		for range 8 * maxExpanding {
			clients.Go(func() {
				request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/logs", nil)
				request.Header.Set("Content-Type", "application/x-protobuf")
				request.Header.Set("Content-Encoding", "gzip")
				r.httpServer.Handler.ServeHTTP(httptest.NewRecorder(), request)
			})
		}
		synctest.Wait()
		if n := inside.Load(); n != int64(maxExpanding) {
			t.Errorf("%d bodies are decompressed at a time, want %d", n, maxExpanding)
		}
		close(leave)
		clients.Wait()
		if n := inside.Load(); n != int64(8*maxExpanding) {
			t.Errorf("%d bodies were decompressed in the end, want all %d", n, 8*maxExpanding)
		}
	})
}

func TestFewExpandAtATimeOverGRPC(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if err := z.Close(); err != nil { // of an empty message
		t.Fatal(err)
	}
	if cap(decompressing) != maxExpanding {
		t.Errorf("there are %d places, want %d", cap(decompressing), maxExpanding)
	}
	compressor := encoding.GetCompressor("gzip")
	for n := range maxExpanding {
		r, err := compressor.Decompress(bytes.NewReader(packed.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := r.(io.Closer).Close(); err != nil || len(decompressing) != n {
				t.Errorf("Close = %v, %d places taken, want %d", err, len(decompressing), n)
			}
		}()
		if len(decompressing) != n+1 {
			t.Errorf("%d places taken, want %d", len(decompressing), n+1)
		}
	}
}

func TestBadMessageTakesNoPlace(t *testing.T) {
	if _, err := encoding.GetCompressor("gzip").Decompress(bytes.NewReader([]byte("no gzip"))); err == nil {
		t.Error("Decompress took what is no gzip")
	}
	if n := len(decompressing); n != 0 {
		t.Errorf("%d places are taken for ever", n)
	}
}

func TestExpandGivesUp(t *testing.T) {
	r := New(nil, Options{})
	for range maxExpanding {
		r.expanding <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.expand(ctx, func() { t.Error("expand ran without a place") }); !errors.Is(err, context.Canceled) {
		t.Errorf("expand = %v, want %v", err, context.Canceled)
	}
}
