// Package receiver takes in OTLP over gRPC and HTTP and hands each request, as
// validated wire bytes, to a Writer. It answers success only after the Writer
// said that the data is stored.
package receiver

import (
	"context"
	"log/slog"
	"net"

	"sonde/storage"
	"sonde/storage/otlp"
)

// Writer stores requests; *storage.Store is the one that counts.
type Writer interface {
	// Append returns nil only when the request is durable. It owns r.
	Append(ctx context.Context, r *otlp.Request) error
	// CountIntake notes what became of the items that came in.
	CountIntake(s otlp.Signal, t storage.Transport, add storage.Intake)
}

// Options configure a Receiver. Zero values mean the defaults.
type Options struct {
	// MaxBodyBytes limits a request before and after decompression; default 64 MiB.
	MaxBodyBytes int64
	// Authorize, when set, is asked with the bearer token ("" when none was
	// sent) of each request; an error refuses it.
	Authorize func(token string) error
	Log       *slog.Logger
}

// Receiver serves OTLP on two listeners.
type Receiver struct{}

// New returns a receiver that writes to w.
func New(w Writer, o Options) *Receiver { panic("not built yet") }

// Serve serves gRPC on one listener and HTTP on the other until Shutdown or a
// listener fails. It owns both listeners.
func (r *Receiver) Serve(grpc, http net.Listener) error { panic("not built yet") }

// Shutdown stops taking in, finishes what is in flight until ctx ends, then
// cuts the rest. It may be called twice.
func (r *Receiver) Shutdown(ctx context.Context) error { panic("not built yet") }
