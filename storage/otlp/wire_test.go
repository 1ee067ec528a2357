package otlp_test

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// wire puts messages together byte by byte, also ones that no encoder writes.
type wire []byte

func msg(fields ...wire) wire {
	var m wire
	for _, f := range fields {
		m = append(m, f...)
	}
	return m
}

func tag(num protowire.Number, t protowire.Type) wire { return protowire.AppendTag(nil, num, t) }

func field[T string | []byte | wire](num protowire.Number, content T) wire {
	return append(protowire.AppendVarint(tag(num, protowire.BytesType), uint64(len(content))), content...)
}

func varint(num protowire.Number, v uint64) wire {
	return protowire.AppendVarint(tag(num, protowire.VarintType), v)
}

func fixed64(num protowire.Number, v uint64) wire {
	return protowire.AppendFixed64(tag(num, protowire.Fixed64Type), v)
}

func fixed32(num protowire.Number, v uint32) wire {
	return protowire.AppendFixed32(tag(num, protowire.Fixed32Type), v)
}

func group(num protowire.Number, content ...wire) wire {
	return msg(tag(num, protowire.StartGroupType), msg(content...), tag(num, protowire.EndGroupType))
}

// inScope wraps fields of a scope in a request.
func inScope(fields ...wire) wire { return field(1, field(2, msg(fields...))) }

// inMetric wraps the data of a metric, which has the given number, in a request.
func inMetric(num protowire.Number, data ...wire) wire {
	return inScope(field(2, msg(field(1, "m"), field(num, msg(data...)))))
}

var (
	traceID = []byte("\x5b\x8e\xff\xf7\x98\x03\x81\x03\xd2\x69\xb6\x33\x81\x3f\xc6\x0c")
	spanID  = []byte("\xee\xe1\x9b\x7e\xc3\xc1\xb1\x74")
	goodIDs = msg(field(1, traceID), field(2, spanID))
)
