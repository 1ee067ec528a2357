package receiver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"

	"sonde/storage"
	"sonde/storage/otlp"
)

const (
	defaultMaxBodyBytes = 64 << 20 // OTLP specification, "Message Size Limits"

	// failedDrain is how long requests under way on one listener may take after
	// the other listener has failed.
	failedDrain = 5 * time.Second
	// cutGrace is how long Shutdown waits for handlers whose connections it has
	// cut. They end at once unless the Writer ignores its context.
	cutGrace = 2 * time.Second
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
	// Log receives panics and what else an operator should know; default
	// slog.Default().
	Log *slog.Logger
}

// Receiver serves OTLP on two listeners. Make one with New; it serves once.
type Receiver struct {
	writer   Writer
	options  Options
	decoders *decoders
	logged   seldom // failures of the Writer
	// expanding holds a token for each call of expand that runs.
	expanding chan struct{}

	grpcServer *grpc.Server
	httpServer *http.Server
	fresh      freshConns
	health     *health.Server
	// inFlight is read-locked by each HTTP handler and locked for good once
	// the servers have stopped: that waits for those whose connection was cut.
	inFlight sync.RWMutex

	stop     sync.Once
	draining context.Context // ends when Shutdown begins
	cutting  context.Context // ends when connections are to be cut
	stopped  chan struct{}   // closed when nothing runs any more

	beginDrain, beginCut context.CancelFunc
}

// New returns a receiver that writes to w.
func New(w Writer, o Options) *Receiver {
	o.MaxBodyBytes = cmp.Or(o.MaxBodyBytes, defaultMaxBodyBytes)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	r := &Receiver{
		writer:   w,
		options:  o,
		decoders: newDecoders(o.MaxBodyBytes),
		stopped:  make(chan struct{}),

		expanding: make(chan struct{}, maxExpanding),
	}
	r.draining, r.beginDrain = context.WithCancel(context.Background())
	r.cutting, r.beginCut = context.WithCancel(context.Background())
	r.grpcServer, r.health = r.newGRPCServer()
	r.httpServer = r.newHTTPServer()
	return r
}

// Serve serves gRPC on one listener and HTTP on the other until Shutdown or a
// listener fails; the failure of one stops the other and is returned. It owns
// both listeners. After Shutdown, also one that came before, it returns nil once
// nothing runs any more.
func (r *Receiver) Serve(grpc, http net.Listener) error {
	ended := make(chan error, 2)
	go func() { ended <- serveFailure("gRPC", r.grpcServer.Serve(grpc)) }()
	go func() { ended <- serveFailure("HTTP", r.httpServer.Serve(http)) }()

	err := <-ended
	if err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), failedDrain)
		defer cancel()
		err = errors.Join(err, r.Shutdown(ctx))
	}
	err = errors.Join(err, <-ended)
	<-r.stopped
	return err
}

// serveFailure returns nil when a server ended because it was told to.
func serveFailure(name string, err error) error {
	if err == nil || errors.Is(err, grpc.ErrServerStopped) || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("cannot serve OTLP over %s: %w", name, err)
}

// Shutdown stops taking in, finishes what is in flight until ctx ends, then
// cuts the rest and returns ctx's error. It may be called twice: whichever
// caller's ctx ends first cuts.
func (r *Receiver) Shutdown(ctx context.Context) error {
	r.stop.Do(func() { go r.drain() })
	select {
	case <-r.stopped:
		return nil
	case <-ctx.Done():
	}
	r.beginCut()
	go r.grpcServer.Stop() // waits for connections that are not HTTP/2 yet
	r.httpServer.Close()
	timer := time.NewTimer(cutGrace)
	defer timer.Stop()
	select {
	case <-r.stopped:
		return fmt.Errorf("cut OTLP requests short: %w", ctx.Err())
	case <-timer.C:
		return fmt.Errorf("OTLP requests still run after their connections were cut: %w", ctx.Err())
	}
}

// drain stops both servers and returns when the last handler has.
func (r *Receiver) drain() {
	r.beginDrain()
	r.health.Shutdown()
	var servers sync.WaitGroup
	servers.Go(r.grpcServer.GracefulStop)
	servers.Go(func() {
		r.fresh.closeAll()
		// The error says that cutting came first; Shutdown reports that.
		_ = r.httpServer.Shutdown(r.cutting)
	})
	servers.Wait()
	r.inFlight.Lock() // never unlocked: from here on no handler may begin
	r.beginCut()
	close(r.stopped)
}
