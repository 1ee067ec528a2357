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

// plainAttribute tells whether b is a KeyValue as nearly all are: a key and a
// string, with lengths below 128, in ASCII. Such a message needs no closer
// look, and its tags and lengths are ASCII as well.
func plainAttribute(b []byte) bool {
	const keyTag, valueTag, stringTag = KeyValueKey<<3 | wireLen, KeyValueValue<<3 | wireLen, AnyValueString<<3 | wireLen
	if len(b) < 6 || b[0] != keyTag {
		return false
	}
	value := int(b[1]) + 2
	if value > len(b)-4 || b[value] != valueTag || int(b[value+1]) != len(b)-value-2 {
		return false
	}
	return b[value+2] == stringTag && int(b[value+3]) == len(b)-value-4 && ascii(b)
}
