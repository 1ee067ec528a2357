package otlp

import "errors"

// Signal is one of the three kinds of telemetry. Its number is part of the
// file format.
type Signal uint8

// The signals.
const (
	Logs Signal = 1 + iota
	Traces
	Metrics
)

// Signals lists all three, in the order of their numbers.
var Signals = [...]Signal{Logs, Traces, Metrics}

// String returns "logs", "traces" or "metrics".
func (s Signal) String() string {
	switch s {
	case Logs:
		return "logs"
	case Traces:
		return "traces"
	case Metrics:
		return "metrics"
	}
	return "unknown"
}

// Ref is a stretch of Request.Payload. Requests are at most 64 MiB, so 32 bits
// are enough, and a slice of them holds no pointer for the collector to follow.
type Ref struct{ Off, Len uint32 }

// MaxItems is how many items a request may have, and how many envelopes another
// one. An empty record takes two bytes on the wire and more than 16 times as
// much wherever it is listed, so a bound of bytes alone is none on memory. Real
// requests have some thousands.
const MaxItems = 1 << 20

// MaxParts is how many messages (attributes, values, events and so on) may lie
// in one item, resource or scope. Each answer that shows it decodes all of them.
const MaxParts = 1 << 18

// Item is one log record, span or data point of a request.
type Item struct {
	// TimeUnixNano is the event time that the store sorts by. Logs: the time,
	// else the observed time, else the arrival. Spans: the start. Data points:
	// their time.
	TimeUnixNano uint64
	Message      Ref    // the LogRecord, Span or *DataPoint message, without tag and length
	Resource     uint32 // index into Request.Resources
	Scope        uint32 // index into Request.Scopes
	Metric       uint32 // index into Request.Metrics; 0 for logs and spans
}

// Request is one export request that Walk has validated.
type Request struct {
	Signal  Signal
	Payload []byte // an Export*ServiceRequest message
	Items   []Item // in the order of the payload
	// Envelopes: see the package comment. They may alias Payload.
	Resources, Scopes, Metrics [][]byte

	ArrivalUnixNano uint64 // when the receiver took the request in
	// Rejected counts the items that were refused and are in neither Items nor
	// Payload; RejectReason says why in one English sentence, for
	// partial_success.error_message.
	Rejected     int
	RejectReason string
}

// Bytes returns the stretch r of the payload.
func (r *Request) Bytes(ref Ref) []byte { return r.Payload[ref.Off : ref.Off+ref.Len] }

// Errors of Walk, to be tested with errors.Is.
var (
	// ErrMalformed: the bytes are not a message of this signal.
	ErrMalformed = errors.New("malformed OTLP request")
	// ErrTooMany: more than MaxItems items, or envelopes in one envelope, or more
	// than MaxParts messages in an item.
	ErrTooMany = errors.New("too many items in one OTLP request")
	// ErrTooDeep: values are nested deeper than MaxDepth.
	ErrTooDeep = errors.New("OTLP values nested too deeply")
)

// MaxDepth is how deep array and key-value-list values may be nested.
const MaxDepth = 64
