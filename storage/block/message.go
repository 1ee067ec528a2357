package block

import (
	"google.golang.org/protobuf/encoding/protowire"

	"sonde/storage/otlp"
)

// AppendMessage appends the item's message (LogRecord, Span, *DataPoint) of a
// row: equal to the one that came in when read by protobuf's rules. It reads
// all columns of the block.
func (b *Block) AppendMessage(dst []byte, row int) ([]byte, error) {
	if err := b.decodeAll(); err != nil {
		return dst, err
	}
	var metric []byte
	if b.Signal == otlp.Metrics {
		metric = b.dicts[Metric].At(row)
	}
	for _, f := range schemaOf(b.Signal, metric).fields {
		dst = b.appendField(dst, f, row)
	}
	return append(dst, b.strs[Rest].At(row)...), nil
}

// decodeAll reads every column that was not read yet.
func (b *Block) decodeAll() error {
	if b.complete {
		return nil
	}
	for _, c := range columnsOf(b.Signal) {
		var err error
		switch c.kind() {
		case uints:
			_, err = b.Uints(c)
		case dict:
			_, err = b.Dict(c)
		case strs:
			_, err = b.Strings(c)
		}
		if err != nil {
			return err
		}
	}
	a, err := b.decodeShapes()
	if err != nil {
		return err
	}
	for id := range a.columns {
		if _, err := b.decodeAttribute(a, uint32(id)); err != nil {
			return err
		}
	}
	b.complete = true
	return nil
}

// appendField appends one field of the message, nothing where it is absent.
func (b *Block) appendField(dst []byte, f field, row int) []byte {
	number := protowire.Number(f.number)
	switch f.how {
	case asFixed64, asTime:
		if v := b.uints[f.column][row]; v != 0 {
			dst = appendFixed64(dst, number, v)
		}
	case asVarint:
		if v := b.uints[f.column][row]; v != 0 {
			dst = protowire.AppendTag(dst, number, protowire.VarintType)
			dst = protowire.AppendVarint(dst, v)
		}
	case asDict:
		dst = appendBytes(dst, number, b.dicts[f.column].At(row))
	case asString:
		dst = appendBytes(dst, number, b.strs[f.column].At(row))
	case asDouble:
		if b.uints[ValueKind][row] == ValueDouble {
			dst = appendFixed64(dst, number, b.uints[Value][row])
		}
	case asInt:
		if b.uints[ValueKind][row] == ValueInt {
			dst = appendFixed64(dst, number, b.uints[Value][row])
		}
	case asBody:
		dst = b.appendBody(dst, number, row)
	case asStatus:
		dst = b.appendStatus(dst, number, row)
	case asAttribute:
		dst = b.attrs.appendFields(dst, f.number, row)
	case asRest:
	}
	return dst
}

func appendFixed64(dst []byte, number protowire.Number, v uint64) []byte {
	dst = protowire.AppendTag(dst, number, protowire.Fixed64Type)
	return protowire.AppendFixed64(dst, v)
}

// appendBytes appends a length-delimited field, nothing when it is empty.
func appendBytes(dst []byte, number protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return dst
	}
	dst = protowire.AppendTag(dst, number, protowire.BytesType)
	return protowire.AppendBytes(dst, v)
}

func (b *Block) appendBody(dst []byte, number protowire.Number, row int) []byte {
	body := b.strs[Body].At(row)
	switch b.uints[BodyKind][row] {
	case BodyString:
		dst = protowire.AppendTag(dst, number, protowire.BytesType)
		dst = protowire.AppendVarint(dst, uint64(1+protowire.SizeBytes(len(body))))
		dst = protowire.AppendTag(dst, otlp.AnyValueString, protowire.BytesType)
		dst = protowire.AppendBytes(dst, body)
	case BodyOther:
		dst = protowire.AppendTag(dst, number, protowire.BytesType)
		dst = protowire.AppendBytes(dst, body)
	}
	return dst
}

func (b *Block) appendStatus(dst []byte, number protowire.Number, row int) []byte {
	var status []byte
	status = appendBytes(status, otlp.StatusMessage, b.dicts[StatusMessage].At(row))
	if code := b.uints[StatusCode][row]; code != 0 {
		status = protowire.AppendTag(status, otlp.StatusCode, protowire.VarintType)
		status = protowire.AppendVarint(status, code)
	}
	return appendBytes(dst, number, status)
}

func appendAttribute(dst []byte, number int32, key string, value []byte) []byte {
	size := 1 + protowire.SizeBytes(len(key)) + 1 + protowire.SizeBytes(len(value))
	dst = protowire.AppendTag(dst, protowire.Number(number), protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(size))
	dst = protowire.AppendTag(dst, otlp.KeyValueKey, protowire.BytesType)
	dst = protowire.AppendString(dst, key)
	dst = protowire.AppendTag(dst, otlp.KeyValueValue, protowire.BytesType)
	return protowire.AppendBytes(dst, value)
}
