package receiver_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"sonde/receiver"
	"sonde/storage"
	"sonde/storage/otlp"
)

const (
	asProto = "application/x-protobuf"
	asJSON  = "application/json"
)

// statusBody decodes a google.rpc.Status in the encoding that the reply names.
func statusBody(t testing.TB, r reply) (codes.Code, string) {
	t.Helper()
	switch r.header.Get("Content-Type") {
	case asProto:
		var s rpcstatus.Status
		if err := proto.Unmarshal([]byte(r.body), &s); err != nil {
			t.Fatalf("body %q is no Status: %v", r.body, err)
		}
		return codes.Code(s.Code), s.Message
	case asJSON:
		var s struct {
			Code    uint32
			Message string
		}
		if err := json.Unmarshal([]byte(r.body), &s); err != nil {
			t.Fatalf("body %q is no Status: %v", r.body, err)
		}
		return codes.Code(s.Code), s.Message
	}
	t.Fatalf("error of Content-Type %q", r.header.Get("Content-Type"))
	return 0, ""
}

func TestHTTPRefuses(t *testing.T) {
	body := protoOf(t, sampleLogs("refused", 1))
	zipped, _ := compressed(t, "gzip", body)
	zstdBody, _ := compressed(t, "zstd", body)
	const logs = "/v1/logs"
	tests := []struct {
		name, method, path string
		body               []byte
		headers            []string
		status             int
		code               codes.Code
		answers            string // Content-Type
		message            string // a part of it
		rejected           uint64
	}{
		{"get", "GET", logs, nil, nil, 405, codes.Unimplemented, asProto, "use POST", 0},
		{"put", "PUT", logs, body, nil, 405, codes.Unimplemented, asProto, "use POST", 0},
		{"delete", "DELETE", logs, nil, nil, 405, codes.Unimplemented, asProto, "use POST", 0},
		{"options", "OPTIONS", logs, nil, nil, 405, codes.Unimplemented, asProto, "use POST", 0},
		{"unknown method", "FROB", logs, body, nil, 405, codes.Unimplemented, asProto, "use POST", 0},
		{"unknown path", "POST", "/v1/profiles", body, nil, 404, codes.Unimplemented, asProto, "/v1/profiles", 0},
		{"root", "GET", "/", nil, []string{"Content-Type", ""}, 404, codes.Unimplemented, asJSON, "no such path", 0},
		{"trailing slash", "POST", logs + "/", body, nil, 404, codes.Unimplemented, asProto, "", 0},
		{"text", "POST", logs, body, []string{"Content-Type", "text/plain"}, 415, codes.InvalidArgument, asJSON, `"text/plain"`, 1},
		{"no type", "POST", logs, body, []string{"Content-Type", ""}, 415, codes.InvalidArgument, asJSON, asProto, 1},
		{"nonsense type", "POST", logs, body, []string{"Content-Type", "/;;"}, 415, codes.InvalidArgument, asJSON, asJSON, 1},
		{"brotli", "POST", logs, body, []string{"Content-Encoding", "br"}, 400, codes.InvalidArgument, asProto, `"br"`, 1},
		{"two encodings", "POST", logs, zipped, []string{"Content-Encoding", "gzip, zstd"}, 400, codes.InvalidArgument, asProto, "gzip, zstd", 1},
		{"not gzip", "POST", logs, body, []string{"Content-Encoding", "gzip"}, 400, codes.InvalidArgument, asProto, "gzip", 1},
		{"cut gzip", "POST", logs, zipped[:len(zipped)-9], []string{"Content-Encoding", "gzip"}, 400, codes.InvalidArgument, asProto, "decompress", 1},
		{"empty gzip", "POST", logs, nil, []string{"Content-Encoding", "gzip"}, 400, codes.InvalidArgument, asProto, "decompress", 1},
		{"cut zstd", "POST", logs, zstdBody[:len(zstdBody)-9], []string{"Content-Encoding", "zstd"}, 400, codes.InvalidArgument, asProto, "decompress", 1},
		{"not zlib", "POST", logs, body, []string{"Content-Encoding", "deflate"}, 400, codes.InvalidArgument, asProto, "decompress", 1},
		{"not snappy", "POST", logs, body, []string{"Content-Encoding", "snappy"}, 400, codes.InvalidArgument, asProto, "decompress", 1},
		{"cut protobuf", "POST", logs, body[:len(body)-1], nil, 400, codes.InvalidArgument, asProto, "malformed", 1},
		{"one byte", "POST", logs, []byte{8}, nil, 400, codes.InvalidArgument, asProto, "malformed", 1},
		{"cut JSON", "POST", logs, []byte("{"), []string{"Content-Type", asJSON}, 400, codes.InvalidArgument, asJSON, "malformed", 1},
		{"no JSON", "POST", logs, nil, []string{"Content-Type", asJSON}, 400, codes.InvalidArgument, asJSON, "malformed", 1},
		{"JSON with a bad id", "POST", "/v1/traces", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"W47/94gDgQPSabYzgT/GDA=="}]}]}]}`), []string{"Content-Type", asJSON}, 400, codes.InvalidArgument, asJSON, "malformed", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := &fakeWriter{}
			s := start(t, w, receiver.Options{})
			r := s.do(t, test.method, test.path, bytes.NewReader(test.body), test.headers...)
			if r.status != test.status || r.header.Get("Content-Type") != test.answers {
				t.Fatalf("%s %s = %d %q %q, want %d %q", test.method, test.path, r.status, r.header.Get("Content-Type"), r.body, test.status, test.answers)
			}
			code, message := statusBody(t, r)
			if code != test.code || !strings.Contains(message, test.message) || message == "" {
				t.Errorf("Status = %v %q, want %v and %q in it", code, message, test.code, test.message)
			}
			if got := r.header.Get("Retry-After"); got != "" {
				t.Errorf("Retry-After = %q, want none: the request will never do", got)
			}
			if test.status == 405 && r.header.Get("Allow") != "POST" {
				t.Errorf("Allow = %q, want POST", r.header.Get("Allow"))
			}
			if len(w.requests) != 0 {
				t.Errorf("%d requests were stored", len(w.requests))
			}
			if got, want := w.counted(otlp.Logs, storage.HTTP), (storage.Intake{Rejected: test.rejected}); got != want {
				t.Errorf("counted %+v, want %+v", got, want)
			}
		})
	}
}

func TestHTTPAccepts(t *testing.T) {
	body, text := protoOf(t, sampleLogs("accepted", 1)), jsonOf(t, sampleLogs("accepted", 1))
	tests := []struct {
		name        string
		contentType string
		encoding    string
		body        []byte
		requests    int
	}{
		{"charset", "application/json; charset=utf-8", "", text, 1},
		{"parameter", "application/json;v=1", "", text, 1},
		{"case", "Application/JSON", "", text, 1},
		{"broken parameter", "application/x-protobuf; =", "", body, 1},
		{"empty encoding", asProto, " ", body, 1},
		{"identity and gzip", asProto, "identity, gzip", first(compressed(t, "gzip", body)), 1},
		{"nothing", asProto, "", nil, 0},
		{"empty object", asJSON, "", []byte("{}"), 0},
		{"empty envelope", asJSON, "", []byte(`{"resourceLogs":[{"scopeLogs":[{}]}]}`), 0},
		{"unknown fields", asJSON, "", []byte(`{"new":{"a":[1]},"resourceLogs":[]}`), 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := &fakeWriter{}
			s := start(t, w, receiver.Options{})
			r := s.post(t, otlp.Logs, test.body, "Content-Type", test.contentType, "Content-Encoding", test.encoding)
			if r.status != 200 {
				t.Fatalf("POST = %d %q, want 200", r.status, r.body)
			}
			if len(w.requests) != test.requests {
				t.Errorf("%d requests stored, want %d", len(w.requests), test.requests)
			}
		})
	}
}

func first[A, B any](a A, _ B) A { return a }

func TestHTTPChunkedBody(t *testing.T) {
	w := &fakeWriter{}
	s := start(t, w, receiver.Options{})
	// A reader of unknown kind makes the client send chunks.
	body := io.MultiReader(bytes.NewReader(protoOf(t, sampleLogs("chunked", 3))))
	if r := s.do(t, http.MethodPost, "/v1/logs", body); r.status != 200 {
		t.Fatalf("POST = %d %q, want 200", r.status, r.body)
	}
	if got := w.counted(otlp.Logs, storage.HTTP); got.Stored != 3 {
		t.Errorf("counted %+v, want 3 stored", got)
	}
}

// TestHTTPLimit sends bodies of exactly the limit and one byte more, the size
// counted on the wire and after decompression.
func TestHTTPLimit(t *testing.T) {
	const limit = 100_000
	w := &fakeWriter{}
	s := start(t, w, receiver.Options{MaxBodyBytes: limit})
	grow := map[string]func(size int) []byte{asProto: protoOfSize, asJSON: jsonOfSize}
	for mediaType, make := range grow {
		for _, compression := range []string{"none", "gzip", "zstd", "deflate", "snappy", "snappy block"} {
			for size, want := range map[int]int{limit: 200, limit + 1: 413, 3 * limit: 413} {
				body, header := compressed(t, compression, make(size))
				if compression != "none" && len(body) > limit/2 {
					t.Fatalf("%s of %d bytes has %d: the limit on the wire would do", compression, size, len(body))
				}
				r := s.post(t, otlp.Logs, body, "Content-Type", mediaType, "Content-Encoding", header)
				if r.status != want {
					t.Fatalf("POST %s, %s, %d bytes = %d %q, want %d", mediaType, compression, size, r.status, r.body, want)
				}
				if want == 413 {
					if code, message := statusBody(t, r); code != codes.ResourceExhausted || !strings.Contains(message, "100000 bytes") {
						t.Errorf("Status = %v %q, want RESOURCE_EXHAUSTED with the limit", code, message)
					}
				}
			}
		}
	}
	// Without a Content-Length, and with one that is reached only by padding
	// after the compressed data.
	if r := s.do(t, http.MethodPost, "/v1/logs", io.MultiReader(bytes.NewReader(protoOfSize(limit+1)))); r.status != 413 {
		t.Errorf("POST in chunks = %d, want 413", r.status)
	}
	if got := w.counted(otlp.Logs, storage.HTTP); got.Stored != 12 || got.Rejected != 25 {
		t.Errorf("counted %+v, want 12 stored and 25 rejected", got)
	}
}

// protoOfSize is a request of one log record that takes size bytes.
func protoOfSize(size int) []byte { return padded(size, false) }

func jsonOfSize(size int) []byte { return padded(size, true) }

func padded(size int, asJSON bool) []byte {
	for n := size; ; {
		r := logOfBody(strings.Repeat("a", n))
		b, err := r.MarshalProto()
		if asJSON {
			b, err = r.MarshalJSON()
		}
		if err != nil {
			panic(err)
		}
		if len(b) == size {
			return b
		}
		if len(b) < size {
			panic("no request has this size")
		}
		n -= len(b) - size
	}
}

func TestHTTPAuthorize(t *testing.T) {
	asked := make(chan string, 1)
	authorize := func(token string) error {
		asked <- token
		if token != "right" {
			return errors.New("the secret inside")
		}
		return nil
	}
	tests := []struct {
		header, token string
		status        int
	}{
		{"", "", 401},
		{"Bearer", "", 401},
		{"Basic right", "", 401},
		{"Bearer wrong", "wrong", 401},
		{"Bearer right", "right", 200},
		{"bearer  right ", "right", 200},
	}
	w := &fakeWriter{}
	s := start(t, w, receiver.Options{Authorize: authorize})
	for _, test := range tests {
		for _, mediaType := range []string{asProto, asJSON} {
			r := s.post(t, otlp.Logs, nil, "Authorization", test.header, "Content-Type", asProto)
			if token := <-asked; r.status != test.status || token != test.token {
				t.Errorf("POST with Authorization %q = %d, asked about %q, want %d, %q", test.header, r.status, token, test.status, test.token)
			}
			if test.status == 200 {
				continue
			}
			if code, message := statusBody(t, r); code != codes.Unauthenticated || strings.Contains(message, "secret") {
				t.Errorf("Status as %s = %v %q, want UNAUTHENTICATED and no internals", mediaType, code, message)
			}
			if got := r.header.Get("WWW-Authenticate"); got != "Bearer" {
				t.Errorf("WWW-Authenticate = %q, want Bearer", got)
			}
		}
	}
}

// TestHTTPAuthorizeBeforeBody refuses while the body is still on its way.
func TestHTTPAuthorizeBeforeBody(t *testing.T) {
	s := start(t, &fakeWriter{}, receiver.Options{Authorize: func(string) error { return errors.New("no") }})
	body, send := io.Pipe()
	defer send.Close()
	if r := s.do(t, http.MethodPost, "/v1/logs", body, "Content-Encoding", "br"); r.status != 401 {
		t.Errorf("POST = %d, want 401", r.status)
	}
}

// TestTooLargeIsSeen has a client that sends all of its request before it reads,
// as those of most languages do. Closing on it would look like a broken network,
// after which it sends the same again.
func TestTooLargeIsSeen(t *testing.T) {
	s := start(t, &fakeWriter{}, receiver.Options{MaxBodyBytes: 1 << 20})
	const size = 32 << 20
	for _, header := range []string{fmt.Sprintf("Content-Length: %d\r\n\r\n", size), fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size)} {
		conn, err := net.Dial("tcp", s.httpAddr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\n"+header); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(make([]byte, size)); err != nil {
			t.Errorf("%q: sending failed: %v", header, err)
			continue
		}
		if _, err := io.WriteString(conn, "\r\n0\r\n\r\n"); err != nil {
			t.Errorf("%q: sending failed: %v", header, err)
			continue
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%q: no answer: %v", header, err)
			continue
		}
		response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%q: answer %d, want 413", header, response.StatusCode)
		}
	}
}
