package otlp

import "math/bits"

// Wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireLen     = 2
	wireStart   = 3 // group, of proto2; OTLP has none
	wireEnd     = 4
	wireFixed32 = 5
)

// maxField is the largest field number that protobuf allows.
const maxField = 1<<29 - 1

// consumeVarint reads the varint at buf[pos:] and returns it with the position
// behind it. False: it is cut off, the position being the end of buf, or does
// not fit 64 bits.
func consumeVarint(buf []byte, pos int) (uint64, int, bool) {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if pos >= len(buf) {
			return 0, pos, false
		}
		b := buf[pos]
		pos++
		if shift == 63 && b > 1 {
			return 0, pos - 1, false
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, pos, true
		}
	}
	return 0, pos, false
}

// consumeTag reads the tag at buf[pos:]: field number, wire type and the
// position behind it.
func consumeTag(buf []byte, pos int) (num uint32, wire uint8, next int, ok bool) {
	v, next, ok := consumeVarint(buf, pos)
	if !ok || v>>3 == 0 || v>>3 > maxField {
		return 0, 0, next, false
	}
	return uint32(v >> 3), uint8(v & 7), next, true
}

// skipValue returns the position behind a value that starts at buf[pos:]. A
// group is not a value it can skip: see skipGroup.
func skipValue(buf []byte, pos int, wire uint8) (int, bool) {
	switch wire {
	case wireVarint:
		_, next, ok := consumeVarint(buf, pos)
		return next, ok
	case wireFixed64:
		return pos + 8, len(buf)-pos >= 8
	case wireFixed32:
		return pos + 4, len(buf)-pos >= 4
	case wireLen:
		n, next, ok := consumeVarint(buf, pos)
		if !ok || n > uint64(len(buf)-next) {
			return pos, false
		}
		return next + int(n), true
	}
	return pos, false
}

// sizeVarint returns how many bytes v takes as a varint.
func sizeVarint(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
