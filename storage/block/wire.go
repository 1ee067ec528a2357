package block

import (
	"encoding/binary"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// Wire types of protobuf that OTLP uses.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// field is one field of a message: its value is message[start:end], for wire
// types of numbers also value.
type field struct {
	number     uint32
	wire       uint8
	start, end int
	value      uint64
}

// nextField reads the field at message[pos:], pos < len(message). False: it is
// cut off or not protobuf.
func nextField(message []byte, pos int) (f field, ok bool) {
	tag, next := uint64(message[pos]), pos+1
	if tag >= 0x80 {
		if tag, next = varint(message, pos); next < 0 || tag>>3 > uint64(protowire.MaxValidNumber) {
			return f, false
		}
	}
	f = field{number: uint32(tag >> 3), wire: uint8(tag & 7), start: next}
	if f.number == 0 {
		return f, false
	}
	switch f.wire {
	case wireBytes:
		var n uint64
		if next < len(message) && message[next] < 0x80 {
			n, next = uint64(message[next]), next+1
		} else if n, next = varint(message, next); next < 0 {
			return f, false
		}
		if n > uint64(len(message)-next) {
			return f, false
		}
		f.start, f.end = next, next+int(n)
		return f, true
	case wireFixed64:
		f.end = next + 8
		if f.end > len(message) {
			return f, false
		}
		f.value = binary.LittleEndian.Uint64(message[next:])
		return f, true
	case wireVarint:
		f.value, f.end = varint(message, next)
		return f, f.end >= 0
	}
	n := protowire.ConsumeFieldValue(protowire.Number(f.number), protowire.Type(f.wire), message[next:])
	f.end = next + n
	return f, n >= 0
}

// varint reads the varint at b[pos:] and returns it with the position behind
// it, negative when it is cut off or does not fit 64 bits.
func varint(b []byte, pos int) (uint64, int) {
	if pos < len(b) && b[pos] < 0x80 {
		return uint64(b[pos]), pos + 1
	}
	v, n := binary.Uvarint(b[min(pos, len(b)):])
	if n <= 0 {
		return 0, -1
	}
	return v, pos + n
}

func varintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// bytesLen is the length of a field of length-delimited bytes with its tag.
func bytesLen(number int32, n int) int {
	return varintLen(uint64(number)<<3) + varintLen(uint64(n)) + n
}

func appendTag(dst []byte, number int32, wire uint8) []byte {
	return binary.AppendUvarint(dst, uint64(number)<<3|uint64(wire))
}

// appendPrefix appends tag and length of a length-delimited field of n bytes.
func appendPrefix(dst []byte, number int32, n int) []byte {
	return binary.AppendUvarint(appendTag(dst, number, wireBytes), uint64(n))
}

func appendBytes(dst []byte, number int32, v []byte) []byte {
	return append(appendPrefix(dst, number, len(v)), v...)
}

func appendFixed64(dst []byte, number int32, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(appendTag(dst, number, wireFixed64), v)
}

// usualKeyValue takes a KeyValue message apart if it is a key and a value, in
// either order (pdata writes the value first), of less than 128 bytes each.
func usualKeyValue(message []byte) (key, value []byte, ok bool) {
	const keyTag, valueTag = 1<<3 | wireBytes, 2<<3 | wireBytes
	if len(message) < 4 || message[1] >= 0x80 {
		return nil, nil, false
	}
	end := 2 + int(message[1])
	if end+2 > len(message) || message[end+1] >= 0x80 || end+2+int(message[end+1]) != len(message) {
		return nil, nil, false
	}
	switch {
	case message[0] == keyTag && message[end] == valueTag:
		return message[2:end], message[end+2:], true
	case message[0] == valueTag && message[end] == keyTag:
		return message[end+2:], message[2:end], true
	}
	return nil, nil, false
}

// keyValue takes a KeyValue message apart. Plain says that it is equal to one
// with just this key and this value, once each.
func keyValue(message []byte) (key, value []byte, plain bool) {
	keys, values, others := 0, 0, 0
	for pos := 0; pos < len(message); {
		f, ok := nextField(message, pos)
		if !ok {
			return key, value, false
		}
		v := message[f.start:f.end]
		switch {
		case f.wire == wireBytes && f.number == 1:
			key = v
			keys++
		case f.wire == wireBytes && f.number == 2:
			// Messages that follow one another are merged by reading them as one.
			if values++; values > 1 {
				v = append(value[:len(value):len(value)], v...)
			}
			value = v
		default:
			others++
		}
		pos = f.end
	}
	return key, value, keys <= 1 && values == 1 && others == 0
}

func appendVarint(dst []byte, number int32, v uint64) []byte {
	return binary.AppendUvarint(appendTag(dst, number, wireVarint), v)
}
