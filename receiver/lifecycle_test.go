package receiver_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"sonde/receiver"
	"sonde/storage/otlp"
)

// blockingWriter holds every Append until release is closed or the context
// ends.
func blockingWriter() (w *fakeWriter, entered chan string, release chan struct{}) {
	entered, release = make(chan string, 16), make(chan struct{})
	return &fakeWriter{append: func(ctx context.Context, _ *otlp.Request) error {
		entered <- "Append"
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}, entered, release
}

// outcome is what a client saw of one request.
type outcome struct {
	transport string
	err       error
	status    int
}

// exportBoth begins one request on each transport and returns once both are in
// the Writer.
func exportBoth(t *testing.T, s *server, entered chan string) <-chan outcome {
	t.Helper()
	outcomes := make(chan outcome, 2)
	body := protoOf(t, sampleLogs("in flight", 1))
	conn := s.dial(t)
	go func() {
		_, err := invoke(context.Background(), conn, otlp.Logs, body)
		outcomes <- outcome{transport: "grpc", err: err}
	}()
	go func() {
		response, err := s.client.Post("http://"+s.httpAddr+"/v1/logs", asProto, bytes.NewReader(body))
		if err != nil {
			outcomes <- outcome{transport: "http", err: err}
			return
		}
		response.Body.Close()
		outcomes <- outcome{transport: "http", status: response.StatusCode}
	}()
	<-entered
	<-entered
	return outcomes
}

func TestShutdownFinishesWhatIsInFlight(t *testing.T) {
	w, entered, release := blockingWriter()
	s := start(t, w, receiver.Options{})
	outcomes := exportBoth(t, s, entered)

	// A client that watches the health must not hold up the stop.
	watch, err := grpc_health_v1.NewHealthClient(s.dial(t)).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := watch.Recv(); err != nil || state.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Fatalf("health = %v, %v, want SERVING", state, err)
	}

	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	for { // the watcher is told or cut; either shows that the stop has begun
		if _, err := watch.Recv(); err != nil {
			if status.Code(err) != codes.Unavailable {
				t.Errorf("health ended with %v, want UNAVAILABLE", err)
			}
			break
		}
	}
	waitRefused(t, s.grpcAddr)
	waitRefused(t, s.httpAddr)
	select {
	case err := <-stopped:
		t.Fatalf("Shutdown = %v with two requests in flight", err)
	default:
	}
	close(release)
	for range 2 {
		if o := <-outcomes; o.err != nil || o.transport == "http" && o.status != 200 {
			t.Errorf("request in flight ended with %+v, want success", o)
		}
	}
	if err := <-stopped; err != nil {
		t.Errorf("Shutdown = %v", err)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Errorf("second Shutdown = %v", err)
	}
}

// waitRefused returns once nobody listens on an address any more.
func waitRefused(t *testing.T, addr string) {
	t.Helper()
	for t.Context().Err() == nil {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		conn.Close()
	}
}

func TestShutdownCutsWhatTakesTooLong(t *testing.T) {
	w, entered, _ := blockingWriter()
	s := start(t, w, receiver.Options{})
	outcomes := exportBoth(t, s, entered)

	slow := make(chan error, 1)
	go func() { slow <- s.Shutdown(context.Background()) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown = %v, want %v", err, context.Canceled)
	}
	for range 2 {
		if o := <-outcomes; o.err == nil && o.status != http.StatusServiceUnavailable {
			t.Errorf("request that was cut ended with %+v", o)
		}
	}
	if err := <-slow; err != nil {
		t.Errorf("the patient Shutdown = %v: by then nothing runs", err)
	}
}

func TestShutdownBeforeServe(t *testing.T) {
	r := receiver.New(&fakeWriter{}, receiver.Options{})
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	grpcListener, httpListener := listen(t), listen(t)
	if err := r.Serve(grpcListener, httpListener); err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
	for _, l := range []net.Listener{grpcListener, httpListener} {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve left a listener open: Close = %v", err)
		}
	}
}

// TestShutdownWithFreshConnections has a client that connected and said
// nothing. It must not cost the 5 s for which net/http waits for its request.
func TestShutdownWithFreshConnections(t *testing.T) {
	s := start(t, &fakeWriter{}, receiver.Options{})
	for range 3 {
		conn, err := net.Dial("tcp", s.httpAddr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if r := s.post(t, otlp.Logs, nil); r.status != 200 { // accepted after those
		t.Fatalf("POST = %d", r.status)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown = %v", err)
	}
}

// TestShutdownWithHalfAConnection has clients that connected to gRPC and never
// became HTTP/2, as port scanners do: not even cutting ends them.
func TestShutdownWithHalfAConnection(t *testing.T) {
	s := start(t, &fakeWriter{}, receiver.Options{})
	for _, said := range []string{"", "PRI * HT"} {
		conn, err := net.Dial("tcp", s.grpcAddr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := invoke(t.Context(), s.dial(t), otlp.Logs, nil); err != nil { // accepted after those
		t.Fatal(err)
	}
	hasty, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if err := s.Shutdown(hasty); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown = %v, want %v", err, context.Canceled)
	}
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("Shutdown that is to cut took %v", took)
	}
	patient, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	if err := s.Shutdown(patient); err != nil {
		t.Errorf("Shutdown = %v, want nil once the handshakes are out of time", err)
	}
}

// brokenListener fails when told to.
type brokenListener struct {
	net.Listener
	broken chan struct{}
}

var errBroken = errors.New("listener broke")

func (l *brokenListener) Accept() (net.Conn, error) {
	<-l.broken
	return nil, errBroken
}

func TestFailedListenerStopsTheOther(t *testing.T) {
	for _, failing := range []string{"grpc", "http"} {
		t.Run(failing, func(t *testing.T) {
			r := receiver.New(&fakeWriter{}, receiver.Options{})
			whole := listen(t)
			broken := &brokenListener{listen(t), make(chan struct{})}
			served := make(chan error, 1)
			go func() {
				if failing == "grpc" {
					served <- r.Serve(broken, whole)
				} else {
					served <- r.Serve(whole, broken)
				}
			}()
			close(broken.broken)
			if err := <-served; !errors.Is(err, errBroken) {
				t.Errorf("Serve = %v, want %v", err, errBroken)
			}
			for _, l := range []net.Listener{whole, broken} {
				if err := l.Close(); !errors.Is(err, net.ErrClosed) {
					t.Errorf("Serve left a listener open: Close = %v", err)
				}
			}
		})
	}
}
