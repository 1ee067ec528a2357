package receiver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"sonde/storage"
	"sonde/storage/otlp"
)

// What can be wrong with a request before otlp.Walk sees it.
var (
	errTooLarge        = errors.New("request is too large")
	errCompression     = errors.New("cannot decompress the request")
	errUnknownEncoding = errors.New("unknown content encoding")
	errMediaType       = errors.New("unsupported content type")
	errBodyCut         = errors.New("cannot read the whole request")
	errUnauthorized    = errors.New("missing or unknown bearer token")
	errPath            = errors.New("no such path")
	errMethod          = errors.New("method not allowed")
	errPanic           = errors.New("panic")
)

// retryDelay is when a client may come back after an overload. Group commits
// and compaction free a full head within about that time.
const retryDelay = time.Second

// failure is how one kind of error is told to clients.
type failure struct {
	kind   error // matched with errors.Is
	code   codes.Code
	status int
	// retryAfter goes out as RetryInfo and Retry-After; 0: neither. Whether a
	// client retries at all hangs on code and status (OTLP specification,
	// "Failures").
	retryAfter time.Duration
	// rejected: the request is refused for good and counts as one rejected item.
	rejected bool
	// text is what the client is told; "": the error's own text, where that
	// speaks of nothing but the request.
	text string
}

// failures is the one table from errors to the wire. The first match counts.
var failures = [...]failure{
	{kind: otlp.ErrMalformed, code: codes.InvalidArgument, status: http.StatusBadRequest, rejected: true},
	{kind: otlp.ErrTooDeep, code: codes.InvalidArgument, status: http.StatusBadRequest, rejected: true},
	{kind: otlp.ErrTooMany, code: codes.ResourceExhausted, status: http.StatusRequestEntityTooLarge, rejected: true},
	{kind: errTooLarge, code: codes.ResourceExhausted, status: http.StatusRequestEntityTooLarge, rejected: true},
	{kind: errCompression, code: codes.InvalidArgument, status: http.StatusBadRequest, rejected: true},
	{kind: errUnknownEncoding, code: codes.InvalidArgument, status: http.StatusBadRequest, rejected: true},
	{kind: errMediaType, code: codes.InvalidArgument, status: http.StatusUnsupportedMediaType, rejected: true},
	{kind: errBodyCut, code: codes.Canceled, status: http.StatusServiceUnavailable, text: errBodyCut.Error()},
	{kind: errUnauthorized, code: codes.Unauthenticated, status: http.StatusUnauthorized, text: errUnauthorized.Error()},
	{kind: errPath, code: codes.Unimplemented, status: http.StatusNotFound},
	{kind: errMethod, code: codes.Unimplemented, status: http.StatusMethodNotAllowed},
	{kind: errPanic, code: codes.Internal, status: http.StatusInternalServerError, text: "internal error"},
	{kind: storage.ErrOverloaded, code: codes.Unavailable, status: http.StatusServiceUnavailable, retryAfter: retryDelay, text: "storage is overloaded, send again later"},
	{kind: storage.ErrDisk, code: codes.Unavailable, status: http.StatusServiceUnavailable, retryAfter: retryDelay, text: "storage cannot write now, send again later"},
	{kind: storage.ErrClosed, code: codes.Unavailable, status: http.StatusServiceUnavailable, retryAfter: retryDelay, text: "shutting down, send again later"},
	{kind: context.Canceled, code: codes.Canceled, status: http.StatusServiceUnavailable, text: "canceled before the data was known to be stored"},
	{kind: context.DeadlineExceeded, code: codes.Canceled, status: http.StatusServiceUnavailable, text: "out of time before the data was known to be stored"},
}

// notStored stands for every other error: those of the Writer. Nothing was
// stored as far as the client may know, so it may send again.
var notStored = failure{
	code: codes.Unavailable, status: http.StatusServiceUnavailable, retryAfter: retryDelay,
	text: "cannot store now, send again later",
}

// failureOf finds err in the table and fills in what the client is told. known
// is false when it is not there.
func failureOf(err error) (f failure, known bool) {
	f = notStored
	for i := range failures {
		if errors.Is(err, failures[i].kind) {
			f, known = failures[i], true
			break
		}
	}
	if f.text == "" {
		f.text = err.Error()
	}
	f.text = cutText(f.text)
	return f, known
}

// grpcError returns the failure as an error that grpc sends.
func (f *failure) grpcError() error {
	s := status.New(f.code, f.text)
	if f.retryAfter == 0 {
		return s.Err()
	}
	detailed, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(f.retryAfter)})
	if err != nil {
		return s.Err()
	}
	return detailed.Err()
}

// body returns the failure as a google.rpc.Status message.
func (f *failure) body(as format) []byte {
	var (
		text []byte
		err  error
	)
	if as == formatProto {
		text, err = proto.Marshal(&rpcstatus.Status{Code: int32(f.code), Message: f.text})
	} else {
		// Not protojson: that varies its white space on purpose.
		text, err = json.Marshal(struct {
			Code    uint32 `json:"code"` // codes.Code has a text form, which is not wanted here
			Message string `json:"message"`
		}{uint32(f.code), f.text})
	}
	if err != nil {
		panic(err) // a number and valid UTF-8 can always be encoded
	}
	return text
}

// cutText makes text fit for a header: valid UTF-8 of at most maxTextBytes.
func cutText(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxTextBytes {
		return text
	}
	end := maxTextBytes - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
