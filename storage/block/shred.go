package block

import (
	"slices"

	"sonde/storage/otlp"
)

// shred takes a message apart: fields with a column into b.row and the
// attributes, others into Rest. Of a field that is not repeated the last one
// counts, as protobuf has it.
func (b *Builder) shred(message []byte, s *schema) {
	rest := b.strings[Rest]
	for pos := 0; pos < len(message); {
		f, ok := nextField(message, pos)
		if !ok {
			rest.Data = append(rest.Data, message[pos:]...)
			return
		}
		if f.number < uint32(len(s.targets)) && s.targets[f.number].use != useNone && s.targets[f.number].wire == f.wire {
			b.take(s.targets[f.number], f, message[f.start:f.end])
		} else {
			rest.Data = append(room(rest.Data, f.end-pos), message[pos:f.end]...)
		}
		pos = f.end
	}
}

// take puts the value of one field where its target says.
func (b *Builder) take(t target, f field, value []byte) {
	r := &b.row
	switch t.use {
	case useNumber:
		r.uints[t.column] = f.value
	case useBytes:
		r.bytes[t.column] = value
	case useAttribute:
		b.attrs.add(value)
	case useBody:
		// A message that occurs twice is merged; reading one after the other
		// does that.
		if r.uints[BodyKind] != BodyAbsent {
			value = slices.Concat(r.body, value)
		}
		r.body = value
		r.uints[BodyKind] = BodyOther
	case useStatus:
		b.takeStatus(value)
	case useDouble:
		r.uints[Value], r.uints[ValueKind] = f.value, ValueDouble
	case useInt:
		r.uints[Value], r.uints[ValueKind] = f.value, ValueInt
	}
}

// takeStatus takes a Status message apart. Its unknown fields go to Rest,
// wrapped as a Status that is merged with the columns' when it is read.
func (b *Builder) takeStatus(message []byte) {
	b.row.uints[statusKind] = 1
	var unknown []byte
	for pos := 0; pos < len(message); {
		f, ok := nextField(message, pos)
		if !ok {
			unknown = append(unknown, message[pos:]...)
			break
		}
		switch {
		case f.number == otlp.StatusCode && f.wire == wireVarint:
			b.row.uints[StatusCode] = f.value
		case f.number == otlp.StatusMessage && f.wire == wireBytes:
			b.row.bytes[StatusMessage] = message[f.start:f.end]
		default:
			unknown = append(unknown, message[pos:f.end]...)
		}
		pos = f.end
	}
	if len(unknown) > 0 {
		rest := b.strings[Rest]
		rest.Data = appendBytes(rest.Data, otlp.SpanStatus, unknown)
	}
}

// plainString returns the text of an AnyValue that holds a string and nothing
// else.
func plainString(anyValue []byte) (text []byte, ok bool) {
	if len(anyValue) == 0 {
		return nil, false
	}
	f, ok := nextField(anyValue, 0)
	if !ok || f.number != otlp.AnyValueString || f.wire != wireBytes || f.end != len(anyValue) {
		return nil, false
	}
	return anyValue[f.start:f.end], true
}
