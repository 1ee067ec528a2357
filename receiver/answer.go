package receiver

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"

	"sonde/storage/otlp"
)

// maxTextBytes bounds what a client is told in words: gRPC carries it in a
// header, and peers limit those.
const maxTextBytes = 512

// proto encodes an Export*ServiceResponse. The three types have the same
// field numbers: partial_success 1, in it rejected_* 1 and error_message 2. On
// full success partial_success must be unset, so that is no bytes.
func (a answer) proto() []byte {
	if a.rejected == 0 {
		return nil
	}
	var partial []byte
	partial = protowire.AppendTag(partial, 1, protowire.VarintType)
	partial = protowire.AppendVarint(partial, uint64(a.rejected))
	partial = protowire.AppendTag(partial, 2, protowire.BytesType)
	partial = protowire.AppendString(partial, cutText(a.reason))
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
}

// partialSuccess is the JSON of the three *PartialSuccess messages. As an int64
// the number is a string.
type partialSuccess struct {
	LogRecords int    `json:"rejectedLogRecords,string,omitempty"`
	Spans      int    `json:"rejectedSpans,string,omitempty"`
	DataPoints int    `json:"rejectedDataPoints,string,omitempty"`
	Message    string `json:"errorMessage"`
}

// json is proto for JSON.
func (a answer) json() []byte {
	if a.rejected == 0 {
		return []byte("{}")
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
	return text
}
