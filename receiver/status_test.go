package receiver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sonde/storage"
	"sonde/storage/otlp"
)

// The retryable codes are those of the OTLP specification, "Failures"
// (OTLP/gRPC) and "Retryable Response Codes" (OTLP/HTTP).
var (
	retryableCodes    = []codes.Code{codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss}
	retryableStatuses = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
)

// TestFailuresAgree: a client must come to the same conclusion by both
// transports.
func TestFailuresAgree(t *testing.T) {
	for _, f := range append(failures[:], notStored) {
		byCode, byStatus := slices.Contains(retryableCodes, f.code), slices.Contains(retryableStatuses, f.status)
		if byCode != byStatus {
			t.Errorf("%v: retryable by %v: %t, by %d: %t", f.kind, f.code, byCode, f.status, byStatus)
		}
		if f.retryAfter > 0 && !byCode {
			t.Errorf("%v: tells when to retry but is not retryable", f.kind)
		}
		if f.rejected && byCode {
			t.Errorf("%v: counts as refused for good but is retryable", f.kind)
		}
	}
}

func TestFailureOf(t *testing.T) {
	hidden := errors.New("hidden")
	tests := []struct {
		err    error
		code   codes.Code
		status int
		text   string
		known  bool
	}{
		{fmt.Errorf("%w: at byte 7", otlp.ErrMalformed), codes.InvalidArgument, 400, otlp.ErrMalformed.Error() + ": at byte 7", true},
		{fmt.Errorf("%w: more", otlp.ErrTooMany), codes.ResourceExhausted, 413, otlp.ErrTooMany.Error() + ": more", true},
		{fmt.Errorf("%w: %w", storage.ErrDisk, hidden), codes.Unavailable, 503, "storage cannot write now, send again later", true},
		{fmt.Errorf("%w: %w", errBodyCut, hidden), codes.Canceled, 503, errBodyCut.Error(), true},
		{hidden, codes.Unavailable, 503, notStored.text, false},
	}
	for _, test := range tests {
		f, known := failureOf(test.err)
		if f.code != test.code || f.status != test.status || f.text != test.text || known != test.known {
			t.Errorf("failureOf(%v) = %+v, %t, want %v, %d, %q, %t", test.err, f, known, test.code, test.status, test.text, test.known)
		}
		if got := status.Convert(f.grpcError()); got.Code() != test.code || got.Message() != test.text {
			t.Errorf("grpcError of %v = %v, want %v %q", test.err, got, test.code, test.text)
		}
	}
}

func TestCutText(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("a", maxTextBytes), strings.Repeat("a", maxTextBytes+1), strings.Repeat("ö", maxTextBytes), "x" + strings.Repeat("€", maxTextBytes), "bad \xff bytes"} {
		got := cutText(text)
		if len(got) > maxTextBytes || !utf8.ValidString(got) {
			t.Errorf("cutText(%d bytes) has %d bytes, valid %t, want at most %d, valid", len(text), len(got), utf8.ValidString(got), maxTextBytes)
		}
		if whole := len(text) <= maxTextBytes && utf8.ValidString(text); whole != (got == text) {
			t.Errorf("cutText(%.20q…) = %.20q…", text, got)
		}
	}
}
