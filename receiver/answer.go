package receiver

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"

	"sonde/storage/otlp"
)

// maxTextBytes bounds what a client is told in words: gRPC carries it in a
// header, and peers limit those.
const maxTextBytes = 512

// appendProto appends an Export*ServiceResponse. The three types have the same
// field numbers: partial_success 1, in it rejected_* 1 and error_message 2. On
// full success partial_success must be unset, so nothing is appended.
func (a answer) appendProto(dst []byte) []byte {
	if a.rejected == 0 {
		return dst
	}
	var partial []byte
	partial = protowire.AppendTag(partial, 1, protowire.VarintType)
	partial = protowire.AppendVarint(partial, uint64(a.rejected))
	partial = protowire.AppendTag(partial, 2, protowire.BytesType)
	partial = protowire.AppendString(partial, cutText(a.reason))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	return protowire.AppendBytes(dst, partial)
}

// partialSuccess is the JSON of the three *PartialSuccess messages. As an int64
// the number is a string.
type partialSuccess struct {
	LogRecords int    `json:"rejectedLogRecords,string,omitempty"`
	Spans      int    `json:"rejectedSpans,string,omitempty"`
	DataPoints int    `json:"rejectedDataPoints,string,omitempty"`
	Message    string `json:"errorMessage"`
}

// appendJSON is appendProto for JSON.
func (a answer) appendJSON(dst []byte) []byte {
	if a.rejected == 0 {
		return append(dst, "{}"...)
	}
	p := partialSuccess{Message: cutText(a.reason)}
	switch a.signal {
	case otlp.Logs:
		p.LogRecords = a.rejected
	case otlp.Traces:
		p.Spans = a.rejected
	case otlp.Metrics:
		p.DataPoints = a.rejected
	}
	text, err := json.Marshal(map[string]partialSuccess{"partialSuccess": p})
	if err != nil {
		panic(err) // numbers and a string can always be encoded
	}
	return append(dst, text...)
}
