package receiver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"sonde/receiver"
	"sonde/storage"
	"sonde/storage/otlp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// methods are the Export methods of gRPC.
var methods = map[otlp.Signal]string{
	otlp.Logs:    "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
	otlp.Traces:  "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
	otlp.Metrics: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}

// fakeWriter stands for a store that does what append says.
type fakeWriter struct {
	append func(context.Context, *otlp.Request) error // nil: succeed

	mu       sync.Mutex // protects what follows
	requests []*otlp.Request
	intake   map[otlp.Signal]*[2]storage.Intake
}

func (w *fakeWriter) Append(ctx context.Context, r *otlp.Request) error {
	if w.append != nil {
		if err := w.append(ctx, r); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r)
	return nil
}

func (w *fakeWriter) CountIntake(s otlp.Signal, t storage.Transport, add storage.Intake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.intake == nil {
		w.intake = map[otlp.Signal]*[2]storage.Intake{}
	}
	if w.intake[s] == nil {
		w.intake[s] = new([2]storage.Intake)
	}
	sum := &w.intake[s][t]
	sum.Stored += add.Stored
	sum.Rejected += add.Rejected
	sum.Refused += add.Refused
}

// counted returns what CountIntake was told.
func (w *fakeWriter) counted(s otlp.Signal, t storage.Transport) storage.Intake {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.intake[s] == nil {
		return storage.Intake{}
	}
	return w.intake[s][t]
}

// server is a receiver that serves.
type server struct {
	*receiver.Receiver
	grpcAddr, httpAddr string
	served             chan error // what Serve returned
	client             *http.Client
}

// start serves until the end of the test.
func start(t testing.TB, w receiver.Writer, o receiver.Options) *server {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	grpcListener, httpListener := listen(t), listen(t)
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8}
	s := &server{
		Receiver: receiver.New(w, o),
		grpcAddr: grpcListener.Addr().String(), httpAddr: httpListener.Addr().String(),
		served: make(chan error, 1),
		client: &http.Client{Transport: transport},
	}
	go func() { s.served <- s.Serve(grpcListener, httpListener) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-s.served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// dial opens a gRPC connection that ends with the test.
func (s *server) dial(t testing.TB) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(s.grpcAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// bytesCodec sends and receives messages as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// invoke exports over gRPC and returns the answer's bytes.
func invoke(ctx context.Context, conn *grpc.ClientConn, s otlp.Signal, body []byte, options ...grpc.CallOption) ([]byte, error) {
	var answer []byte
	options = append(options, grpc.ForceCodecV2(bytesCodec{}))
	err := conn.Invoke(ctx, methods[s], body, &answer, options...)
	return answer, err
}

// reply is an HTTP answer, read.
type reply struct {
	status int
	header http.Header
	body   string
}

// post sends a body to the path of a signal. headers are name, value, name…; the
// default Content-Type is protobuf's.
func (s *server) post(t testing.TB, signal otlp.Signal, body []byte, headers ...string) reply {
	t.Helper()
	return s.do(t, http.MethodPost, "/v1/"+signal.String(), bytes.NewReader(body), headers...)
}

func (s *server) do(t testing.TB, method, path string, body io.Reader, headers ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.httpAddr+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(text)}
}

// logTo logs to a buffer. The caller reads it when no request is under way.
func logTo(b *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

func unmarshal(t testing.TB, b []byte, m proto.Message) {
	t.Helper()
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
}
