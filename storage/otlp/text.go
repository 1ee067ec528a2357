package otlp

import (
	"encoding/binary"
	"unicode/utf8"
)

// ascii tells whether all bytes are below 0x80. It looks at eight at a time:
// nearly all strings of telemetry are short and pass.
func ascii(b []byte) bool {
	const high = 0x8080808080808080
	if len(b) < 8 {
		var all byte
		for _, c := range b {
			all |= c
		}
		return all < 0x80
	}
	all := binary.LittleEndian.Uint64(b[len(b)-8:])
	for ; len(b) > 8; b = b[8:] {
		all |= binary.LittleEndian.Uint64(b)
	}
	return all&high == 0
}

func validText(b []byte) bool { return ascii(b) || utf8.Valid(b) }

// Tags of the fields that nearly all attributes and bodies consist of.
const (
	keyTag    = KeyValueKey<<3 | wireLen
	valueTag  = KeyValueValue<<3 | wireLen
	stringTag = AnyValueString<<3 | wireLen
	boolTag   = AnyValueBool<<3 | wireVarint
	intTag    = AnyValueInt<<3 | wireVarint
	doubleTag = AnyValueDouble<<3 | wireFixed64
)

// plainAttribute tells whether b is a KeyValue as nearly all are: a key and a
// plain value, in this order. Such a message needs no closer look.
func plainAttribute(b []byte) bool {
	if len(b) < 6 || b[0] != keyTag {
		return false
	}
	value := int(b[1]) + 2
	if value > len(b)-4 || b[value] != valueTag || int(b[value+1]) != len(b)-value-2 {
		return false
	}
	if b[value+2] == stringTag { // tags and lengths below 128 are ASCII like the rest
		return int(b[value+3]) == len(b)-value-4 && ascii(b)
	}
	return ascii(b[:value]) && plainValue(b[value+2:])
}

// plainValue tells whether b is an AnyValue of one scalar, a string being below
// 128 bytes and ASCII. b has at least two bytes.
func plainValue(b []byte) bool {
	switch b[0] {
	case stringTag:
		return int(b[1]) == len(b)-2 && ascii(b)
	case intTag, boolTag:
		last := len(b) - 1
		if last > 9 || b[last] >= 0x80 {
			return false
		}
		for _, c := range b[1:last] {
			if c < 0x80 {
				return false
			}
		}
		return true
	case doubleTag:
		return len(b) == 9
	}
	return false
}
