package block

import (
	"encoding/binary"
	"hash/crc32"
)

// attributeEncoder is what an encoder needs for attributes.
type attributeEncoder struct {
	shapes    [][]byte   // index of the builder's shape -> shape in ids of the block; nil: not made yet
	numbers   []uint16   // id of the builder -> that of the block, 0: none yet
	ids       []uint16   // id of the block -> that of the builder
	positions [][]uint32 // id of the block -> its values' positions in the builder's column
	table     []byte
	values    []byte
}

// attributes encodes the columns shapes, Attributes and attributeValues.
func (e *encoder) attributes(b *Builder, rows []uint32) {
	a := &e.attrs
	a.renumber(b, rows)
	e.index = e.index[:0]
	empty := true
	for _, row := range rows {
		s := b.attrs.shapes.Index[row]
		empty = empty && len(a.shapes[s]) == 0
		e.index = append(e.index, s)
	}
	if empty {
		return
	}
	e.raw = e.strings.appendDict(e.raw[:0], a.shapes, e.index)
	e.section(shapes)

	a.values = a.values[:0]
	a.table = binary.AppendUvarint(a.table[:0], uint64(len(a.ids)-1))
	for id, old := range a.ids {
		column := b.attrs.columns[old]
		e.raw = e.raw[:0]
		if len(a.positions[id]) > 0 {
			e.raw = e.strings.append(e.raw, &column.Values, a.positions[id])
		}
		var s section
		a.values, s = e.chunk(a.values, s)
		if id != rawAttributes {
			a.table = binary.AppendUvarint(a.table, uint64(len(column.Key)))
			a.table = append(a.table, column.Key...)
		}
		a.table = s.append(a.table)
	}
	e.raw = append(e.raw[:0], a.table...)
	e.section(Attributes)
	e.sections = append(e.sections, section{id: attributeValues, codec: codecRaw, encoded: len(a.values),
		raw: len(a.values), sum: crc32.Checksum(a.values, castagnoli)})
	e.data = append(e.data, a.values...)
}

// renumber gives the keys of the rows ids of the block, in the order of their
// first use, and notes where the values of each lie.
func (a *attributeEncoder) renumber(b *Builder, rows []uint32) {
	clear(a.shapes)
	a.shapes = append(a.shapes[:0], make([][]byte, len(b.attrs.shapes.Values))...)
	a.numbers = append(a.numbers[:0], make([]uint16, len(b.attrs.columns))...)
	a.ids = append(a.ids[:0], rawAttributes)
	for id := range a.positions {
		a.positions[id] = a.positions[id][:0]
	}
	for _, row := range rows {
		s := b.attrs.shapes.Index[row]
		if a.shapes[s] == nil {
			a.shapes[s] = a.shape(b.attrs.shapes.Values[s])
		}
		shape := a.shapes[s]
		for i, position := range b.attrs.row(row) {
			id := shapeID(shape, i)
			a.positions[id] = append(a.positions[id], position)
		}
	}
}

// shape returns a shape of the builder in ids of the block.
func (a *attributeEncoder) shape(old []byte) []byte {
	shape := make([]byte, 0, len(old))
	for i := range len(old) / idLen {
		id := shapeID(old, i)
		if id != rawAttributes && a.numbers[id] == 0 {
			a.numbers[id] = uint16(len(a.ids))
			a.ids = append(a.ids, id)
		}
		shape = binary.LittleEndian.AppendUint16(shape, a.numbers[id])
	}
	for len(a.positions) < len(a.ids) {
		a.positions = append(a.positions, nil)
	}
	return shape
}
