package block

import (
	"fmt"

	"sonde/storage/otlp"
)

// AppendMessage appends the item's message (LogRecord, Span, *DataPoint) of a
// row: equal to the one that came in when read by protobuf's rules.
func (b *Block) AppendMessage(dst []byte, row int) ([]byte, error) {
	s := &logSchema
	switch b.Signal {
	case otlp.Traces:
		s = &spanSchema
	case otlp.Metrics:
		metrics, err := b.Dict(Metric)
		if err != nil {
			return dst, err
		}
		s = pointSchema(metrics.At(row))
	}
	var err error
	for number, t := range s.targets {
		if t.use != useNone {
			if dst, err = b.appendField(dst, int32(number), t, row); err != nil {
				return dst, err
			}
		}
	}
	rest, err := b.Strings(Rest)
	if err != nil {
		return dst, err
	}
	return append(dst, rest.At(row)...), nil
}

// appendField appends what the columns hold of one field.
func (b *Block) appendField(dst []byte, number int32, t target, row int) ([]byte, error) {
	switch t.use {
	case useNumber:
		v, err := b.uintAt(t.column, row)
		if err != nil || v == 0 {
			return dst, err
		}
		if t.wire == wireFixed64 {
			return appendFixed64(dst, number, v), nil
		}
		return appendVarint(dst, number, v), nil
	case useBytes:
		v, err := b.bytesAt(t.column, row)
		if err != nil || len(v) == 0 {
			return dst, err
		}
		return appendBytes(dst, number, v), nil
	case useAttribute:
		return b.appendAttributes(dst, number, row)
	case useBody:
		return b.appendBody(dst, number, row)
	case useStatus:
		return b.appendStatus(dst, number, row)
	case useDouble:
		return b.appendValue(dst, number, ValueDouble, row)
	case useInt:
		return b.appendValue(dst, number, ValueInt, row)
	}
	return dst, nil
}

func (b *Block) appendBody(dst []byte, number int32, row int) ([]byte, error) {
	kind, err := b.uintAt(BodyKind, row)
	if err != nil || kind == BodyAbsent {
		return dst, err
	}
	body, err := b.bytesAt(Body, row)
	if err != nil {
		return dst, err
	}
	switch kind {
	case BodyString:
		dst = appendPrefix(dst, number, bytesLen(otlp.AnyValueString, len(body)))
		return appendBytes(dst, otlp.AnyValueString, body), nil
	case BodyOther:
		return appendBytes(dst, number, body), nil
	}
	return dst, fmt.Errorf("%w: body kind %d", ErrCorrupt, kind)
}

func (b *Block) appendStatus(dst []byte, number int32, row int) ([]byte, error) {
	kind, err := b.uintAt(statusKind, row)
	if err != nil || kind == 0 {
		return dst, err
	}
	message, err := b.bytesAt(StatusMessage, row)
	if err != nil {
		return dst, err
	}
	code, err := b.uintAt(StatusCode, row)
	if err != nil {
		return dst, err
	}
	n := 0
	if len(message) > 0 {
		n += bytesLen(otlp.StatusMessage, len(message))
	}
	if code != 0 {
		n += 1 + varintLen(code)
	}
	dst = appendPrefix(dst, number, n)
	if len(message) > 0 {
		dst = appendBytes(dst, otlp.StatusMessage, message)
	}
	if code != 0 {
		dst = appendVarint(dst, otlp.StatusCode, code)
	}
	return dst, nil
}

// appendValue appends a number data point's value if it is of the given kind.
func (b *Block) appendValue(dst []byte, number int32, kind uint64, row int) ([]byte, error) {
	k, err := b.uintAt(ValueKind, row)
	if err != nil || k != kind {
		return dst, err
	}
	v, err := b.uintAt(Value, row)
	if err != nil {
		return dst, err
	}
	return appendFixed64(dst, number, v), nil
}

func (b *Block) uintAt(c Column, row int) (uint64, error) {
	column, err := b.Uints(c)
	if err != nil {
		return 0, err
	}
	return column[row], nil
}

// bytesAt returns a value of a D or B column.
func (b *Block) bytesAt(c Column, row int) ([]byte, error) {
	if forms[c] == formDict {
		column, err := b.Dict(c)
		if err != nil {
			return nil, err
		}
		return column.At(row), nil
	}
	column, err := b.Strings(c)
	if err != nil {
		return nil, err
	}
	return column.At(row), nil
}
