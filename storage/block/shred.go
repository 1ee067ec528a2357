package block

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"sonde/storage/otlp"
)

// shredded is one item taken apart. Byte slices point into the message.
type shredded struct {
	uints      [columnEnd]uint64
	bytes      [columnEnd][]byte
	attributes []attribute
	rest       []byte
	odd        bool   // an attribute does not fit the columns
	seen       uint64 // columns that have their field
}

// attribute is a KeyValue.
type attribute struct {
	raw        []byte // with tag and length, as it stood in the message
	key, value []byte
}

// shred takes a message apart. It must have passed otlp.Walk; should it break
// off all the same, what is left goes to the rest.
func (it *shredded) shred(s *schema, message []byte) {
	*it = shredded{attributes: it.attributes[:0], rest: it.rest[:0]}
	for pos := 0; pos < len(message); {
		number, wire, n := protowire.ConsumeTag(message[pos:])
		if n < 0 {
			it.rest = append(it.rest, message[pos:]...)
			break
		}
		size := protowire.ConsumeFieldValue(number, wire, message[pos+n:])
		if size < 0 {
			it.rest = append(it.rest, message[pos:]...)
			break
		}
		raw, value := message[pos:pos+n+size], message[pos+n:pos+n+size]
		if !it.take(s.field(int32(number)), wire, raw, value) {
			it.rest = append(it.rest, raw...)
		}
		pos += n + size
	}
	if it.odd {
		// All or none: the order of attributes is kept within one place only.
		for _, a := range it.attributes {
			it.rest = append(it.rest, a.raw...)
		}
		it.attributes = it.attributes[:0]
	}
}

// take puts a field into its column and reports whether it has one that is
// free: of a repeated field that should occur once the later ones go to the
// rest, which is read last, so the last wins as protobuf has it.
func (it *shredded) take(f field, wire protowire.Type, raw, value []byte) bool {
	switch f.how {
	case asFixed64, asTime, asDouble, asInt:
		return wire == protowire.Fixed64Type && it.claim(f.column) && it.takeFixed64(f, value)
	case asVarint:
		if wire != protowire.VarintType || !it.claim(f.column) {
			return false
		}
		it.uints[f.column], _ = binary.Uvarint(value)
		return true
	case asDict, asString, asBody, asStatus:
		return wire == protowire.BytesType && it.claim(f.column) && it.takeBytes(f, content(value))
	case asAttribute:
		if wire != protowire.BytesType {
			return false
		}
		a, ok := parseAttribute(content(value))
		a.raw = raw
		it.odd = it.odd || !ok
		it.attributes = append(it.attributes, a)
		return true
	case asRest:
	}
	return false
}

// claim reports whether the column is free and marks it taken.
func (it *shredded) claim(c Column) bool {
	bit := uint64(1) << c
	free := it.seen&bit == 0
	it.seen |= bit
	return free
}

func (it *shredded) takeFixed64(f field, value []byte) bool {
	v := binary.LittleEndian.Uint64(value)
	switch f.how {
	case asDouble:
		it.uints[ValueKind] = ValueDouble
	case asInt:
		it.uints[ValueKind] = ValueInt
	default:
	}
	it.uints[f.column] = v
	return true
}

func (it *shredded) takeBytes(f field, value []byte) bool {
	switch f.how {
	case asBody:
		it.uints[BodyKind], it.bytes[Body] = BodyOther, value
		if text, ok := stringValue(value); ok {
			it.uints[BodyKind], it.bytes[Body] = BodyString, text
		}
		return true
	case asStatus:
		return it.takeStatus(value)
	default:
		it.bytes[f.column] = value
		// An empty string is the same as none, and so is not kept.
		return true
	}
}

// takeStatus takes a Status of the usual form: a message and a code, at most
// one of each and not nothing at all.
func (it *shredded) takeStatus(status []byte) bool {
	var text []byte
	var code uint64
	for pos := 0; pos < len(status); {
		number, wire, n := protowire.ConsumeTag(status[pos:])
		if n < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, wire, status[pos+n:])
		if size < 0 {
			return false
		}
		value := status[pos+n : pos+n+size]
		switch {
		case number == otlp.StatusMessage && wire == protowire.BytesType && text == nil:
			text = content(value)
		case number == otlp.StatusCode && wire == protowire.VarintType && code == 0:
			code, _ = binary.Uvarint(value)
		default:
			return false
		}
		pos += n + size
	}
	if len(text) == 0 && code == 0 {
		return false
	}
	it.uints[StatusCode], it.bytes[StatusMessage] = code, text
	return true
}

// content strips the length from a length-delimited value.
func content(value []byte) []byte {
	_, n := binary.Uvarint(value)
	return value[n:]
}

// stringValue returns the text of an AnyValue that is a string and nothing else.
func stringValue(anyValue []byte) ([]byte, bool) {
	const tag = otlp.AnyValueString<<3 | byte(protowire.BytesType)
	if len(anyValue) < 2 || anyValue[0] != tag {
		return nil, false
	}
	size, n := binary.Uvarint(anyValue[1:])
	if n <= 0 || size != uint64(len(anyValue)-1-n) {
		return nil, false
	}
	return anyValue[1+n:], true
}

// parseAttribute takes a KeyValue apart that is one key and one value, in either
// order (pdata writes the value first), and nothing else.
func parseAttribute(kv []byte) (a attribute, ok bool) {
	const keyTag = otlp.KeyValueKey<<3 | byte(protowire.BytesType)
	const valueTag = otlp.KeyValueValue<<3 | byte(protowire.BytesType)
	var key, value bool
	for len(kv) > 0 {
		size, n := binary.Uvarint(kv[1:])
		if n <= 0 || size > uint64(len(kv)-1-n) {
			return a, false
		}
		end := 1 + n + int(size)
		switch {
		case kv[0] == keyTag && !key:
			a.key, key = kv[1+n:end], true
		case kv[0] == valueTag && !value:
			a.value, value = kv[1+n:end], true
		default:
			return a, false
		}
		kv = kv[end:]
	}
	return a, key && value
}
