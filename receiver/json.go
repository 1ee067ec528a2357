package receiver

import (
	"bytes"
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"sonde/storage/otlp"
)

// maxJSONDepth is how deep brackets may be nested. One value inside another
// costs at most 4 of them ({kvlistValue{values[{value), and the deepest place
// for a value, an exemplar's attribute, lies within 16. So nothing that Walk
// accepts is refused here; its own limit is the exact one.
const maxJSONDepth = 16 + 4*otlp.MaxDepth

// maxJSONObjects bounds what the parser makes of a body: for an empty object,
// which takes three bytes, some hundreds. Dense real requests have about 20
// bytes an object, so that those of 64 MiB fit.
const maxJSONObjects = 4 << 20

// exportRequest is what the request types of the three signals have in common.
type exportRequest interface {
	UnmarshalJSON([]byte) error
	MarshalProto() ([]byte, error)
}

// decodeJSON turns the JSON form of an Export*ServiceRequest into protobuf. Its
// errors wrap otlp.ErrMalformed, otlp.ErrTooDeep or otlp.ErrTooMany.
func decodeJSON(s otlp.Signal, body []byte) ([]byte, error) {
	if jsonDeeperThan(body, maxJSONDepth) {
		return nil, otlp.ErrTooDeep
	}
	if len(body) > 2*maxJSONObjects && jsonObjects(body) > maxJSONObjects {
		return nil, fmt.Errorf("%w: more than %d JSON objects; send several requests", otlp.ErrTooMany, maxJSONObjects)
	}
	var request exportRequest
	switch s {
	case otlp.Logs:
		request = plogotlp.NewExportRequest()
	case otlp.Traces:
		request = ptraceotlp.NewExportRequest()
	case otlp.Metrics:
		request = pmetricotlp.NewExportRequest()
	}
	if err := request.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("%w: %w", otlp.ErrMalformed, err)
	}
	message, err := request.MarshalProto()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", otlp.ErrMalformed, err)
	}
	return message, nil
}

// jsonDeeperThan reports whether brackets are nested deeper than limit, without
// recursion and without regard to whether the text is JSON: the parser recurses
// for each bracket, and a stack that overflows cannot be recovered.
func jsonDeeperThan(text []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			i += jsonStringLen(text[i+1:])
		}
	}
	return false
}

// jsonObjects counts the objects in a text.
func jsonObjects(text []byte) int {
	n := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			n++
		case '"':
			i += jsonStringLen(text[i+1:])
		}
	}
	return n
}

// jsonStringLen returns how many bytes the rest of a string takes, its closing
// quote included; all of text when there is none.
func jsonStringLen(text []byte) int {
	for i := 0; i < len(text); {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			break
		}
		backslash := bytes.IndexByte(text[i:i+quote], '\\')
		if backslash < 0 {
			return i + quote + 1
		}
		i += backslash + 2 // the escaped byte may be a quote
	}
	return len(text)
}
