package block

import (
	"encoding/binary"
	"hash/crc32"
)

// attributeEncoder is what an encoder needs for attributes.
type attributeEncoder struct {
	ids       []uint16   // id of the block -> that of the builder
	positions [][]uint32 // id of the block -> its values' positions in the builder's column
	table     []byte
	values    []byte
}

// attributes encodes the columns shapes, Attributes and attributeValues.
func (e *encoder) attributes(b *Builder, rows []uint32) {
	e.subset(&b.dicts[shapes].Dict, rows)
	if len(e.dict.Data) == 0 {
		return // no row has an attribute
	}
	e.renumber(len(b.attrs.columns))
	e.raw = appendDict(e.raw[:0], &e.dict, e.index)
	e.section(shapes)
	e.gather(b, rows)

	a := &e.attrs
	a.values = a.values[:0]
	a.table = binary.AppendUvarint(a.table[:0], uint64(len(a.ids)-1))
	for id, old := range a.ids {
		column := b.attrs.columns[old]
		e.raw = e.raw[:0]
		if len(a.positions[id]) > 0 {
			e.raw = appendStrings(e.raw, &column.Values, a.positions[id])
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

// renumber turns the ids in the shapes in e.dict into those of the block, in
// the order of their first use, and fills e.attrs.ids.
func (e *encoder) renumber(ids int) {
	a := &e.attrs
	e.remap = append(e.remap[:0], make([]uint32, ids)...)
	e.remap[rawAttributes] = 1 + rawAttributes
	a.ids = append(a.ids[:0], rawAttributes)
	for i := 0; i < len(e.dict.Data); i += idLen {
		old := binary.LittleEndian.Uint16(e.dict.Data[i:])
		if e.remap[old] == 0 {
			a.ids = append(a.ids, old)
			e.remap[old] = uint32(len(a.ids))
		}
		binary.LittleEndian.PutUint16(e.dict.Data[i:], uint16(e.remap[old]-1))
	}
}

// gather fills e.attrs.positions, with e.dict and e.index being the shapes.
func (e *encoder) gather(b *Builder, rows []uint32) {
	a := &e.attrs
	for len(a.positions) < len(a.ids) {
		a.positions = append(a.positions, nil)
	}
	for id := range a.ids {
		a.positions[id] = a.positions[id][:0]
	}
	for i, row := range rows {
		shape := e.dict.At(int(e.index[i]))
		for j, position := range b.attrs.row(row) {
			id := shapeID(shape, j)
			a.positions[id] = append(a.positions[id], position)
		}
	}
}
