package receiver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"sonde/receiver"
	"sonde/storage"
	"sonde/storage/otlp"
)

func TestGRPCRefuses(t *testing.T) {
	body := protoOf(t, sampleLogs("refused", 1))
	tests := []struct {
		name    string
		body    []byte
		options []grpc.CallOption
		code    codes.Code
		message string
	}{
		{"cut", body[:len(body)-1], nil, codes.InvalidArgument, "malformed"},
		{"one byte", []byte{8}, nil, codes.InvalidArgument, "malformed"},
		{"too large", protoOfSize(100_001), nil, codes.ResourceExhausted, "100000"},
		{"too large after gzip", protoOfSize(100_001), []grpc.CallOption{grpc.UseCompressor("gzip")}, codes.ResourceExhausted, "100000"},
		{"too large after zstd", protoOfSize(100_001), []grpc.CallOption{grpc.UseCompressor("zstd")}, codes.ResourceExhausted, "100000"},
	}
	w := &fakeWriter{}
	s := start(t, w, receiver.Options{MaxBodyBytes: 100_000})
	conn := s.dial(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := invoke(t.Context(), conn, otlp.Logs, test.body, test.options...)
			got := status.Convert(err)
			if got.Code() != test.code || !strings.Contains(got.Message(), test.message) {
				t.Errorf("Export = %v, want %v and %q in it", err, test.code, test.message)
			}
			if len(got.Details()) != 0 {
				t.Errorf("details = %v, want none: the request will never do", got.Details())
			}
		})
	}
	for _, compression := range []string{"gzip", "zstd"} {
		if _, err := invoke(t.Context(), conn, otlp.Logs, protoOfSize(100_000), grpc.UseCompressor(compression)); err != nil {
			t.Errorf("Export of the limit, %s = %v, want success on the same connection", compression, err)
		}
	}
	s.wantCounted(t, w, storage.Intake{Stored: 2, Rejected: uint64(len(tests))})
}

// wantCounted compares what became of log records over gRPC once the server has
// stopped: grpc answers some requests before their handler has counted them.
func (s *server) wantCounted(t *testing.T, w *fakeWriter, want storage.Intake) {
	t.Helper()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.counted(otlp.Logs, storage.GRPC); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// TestGRPCBadCompression sends a message that is not what its header says.
func TestGRPCBadCompression(t *testing.T) {
	w := &fakeWriter{}
	s := start(t, w, receiver.Options{})
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	for _, compression := range []string{"gzip", "zstd"} {
		const compressedFlag = 1
		message := append([]byte{compressedFlag, 0, 0, 0, 4}, "junk"...)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.grpcAddr+methods[otlp.Logs], bytes.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/grpc")
		request.Header.Set("Te", "trailers")
		request.Header.Set("Grpc-Encoding", compression)
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil { // the status may be a trailer
			t.Error(err)
		}
		response.Body.Close()
		got := response.Header.Get("Grpc-Status") + response.Trailer.Get("Grpc-Status")
		if want := strconv.Itoa(int(codes.Internal)); got != want {
			t.Errorf("status of junk as %s = %q, want %q", compression, got, want)
		}
	}
	s.wantCounted(t, w, storage.Intake{Rejected: 2})
}

// TestGRPCGeneratedClient uses the stubs that every client uses.
func TestGRPCGeneratedClient(t *testing.T) {
	w := &fakeWriter{}
	s := start(t, w, receiver.Options{})
	var request collectorlogs.ExportLogsServiceRequest
	unmarshal(t, protoOf(t, sampleLogs("stub", 2)), &request)
	answer, err := collectorlogs.NewLogsServiceClient(s.dial(t)).Export(t.Context(), &request)
	if err != nil {
		t.Fatal(err)
	}
	if answer.PartialSuccess != nil {
		t.Errorf("partial success = %v, want it unset", answer.PartialSuccess)
	}
	if got := w.counted(otlp.Logs, storage.GRPC); got.Stored != 2 {
		t.Errorf("counted %+v, want 2 stored", got)
	}
}

func TestGRPCUnknownService(t *testing.T) {
	s := start(t, &fakeWriter{}, receiver.Options{})
	var answer []byte
	err := s.dial(t).Invoke(t.Context(), "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export", []byte{}, &answer, grpc.ForceCodecV2(bytesCodec{}))
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("Export of profiles = %v, want UNIMPLEMENTED", err)
	}
}

func TestGRPCHealth(t *testing.T) {
	s := start(t, &fakeWriter{}, receiver.Options{Authorize: func(string) error { return errors.New("no") }})
	client := grpc_health_v1.NewHealthClient(s.dial(t))
	for _, service := range []string{"", "opentelemetry.proto.collector.logs.v1.LogsService"} {
		answer, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		if err != nil || answer.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("Check(%q) = %v, %v, want SERVING", service, answer, err)
		}
	}
}

func TestGRPCAuthorize(t *testing.T) {
	w := &fakeWriter{}
	s := start(t, w, receiver.Options{Authorize: func(token string) error {
		if token != "right" {
			return errors.New("the secret inside")
		}
		return nil
	}})
	conn := s.dial(t)
	for header, want := range map[string]codes.Code{
		"":             codes.Unauthenticated,
		"Bearer wrong": codes.Unauthenticated,
		"Bearer right": codes.OK,
	} {
		ctx := t.Context()
		if header != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", header)
		}
		_, err := invoke(ctx, conn, otlp.Logs, protoOf(t, sampleLogs("authorized", 1)))
		if status.Code(err) != want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("Export with authorization %q = %v, want %v", header, err, want)
		}
	}
	if len(w.requests) != 1 {
		t.Errorf("%d requests stored, want 1", len(w.requests))
	}
}

// TestGRPCAuthorizeBeforeBody refuses a client that never sends its message.
func TestGRPCAuthorizeBeforeBody(t *testing.T) {
	s := start(t, &fakeWriter{}, receiver.Options{Authorize: func(string) error { return errors.New("no") }})
	stream, err := s.dial(t).NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, methods[otlp.Logs], grpc.ForceCodecV2(bytesCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	var answer []byte
	if err := stream.RecvMsg(&answer); status.Code(err) != codes.Unauthenticated {
		t.Errorf("answer before the message = %v, want UNAUTHENTICATED", err)
	}
}

// TestWrongProtocol speaks HTTP/1.1 to the gRPC port and gRPC to the HTTP port.
// Both fail, and both servers live on.
func TestWrongProtocol(t *testing.T) {
	w := &fakeWriter{}
	s := start(t, w, receiver.Options{})
	response, err := s.client.Post("http://"+s.grpcAddr+"/v1/logs", asProto, nil)
	if err == nil {
		response.Body.Close()
		t.Error("HTTP/1.1 to the gRPC port succeeded")
	}
	swapped := &server{grpcAddr: s.httpAddr}
	if _, err := invoke(t.Context(), swapped.dial(t), otlp.Logs, nil); err == nil {
		t.Error("gRPC to the HTTP port succeeded")
	}
	if r := s.post(t, otlp.Logs, nil); r.status != http.StatusOK {
		t.Errorf("POST afterwards = %d", r.status)
	}
	if _, err := invoke(t.Context(), s.dial(t), otlp.Logs, nil); err != nil {
		t.Errorf("Export afterwards = %v", err)
	}
}

// retryDelay returns the RetryInfo of an error, 0 when there is none.
func retryDelay(err error) (seconds float64) {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.RetryDelay.AsDuration().Seconds()
		}
	}
	return 0
}

// TestWriterErrors forces each error of a Writer and looks at what clients see.
func TestWriterErrors(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		code   codes.Code
		status int
		retry  bool // a time to come back is attached
	}{
		{"overloaded", storage.ErrOverloaded, codes.Unavailable, 503, true},
		{"disk", storage.ErrDisk, codes.Unavailable, 503, true},
		{"closed", storage.ErrClosed, codes.Unavailable, 503, true},
		{"canceled", context.Canceled, codes.Canceled, 503, false},
		{"deadline", context.DeadlineExceeded, codes.Canceled, 503, false},
		{"unknown", net.ErrWriteToConnected, codes.Unavailable, 503, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := &fakeWriter{append: func(context.Context, *otlp.Request) error {
				return errors.Join(test.err, errors.New("/var/lib/secret.db"))
			}}
			var log bytes.Buffer
			s := start(t, w, receiver.Options{Log: logTo(&log)})
			for _, signal := range otlp.Signals {
				body := protoOf(t, sample(signal, "failing", 4))
				_, err := invoke(t.Context(), s.dial(t), signal, body)
				if status.Code(err) != test.code || (retryDelay(err) > 0) != test.retry {
					t.Errorf("Export %v = %v, RetryInfo %v s, want %v, RetryInfo: %t", signal, err, retryDelay(err), test.code, test.retry)
				}
				r := s.post(t, signal, body)
				if r.status != test.status || (r.header.Get("Retry-After") != "") != test.retry {
					t.Errorf("POST %v = %d, Retry-After %q, want %d, Retry-After: %t", signal, r.status, r.header.Get("Retry-After"), test.status, test.retry)
				}
				code, message := statusBody(t, r)
				if code != test.code {
					t.Errorf("Status of %v = %v, want %v", signal, code, test.code)
				}
				if strings.Contains(message+err.Error(), "secret") {
					t.Errorf("internals leak: %v, %q", err, message)
				}
				for _, transport := range []storage.Transport{storage.GRPC, storage.HTTP} {
					if got, want := w.counted(signal, transport), (storage.Intake{Refused: 4}); got != want {
						t.Errorf("counted %v by %v %+v, want %+v", signal, transport, got, want)
					}
				}
			}
			if logged := log.Len() > 0; logged != (test.name == "unknown") {
				t.Errorf("log = %q: only what the store does not account for itself belongs there", &log)
			}
		})
	}
}

// TestPanics lets the Writer panic.
func TestPanics(t *testing.T) {
	w := &fakeWriter{append: func(context.Context, *otlp.Request) error { panic("the secret inside") }}
	var log bytes.Buffer
	s := start(t, w, receiver.Options{Log: logTo(&log)})
	body := protoOf(t, sampleLogs("panics", 1))
	for range 2 { // the second shows that both servers live
		_, err := invoke(t.Context(), s.dial(t), otlp.Logs, body)
		if status.Code(err) != codes.Internal || strings.Contains(err.Error(), "secret") {
			t.Errorf("Export = %v, want INTERNAL without internals", err)
		}
		r := s.post(t, otlp.Logs, body)
		if code, message := statusBody(t, r); r.status != 500 || code != codes.Internal || strings.Contains(message, "secret") {
			t.Errorf("POST = %d %v %q, want 500 INTERNAL without internals", r.status, code, message)
		}
	}
	if got := strings.Count(log.String(), "TestPanics.func1"); got != 4 {
		t.Errorf("the log has %d stacks of the panic, want 4:\n%s", got, &log)
	}
}
