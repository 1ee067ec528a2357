package otlp

import (
	"encoding/binary"
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// DecodeLog puts one LogRecord message under its envelopes: the answer holds
// exactly one resource, scope and record. The bytes are copied. It reads all
// that Walk accepts, and returns ErrMalformed or ErrTooDeep for the rest.
func DecodeLog(resource, scope, record []byte) (plog.Logs, error) {
	var u plog.ProtoUnmarshaler
	return decode(Logs, underEnvelopes(resource, scope, record), u.UnmarshalLogs, (*restorer).logs)
}

// DecodeSpan is DecodeLog for a Span message.
func DecodeSpan(resource, scope, span []byte) (ptrace.Traces, error) {
	var u ptrace.ProtoUnmarshaler
	return decode(Traces, underEnvelopes(resource, scope, span), u.UnmarshalTraces, (*restorer).traces)
}

// DecodePoint is DecodeLog for a data point message of the metric's type.
func DecodePoint(resource, scope, metric, point []byte) (pmetric.Metrics, error) {
	full, err := underMetric(metric, point)
	if err != nil {
		return pmetric.Metrics{}, err
	}
	var u pmetric.ProtoUnmarshaler
	return decode(Metrics, underEnvelopes(resource, scope, full), u.UnmarshalMetrics, (*restorer).metrics)
}

// decode unmarshals a request of one item. Values that are nested deeper than
// pdata reads take the long way, through copies.
func decode[T any](s Signal, raw []byte, unmarshal func([]byte) (T, error), restore func(*restorer, T)) (T, error) {
	decoded, err := unmarshal(raw)
	if err == nil {
		return decoded, nil
	}
	var none T
	w, walkErr := walk(s, raw, 0)
	if walkErr != nil {
		return none, fmt.Errorf("cannot decode stored %s: %w", s, walkErr)
	}
	if decoded, err = unmarshal(w.cutDeepValues()); err != nil {
		return none, fmt.Errorf("cannot decode stored %s: %w", s, err)
	}
	var r restorer
	if restore(&r, decoded); r.err != nil {
		return none, r.err
	}
	return decoded, nil
}

// underEnvelopes returns the Export request of one child of a scope.
func underEnvelopes(resource, scope, child []byte) []byte {
	inScope := len(scope) + sizeDelimited(len(child))
	inResource := len(resource) + sizeDelimited(inScope)
	raw := make([]byte, 0, sizeDelimited(inResource))
	raw = appendTag(raw, requestResources, inResource)
	raw = append(raw, resource...)
	raw = appendTag(raw, resourceScopes, inScope)
	raw = append(raw, scope...)
	raw = appendTag(raw, scopeChildren, len(child))
	return append(raw, child...)
}

// underMetric puts a point into the data of a metric envelope, which is its
// last field.
func underMetric(metric, point []byte) ([]byte, error) {
	for pos := 0; pos < len(metric); {
		num, wire, value, ok := consumeTag(metric, pos)
		if !ok {
			break
		}
		end, ok := skipValue(metric, value, wire)
		if !ok {
			break
		}
		if end < len(metric) {
			pos = end
			continue
		}
		if num > lastField || PointKind(num).Fields() == (PointFields{}) {
			return nil, fmt.Errorf("%w: metric envelope has no data", ErrMalformed)
		}
		n, content, _ := consumeVarint(metric, value)
		raw := make([]byte, 0, len(metric)+sizeDelimited(len(point))+binary.MaxVarintLen32)
		raw = append(raw, metric[:pos]...)
		raw = appendTag(raw, num, int(n)+sizeDelimited(len(point)))
		raw = append(raw, metric[content:]...)
		raw = appendTag(raw, dataPoints, len(point))
		return append(raw, point...), nil
	}
	return nil, fmt.Errorf("%w: metric envelope is cut off", ErrMalformed)
}

// appendTag appends the tag and length of a length-delimited field.
func appendTag(dst []byte, num uint32, n int) []byte {
	dst = binary.AppendUvarint(dst, uint64(num)<<3|wireLen)
	return binary.AppendUvarint(dst, uint64(n))
}

// sizeDelimited returns the most bytes that a field with n bytes of content
// takes, its number being below 16. The length is exact.
func sizeDelimited(n int) int { return 1 + sizeVarint(uint64(n)) + n }
