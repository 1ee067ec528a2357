package block

import (
	"bytes"
	"hash/maphash"
)

// dictBuilder collects a D column.
type dictBuilder struct {
	Dict
	seed   maphash.Seed
	hashes []uint32 // of Values
	table  []uint32 // open addressing by hash: 1 + index into Values, 0 is free
	arena  []byte   // what is free of the newest chunk; Values lie in chunks
	alias  bool     // Values are not copied
	last   uint32   // the last answer of id: neighbours are often equal
}

// reset forgets all values.
func (d *dictBuilder) reset() {
	clear(d.Values)
	d.Values, d.Index, d.hashes = d.Values[:0], d.Index[:0], d.hashes[:0]
	clear(d.table)
	d.arena = d.arena[:0]
	d.last = 0
}

// add appends a row.
func (d *dictBuilder) add(v []byte) { d.Index = append(d.Index, d.id(v)) }

// id returns the index of v in Values, where it puts a copy if it is new.
func (d *dictBuilder) id(v []byte) uint32 {
	if int(d.last) < len(d.Values) && bytes.Equal(d.Values[d.last], v) {
		return d.last
	}
	if 2*len(d.Values) >= len(d.table) {
		d.grow()
	}
	hash := uint32(maphash.Bytes(d.seed, v))
	mask := uint32(len(d.table) - 1)
	slot := hash & mask
	for ; d.table[slot] != 0; slot = (slot + 1) & mask {
		i := d.table[slot] - 1
		if d.hashes[i] == hash && bytes.Equal(d.Values[i], v) {
			d.last = i
			return i
		}
	}
	if !d.alias {
		v = d.copy(v)
	}
	d.Values = append(d.Values, v)
	d.hashes = append(d.hashes, hash)
	d.table[slot] = uint32(len(d.Values))
	d.last = uint32(len(d.Values) - 1)
	return d.last
}

// grow doubles the hash table.
func (d *dictBuilder) grow() {
	d.table = make([]uint32, max(16, 2*len(d.table)))
	mask := uint32(len(d.table) - 1)
	for i, hash := range d.hashes {
		slot := hash & mask
		for d.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		d.table[slot] = uint32(i + 1)
	}
}

// copy keeps a copy of v. Chunks never move, so that Values may point into
// them, and double in size, so that a small dictionary stays small.
func (d *dictBuilder) copy(v []byte) []byte {
	if len(v) > cap(d.arena)-len(d.arena) {
		d.arena = make([]byte, 0, max(len(v), min(2*cap(d.arena), 64<<10), 256))
	}
	start := len(d.arena)
	d.arena = append(d.arena, v...)
	return d.arena[start:len(d.arena):len(d.arena)]
}
