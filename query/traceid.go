package query

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// TraceID is a trace id or the first digits of one. The zero value is no trace
// id: as a filter it selects everything.
type TraceID struct {
	hex string // 6 to 32 lower-case digits
}

// How many hex digits a TraceID has.
const (
	traceDigitsMin = 6
	traceDigitsMax = 32
)

// ParseTraceID takes 32 hex digits of either case with blanks around them, or a
// prefix of at least 6.
func ParseTraceID(s string) (TraceID, error) {
	digits := strings.ToLower(strings.TrimSpace(s))
	valid := len(digits) >= traceDigitsMin && len(digits) <= traceDigitsMax
	for i := 0; valid && i < len(digits); i++ {
		valid = nibble(digits[i]) >= 0
	}
	if !valid {
		return TraceID{}, fmt.Errorf("cannot read trace id %q: want its 32 hex digits, or the first 6 or more of them", s)
	}
	return TraceID{digits}, nil
}

// String returns the lower-case digits.
func (id TraceID) String() string { return id.hex }

// IsZero reports whether id is the zero value, no trace id.
func (id TraceID) IsZero() bool { return id.hex == "" }

// whole reports whether id has all digits of a trace id.
func (id TraceID) whole() bool { return len(id.hex) == traceDigitsMax }

// matches reports whether the 16 bytes of a trace id begin with the digits of
// id. Other lengths, such as that of no trace id, never do.
func (id TraceID) matches(b []byte) bool {
	if len(b) != traceDigitsMax/2 {
		return false
	}
	for i := range len(id.hex) {
		digit := b[i/2] >> 4
		if i%2 == 1 {
			digit = b[i/2] & 0xf
		}
		if nibble(id.hex[i]) != int(digit) {
			return false
		}
	}
	return true
}

// nibble returns the value of a lower-case hex digit, -1 for another byte.
func nibble(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// maxCandidates is how many trace ids an AmbiguousError names at most.
const maxCandidates = 10

// AmbiguousError is returned when a trace id prefix fits several traces.
type AmbiguousError struct {
	// Candidates are some of the traces, at most ten, by id.
	Candidates []pcommon.TraceID
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	b.WriteString("trace id prefix fits several traces: ")
	for i, id := range e.Candidates {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(hex.EncodeToString(id[:]))
	}
	return b.String()
}

// ErrNoTrace is returned by Trace: no trace has the id.
var ErrNoTrace = errors.New("no such trace")
