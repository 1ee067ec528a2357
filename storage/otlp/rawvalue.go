package otlp

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// AppendRawText is AppendText for a raw AnyValue message, without decoding it.
// Bytes that are no AnyValue message, or one nested deeper than MaxDepth, are
// an ErrMalformed and append nothing.
func AppendRawText(dst, anyValue []byte) ([]byte, error) {
	if n := len(anyValue); n > 1 && n < 130 && anyValue[0] == stringTag && int(anyValue[1]) == n-2 && validText(anyValue[2:]) {
		return append(dst, anyValue[2:]...), nil // nearly all values
	}
	var v rawValue
	if !v.merge(anyValue) {
		return dst, fmt.Errorf("%w: not an AnyValue", ErrMalformed)
	}
	switch v.field {
	case 0:
		return dst, nil
	case AnyValueString:
		if validText(v.bytes) { // as all that is stored
			return append(dst, v.bytes...), nil
		}
		return appendString(dst, v.bytes), nil
	case AnyValueBytes:
		return base64.StdEncoding.AppendEncode(dst, v.bytes), nil
	case AnyValueDouble:
		return appendDouble(dst, math.Float64frombits(v.number)), nil
	}
	text, ok := v.appendJSON(dst, 0)
	if !ok {
		return dst, fmt.Errorf("%w: not an AnyValue", ErrMalformed)
	}
	return text, nil
}

// rawValue is what an AnyValue message says: the last field in it.
type rawValue struct {
	field  uint32 // 0 when empty
	number uint64 // of a bool, an integer, or the bits of a double
	bytes  []byte // content of the other kinds
}

// rawField is a field of a message.
type rawField struct {
	num    uint32
	wire   uint8
	number uint64
	bytes  []byte
}

// consumeField reads the first field of raw and returns what follows it.
func consumeField(raw []byte) (f rawField, rest []byte, ok bool) {
	num, wire, pos, ok := consumeTag(raw, 0)
	if !ok {
		return f, nil, false
	}
	end, ok := skipValue(raw, pos, wire)
	if !ok {
		return f, nil, false
	}
	f = rawField{num: num, wire: wire}
	switch wire {
	case wireVarint:
		f.number, _, _ = consumeVarint(raw, pos)
	case wireFixed64:
		f.number = binary.LittleEndian.Uint64(raw[pos:])
	case wireLen:
		_, content, _ := consumeVarint(raw, pos)
		f.bytes = raw[content:end]
	}
	return f, raw[end:], true
}

// anyValueWires are the wire types of AnyValue's fields.
var anyValueWires = [...]uint8{
	AnyValueString: wireLen, AnyValueBool: wireVarint, AnyValueInt: wireVarint, AnyValueDouble: wireFixed64,
	AnyValueArray: wireLen, AnyValueKvlist: wireLen, AnyValueBytes: wireLen, anyValueStrindex: wireVarint,
}

const anyValueStrindex = 8 // of profiles only; reads as empty elsewhere

// merge reads an AnyValue message on top of what v holds, as protobuf merges a
// field that is there twice.
func (v *rawValue) merge(raw []byte) bool {
	for len(raw) > 0 {
		f, rest, ok := consumeField(raw)
		if !ok {
			return false
		}
		raw = rest
		if f.num >= uint32(len(anyValueWires)) {
			continue
		}
		if f.wire != anyValueWires[f.num] {
			return false
		}
		if *v = (rawValue{f.num, f.number, f.bytes}); f.num == anyValueStrindex {
			*v = rawValue{}
		}
	}
	return true
}

// appendJSON is AppendJSON for a raw value with depth others around it.
func (v *rawValue) appendJSON(dst []byte, depth int) ([]byte, bool) {
	switch v.field {
	case AnyValueString:
		return appendQuoted(dst, v.bytes), true
	case AnyValueBool:
		return strconv.AppendBool(dst, v.number != 0), true
	case AnyValueInt:
		return strconv.AppendInt(dst, int64(v.number), 10), true
	case AnyValueDouble:
		return appendJSONDouble(dst, math.Float64frombits(v.number)), true
	case AnyValueBytes:
		return appendJSONBytes(dst, v.bytes), true
	case AnyValueArray:
		return appendRawArray(dst, v.bytes, depth+1)
	case AnyValueKvlist:
		return appendRawMap(dst, v.bytes, depth+1)
	}
	return append(dst, "null"...), true
}

func appendRawArray(dst, raw []byte, depth int) ([]byte, bool) {
	if depth > MaxDepth {
		return dst, false
	}
	dst = append(dst, '[')
	for n := 0; len(raw) > 0; {
		f, rest, ok := consumeField(raw)
		if !ok {
			return dst, false
		}
		raw = rest
		if f.num != ArrayValueValues {
			continue
		}
		var v rawValue
		if f.wire != wireLen || !v.merge(f.bytes) {
			return dst, false
		}
		dst = appendComma(dst, n)
		if dst, ok = v.appendJSON(dst, depth); !ok {
			return dst, false
		}
		n++
	}
	return append(dst, ']'), true
}

func appendRawMap(dst, raw []byte, depth int) ([]byte, bool) {
	if depth > MaxDepth {
		return dst, false
	}
	dst = append(dst, '{')
	var keys keySet[[]byte]
	for len(raw) > 0 {
		f, rest, ok := consumeField(raw)
		if !ok {
			return dst, false
		}
		raw = rest
		if f.num != KeyValueListValues {
			continue
		}
		if f.wire != wireLen {
			return dst, false
		}
		key, v, ok := readKeyValue(f.bytes)
		if !ok {
			return dst, false
		}
		if !keys.add(key) {
			continue
		}
		dst = appendComma(dst, keys.n-1)
		dst = appendQuoted(dst, key)
		dst = append(dst, ':')
		if dst, ok = v.appendJSON(dst, depth); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

// readKeyValue reads a KeyValue message.
func readKeyValue(raw []byte) (key []byte, v rawValue, ok bool) {
	for len(raw) > 0 {
		f, rest, ok := consumeField(raw)
		if !ok {
			return nil, v, false
		}
		raw = rest
		switch f.num {
		case KeyValueKey:
			if f.wire != wireLen {
				return nil, v, false
			}
			key = f.bytes
		case KeyValueValue:
			if f.wire != wireLen || !v.merge(f.bytes) {
				return nil, v, false
			}
		}
	}
	return key, v, true
}
