package receiver_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"sonde/receiver"
	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// The files of testdata/cases are faults that real exporters and receivers had,
// by the numbers under which they were collected. Their times hang on
// sampleStart, written as T.

func caseFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// caseServer is a receiver with a real store.
func caseServer(t *testing.T, o receiver.Options) (*server, *storage.Store) {
	t.Helper()
	store := storagetest.Open(t, storage.Options{})
	return start(t, store, o), store
}

// stored describes every item of a signal in a line, sorted by time.
func stored(t testing.TB, store *storage.Store, s otlp.Signal) []string {
	t.Helper()
	type line struct {
		at   uint64
		text string
	}
	var lines []line
	visit := func(b *block.Block, _ storage.Position) (bool, error) {
		times, err := b.Times()
		if err != nil {
			return false, err
		}
		for row := range b.Rows {
			item, err := readRow(t, s, b, row)
			if err != nil {
				return false, err
			}
			lines = append(lines, line{times[row], describe(times[row], item)})
		}
		return true, nil
	}
	if err := store.Scan(t.Context(), storage.ScanOptions{Signal: s}, visit); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		if a.at != b.at {
			return int(int64(a.at - b.at))
		}
		return strings.Compare(a.text, b.text)
	})
	texts := make([]string, len(lines))
	for i := range lines {
		texts[i] = lines[i].text
	}
	return texts
}

// describe writes a log record as "T+1s BODY [TRACE/SPAN]" and a span as
// "T+0s NAME 10ms TRACE/SPAN", the duration - where the end is no good.
func describe(at uint64, item proto.Message) string {
	text := sinceStart(at) + " "
	switch item := item.(type) {
	case *logspb.ResourceLogs:
		record := item.ScopeLogs[0].LogRecords[0]
		text += valueText(record.Body)
		if len(record.TraceId)+len(record.SpanId) > 0 {
			text += " " + hex.EncodeToString(record.TraceId) + "/" + hex.EncodeToString(record.SpanId)
		}
	case *tracepb.ResourceSpans:
		span := item.ScopeSpans[0].Spans[0]
		duration := "-"
		if span.EndTimeUnixNano >= span.StartTimeUnixNano {
			duration = time.Duration(span.EndTimeUnixNano - span.StartTimeUnixNano).String()
		}
		text += span.Name + " " + duration + " " + hex.EncodeToString(span.TraceId) + "/" + hex.EncodeToString(span.SpanId)
	}
	return text
}

// sinceStart writes a time as T+1s, one far from there as "now".
func sinceStart(at uint64) string {
	d := time.Unix(0, int64(at)).Sub(sampleStart)
	if d.Abs() < time.Hour {
		return "T+" + d.String()
	}
	if time.Since(time.Unix(0, int64(at))).Abs() < time.Minute {
		return "now"
	}
	return time.Unix(0, int64(at)).UTC().String()
}

func valueText(v *commonpb.AnyValue) string {
	switch v := v.GetValue().(type) {
	case nil:
		return "nothing"
	case *commonpb.AnyValue_StringValue:
		return fmt.Sprintf("%q", v.StringValue)
	case *commonpb.AnyValue_BytesValue:
		return fmt.Sprintf("bytes %x", v.BytesValue)
	case *commonpb.AnyValue_ArrayValue:
		var texts []string
		for _, inner := range v.ArrayValue.Values {
			texts = append(texts, valueText(inner))
		}
		return "[" + strings.Join(texts, " ") + "]"
	case *commonpb.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *commonpb.AnyValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue)
	case *commonpb.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	}
	return fmt.Sprintf("%T", v.GetValue())
}

// TestCasesOfItems posts files as they are.
func TestCasesOfItems(t *testing.T) {
	const trace = "5b8efff798038103d269b633813fc60c/"
	tests := []struct {
		file   string
		signal otlp.Signal
		answer string
		want   []string
	}{
		{"A-06.json", otlp.Logs, `{}`, []string{`T+1s "a06 zero string"`, `T+2s "a06 zero number"`, `T+3s "a06 absent"`}},
		{"A-07.json", otlp.Logs, `{}`, []string{`T+0s "a07 timed"`, `now "a07 timeless"`}},
		{"A-08.json", otlp.Traces, `{}`, []string{`T+0s backwards - ` + trace + `00000000000000c2`, `T+0s no-end - ` + trace + `00000000000000c3`, `T+0s normal 10ms ` + trace + `00000000000000c1`}},
		{"A-09.json", otlp.Traces, `{}`, []string{`T+0s lead 10ms 008efff798038103d269b633813fc703/0000000000000a09`}},
		{"A-09.logs.json", otlp.Logs, `{}`, []string{`T+0s "a09 joined" 008efff798038103d269b633813fc703/0000000000000a09`}},
		{"A-12.json", otlp.Logs, `{}`, []string{`T+0s 7`, `T+1s false`, `T+2s 1.5`, `T+3s ["x" 1]`, `T+4s bytes deadbeef`, `T+5s ""`, `T+6s nothing`}},
		{"A-23.json", otlp.Traces, `rejectedSpans`, []string{`T+0s good 10ms ` + trace + `eee19b7ec3c1b174`}},
		{"A-24.json", otlp.Logs, `{}`, []string{`T+0s "a24 zero"`, `T+1s "a24 empty"`, `T+2s "a24 real" ` + trace + `eee19b7ec3c1b174`}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			s, store := caseServer(t, receiver.Options{})
			r := s.post(t, test.signal, caseFile(t, test.file), "Content-Type", asJSON)
			if r.status != 200 || r.header.Get("Content-Type") != asJSON || !strings.Contains(r.body, test.answer) {
				t.Fatalf("POST = %d %q, want 200 %s", r.status, r.body, test.answer)
			}
			for _, when := range []string{"head", "blocks"} {
				if diff := cmp.Diff(test.want, stored(t, store, test.signal)); diff != "" {
					t.Errorf("stored in %s (-want +got):\n%s", when, diff)
				}
				waitCompacted(t, store)
			}
		})
	}
}

// TestCaseA23 looks closer at the answers of a partial success.
func TestCaseA23PartialSuccess(t *testing.T) {
	s, store := caseServer(t, receiver.Options{})
	r := s.post(t, otlp.Traces, caseFile(t, "A-23.json"), "Content-Type", asJSON)
	var answer struct{ PartialSuccess map[string]any }
	if err := json.Unmarshal([]byte(r.body), &answer); err != nil {
		t.Fatal(err)
	}
	reason, _ := answer.PartialSuccess["errorMessage"].(string)
	if len(answer.PartialSuccess) != 2 || answer.PartialSuccess["rejectedSpans"] != "2" || reason == "" {
		t.Errorf("answer = %s, want rejectedSpans as a string and a reason", r.body)
	}

	request := new(collectortrace.ExportTraceServiceRequest)
	td := sampleSpans("good", 1)
	unmarshal(t, protoOf(t, td), request)
	bad := proto.CloneOf(request.ResourceSpans[0].ScopeSpans[0].Spans[0])
	bad.SpanId = make([]byte, 8)
	request.ResourceSpans[0].ScopeSpans[0].Spans = append(request.ResourceSpans[0].ScopeSpans[0].Spans, bad)
	got, err := collectortrace.NewTraceServiceClient(s.dial(t)).Export(t.Context(), request)
	if err != nil || got.PartialSuccess.GetRejectedSpans() != 1 || got.PartialSuccess.GetErrorMessage() == "" {
		t.Errorf("Export = %v, %v, want one span rejected and a reason", got, err)
	}
	body, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	over := s.post(t, otlp.Traces, body)
	var overHTTP collectortrace.ExportTraceServiceResponse
	unmarshal(t, []byte(over.body), &overHTTP)
	if !proto.Equal(&overHTTP, got) || over.header.Get("Content-Type") != asProto {
		t.Errorf("POST = %v, want %v as over gRPC", &overHTTP, got)
	}
	intake := store.Stats().Signals[otlp.Traces].Intake
	want := [2]storage.Intake{storage.GRPC: {Stored: 1, Rejected: 1}, storage.HTTP: {Stored: 2, Rejected: 3}}
	if intake != want {
		t.Errorf("intake = %+v, want %+v", intake, want)
	}
}

func TestCaseA16ContentType(t *testing.T) {
	s, store := caseServer(t, receiver.Options{})
	for contentType, want := range map[string]int{"application/json; charset=utf-8": 200, "application/json;v=1": 200, "Application/JSON": 200, "text/plain": 415} {
		r := s.post(t, otlp.Logs, caseFile(t, "A-16.json"), "Content-Type", contentType)
		if r.status != want || r.header.Get("Content-Type") != asJSON {
			t.Errorf("POST of %q = %d %q, want %d", contentType, r.status, r.header.Get("Content-Type"), want)
		}
	}
	wantCount(t, store, otlp.Logs, 3)
}

func wantCount(t *testing.T, store *storage.Store, s otlp.Signal, want int) {
	t.Helper()
	if got := len(stored(t, store, s)); got != want {
		t.Errorf("%d records of %v, want %d", got, s, want)
	}
}

func TestCaseA17AnswerFollowsRequest(t *testing.T) {
	s, store := caseServer(t, receiver.Options{})
	if r := s.post(t, otlp.Logs, caseFile(t, "A-17.json"), "Content-Type", asJSON); r.status != 200 || r.body != "{}" || r.header.Get("Content-Type") != asJSON {
		t.Errorf("POST of JSON = %d %q %q", r.status, r.header.Get("Content-Type"), r.body)
	}
	if r := s.post(t, otlp.Logs, caseFile(t, "A-17.pb")); r.status != 200 || r.body != "" || r.header.Get("Content-Type") != asProto {
		t.Errorf("POST of protobuf = %d %q %q", r.status, r.header.Get("Content-Type"), r.body)
	}
	for contentType, body := range map[string]string{asJSON: "{", asProto: "\x08"} {
		r := s.post(t, otlp.Logs, []byte(body), "Content-Type", contentType)
		if r.status != 400 || r.header.Get("Content-Type") != contentType {
			t.Errorf("POST of broken %s = %d %q", contentType, r.status, r.header.Get("Content-Type"))
		}
		if code, message := statusBody(t, r); code != codes.InvalidArgument || message == "" {
			t.Errorf("Status of broken %s = %v %q", contentType, code, message)
		}
	}
	wantCount(t, store, otlp.Logs, 2)
}

func TestCaseA18Gzip(t *testing.T) {
	s, store := caseServer(t, receiver.Options{})
	zipped, plain := caseFile(t, "A-18.json.gz"), caseFile(t, "A-18.json")
	for _, test := range []struct {
		name, encoding string
		body           []byte
		status         int
		message        string
	}{
		{"zipped", "gzip", zipped, 200, ""},
		{"plain", "gzip", plain, 400, "decompress"},
		{"cut", "gzip", zipped[:40], 400, "decompress"},
		{"brotli", "br", plain, 400, `"br"`},
	} {
		r := s.post(t, otlp.Logs, test.body, "Content-Type", asJSON, "Content-Encoding", test.encoding)
		if r.status != test.status {
			t.Errorf("POST of %s = %d %q, want %d", test.name, r.status, r.body, test.status)
		}
		if test.status == 200 {
			continue
		}
		if _, message := statusBody(t, r); !strings.Contains(message, test.message) {
			t.Errorf("Status of %s = %q, want %q in it", test.name, message, test.message)
		}
	}
	wantCount(t, store, otlp.Logs, 1)
}

func TestCaseA19IdentityAndChunks(t *testing.T) {
	s, store := caseServer(t, receiver.Options{})
	body := caseFile(t, "A-19.json")
	for _, encoding := range []string{"identity", ""} {
		if r := s.post(t, otlp.Logs, body, "Content-Type", asJSON, "Content-Encoding", encoding); r.status != 200 {
			t.Errorf("POST with Content-Encoding %q = %d", encoding, r.status)
		}
	}
	if r := s.do(t, http.MethodPost, "/v1/logs", io.MultiReader(bytes.NewReader(body)), "Content-Type", asJSON); r.status != 200 {
		t.Errorf("POST in chunks = %d", r.status)
	}
	wantCount(t, store, otlp.Logs, 3)
}

// TestCaseA20LargeMessages repeats the record of the file until a message is
// above grpc's default limit of 4 MiB, then above ours.
func TestCaseA20LargeMessages(t *testing.T) {
	s, store := caseServer(t, receiver.Options{})
	conn := s.dial(t)
	large := repeatRecord(t, 6000)
	if len(large) < 5<<20 || len(large) > 7<<20 {
		t.Fatalf("the message has %d bytes, want 5 to 7 MiB", len(large))
	}
	if _, err := invoke(t.Context(), conn, otlp.Logs, large); err != nil {
		t.Errorf("Export = %v", err)
	}
	if _, err := invoke(t.Context(), conn, otlp.Logs, large, grpc.UseCompressor("gzip")); err != nil {
		t.Errorf("Export with gzip = %v", err)
	}
	huge := bytes.Repeat(large, 70<<20/len(large)+1) // concatenated messages are one message
	_, err := invoke(t.Context(), conn, otlp.Logs, huge)
	if status.Code(err) != codes.ResourceExhausted || retryDelay(err) != 0 {
		t.Errorf("Export of %d bytes = %v, want RESOURCE_EXHAUSTED without RetryInfo", len(huge), err)
	}
	if _, err := invoke(t.Context(), conn, otlp.Logs, nil); err != nil {
		t.Errorf("Export afterwards on the same connection = %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil { // after that everything is counted
		t.Fatal(err)
	}
	if got := store.Stats().Signals[otlp.Logs].Intake[storage.GRPC]; got.Stored != 12_000 || got.Rejected != 1 {
		t.Errorf("intake = %+v, want 12,000 stored", got)
	}
}

// repeatRecord is the request of A-20 with its one record n times, numbered.
func repeatRecord(t *testing.T, n int) []byte {
	t.Helper()
	var request collectorlogs.ExportLogsServiceRequest
	unmarshal(t, logsFromJSON(t, caseFile(t, "A-20.json")), &request)
	scope := request.ResourceLogs[0].ScopeLogs[0]
	record := scope.LogRecords[0]
	scope.LogRecords = nil
	text := record.Body.GetStringValue()
	for i := range n {
		numbered := proto.CloneOf(record)
		numbered.Body = &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: fmt.Sprint(text, i)}}
		scope.LogRecords = append(scope.LogRecords, numbered)
	}
	body, err := proto.Marshal(&request)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestCaseA21Limit: at the limit 200, one byte more 413 and nothing stored.
// TestHTTPLimit does it for each compression.
func TestCaseA21Limit(t *testing.T) {
	const limit = 4096
	s, store := caseServer(t, receiver.Options{MaxBodyBytes: limit})
	body := caseFile(t, "A-21.json")
	grow := func(size int) []byte {
		return bytes.Replace(body, []byte(`"a21`), []byte(`"a21`+strings.Repeat("x", size-len(body))), 1)
	}
	for _, compression := range []string{"none", "gzip"} {
		for size, want := range map[int]int{limit: 200, limit + 1: 413} {
			sent, header := compressed(t, compression, grow(size))
			if r := s.post(t, otlp.Logs, sent, "Content-Type", asJSON, "Content-Encoding", header); r.status != want {
				t.Errorf("POST of %d bytes, %s = %d %q, want %d", size, compression, r.status, r.body, want)
			}
		}
	}
	wantCount(t, store, otlp.Logs, 2)
}

// failingStore is a store whose disk is full for a while.
type failingStore struct {
	*storage.Store
	full atomic.Bool
}

func (f *failingStore) Append(ctx context.Context, r *otlp.Request) error {
	if f.full.Load() {
		return fmt.Errorf("%w: no space left on device", storage.ErrDisk)
	}
	return f.Store.Append(ctx, r)
}

func TestCaseA22StorageFailure(t *testing.T) {
	store := storagetest.Open(t, storage.Options{})
	failing := &failingStore{Store: store}
	s := start(t, failing, receiver.Options{})
	body := caseFile(t, "A-22.json")
	message := logsFromJSON(t, body)
	conn := s.dial(t)

	failing.full.Store(true)
	if r := s.post(t, otlp.Logs, body, "Content-Type", asJSON); r.status != 503 || r.header.Get("Retry-After") == "" {
		t.Errorf("POST while full = %d, Retry-After %q, want 503 and one", r.status, r.header.Get("Retry-After"))
	}
	if _, err := invoke(t.Context(), conn, otlp.Logs, message); status.Code(err) != codes.Unavailable || retryDelay(err) == 0 {
		t.Errorf("Export while full = %v, want UNAVAILABLE with RetryInfo", err)
	}
	wantCount(t, store, otlp.Logs, 0)

	failing.full.Store(false)
	if r := s.post(t, otlp.Logs, body, "Content-Type", asJSON); r.status != 200 {
		t.Errorf("POST afterwards = %d", r.status)
	}
	if _, err := invoke(t.Context(), conn, otlp.Logs, message); err != nil {
		t.Errorf("Export afterwards = %v", err)
	}
	wantCount(t, store, otlp.Logs, 2)
	want := [2]storage.Intake{{Stored: 1, Refused: 1}, {Stored: 1, Refused: 1}}
	if got := store.Stats().Signals[otlp.Logs].Intake; got != want {
		t.Errorf("intake = %+v, want %+v", got, want)
	}
}
