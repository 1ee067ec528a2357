package block

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// maxKeys is how many attribute keys of a block have a column of their own.
// More would make a request of random keys expensive to store and to open.
const maxKeys = 1024

// rawAttributes is the id of the attribute column of whole KeyValue messages.
// It holds those that are not just a key and a value, and those of keys beyond
// maxKeys. The other ids are those of keys.
const rawAttributes = 0

// A shape is what attributes a row has: the ids of their columns in the row's
// order, two bytes little-endian each.
const idLen = 2

func shapeID(shape []byte, i int) uint16 { return binary.LittleEndian.Uint16(shape[i*idLen:]) }

// attributeTable holds the attributes of a block.
type attributeTable struct {
	shapes  *Dict
	columns []*AttributeColumn // by id; nil: not decoded yet
	keys    []string           // by id; keys[rawAttributes] is empty
	// merged has, for keys that occur among the raw attributes, all of both.
	// nil: not made yet.
	merged map[string]*AttributeColumn
}

// id returns the id of a key's own column.
func (t *attributeTable) id(key string) (int, bool) {
	for id := rawAttributes + 1; id < len(t.keys); id++ {
		if t.keys[id] == key {
			return id, true
		}
	}
	return 0, false
}

// attributeBuilder collects the attributes of a Builder.
type attributeBuilder struct {
	shapes  *dictBuilder
	columns []*AttributeColumn // by id
	ids     map[string]uint16  // of keys
	cells   []uint32           // per attribute: its position in its column
	ends    []uint32           // row -> end of its attributes in cells

	rows      uint32
	shape     []byte // of the row being added
	lastShape []byte // of the row before
}

func (a *attributeBuilder) init(shapes *dictBuilder) {
	a.shapes = shapes
	a.columns = []*AttributeColumn{{}}
	a.ids = map[string]uint16{}
}

// reset forgets all attributes and keys. The columns stay behind the end of
// a.columns, where id finds their memory.
func (a *attributeBuilder) reset() {
	for _, c := range a.columns {
		c.Key, c.Rows = "", c.Rows[:0]
		c.Values.reset()
	}
	a.columns = a.columns[:1]
	clear(a.ids)
	a.cells, a.ends = a.cells[:0], a.ends[:0]
	a.rows, a.shape, a.lastShape = 0, a.shape[:0], a.lastShape[:0]
}

// add appends an attribute to the row being added.
func (a *attributeBuilder) add(message []byte) {
	key, value, plain := usualKeyValue(message)
	if !plain {
		key, value, plain = keyValue(message)
	}
	id := uint16(rawAttributes)
	if plain {
		id = a.id(key)
	}
	if id == rawAttributes {
		value = message
	}
	column := a.columns[id]
	a.cells = append(room(a.cells, 1), uint32(len(column.Rows)))
	column.Rows = append(room(column.Rows, 1), a.rows)
	column.Values.append(value)
	a.shape = binary.LittleEndian.AppendUint16(a.shape, id)
}

// id returns the id of a key, rawAttributes when there are too many.
func (a *attributeBuilder) id(key []byte) uint16 {
	// Most rows have the same keys in the same order as the row before.
	if n := len(a.shape); n < len(a.lastShape) {
		if guess := binary.LittleEndian.Uint16(a.lastShape[n:]); guess != rawAttributes && a.columns[guess].Key == string(key) {
			return guess
		}
	}
	if id, ok := a.ids[string(key)]; ok {
		return id
	}
	if len(a.columns) > maxKeys {
		return rawAttributes
	}
	id := uint16(len(a.columns))
	column := a.newColumn()
	column.Key = string(key)
	a.ids[column.Key] = id
	return id
}

// newColumn appends an empty column, one from before reset where there is one.
func (a *attributeBuilder) newColumn() *AttributeColumn {
	n := len(a.columns)
	if n == cap(a.columns) {
		a.columns = append(a.columns, nil)
	}
	a.columns = a.columns[:n+1]
	if a.columns[n] == nil {
		a.columns[n] = &AttributeColumn{}
	}
	return a.columns[n]
}

func (a *attributeBuilder) endRow() {
	a.shapes.add(a.shape)
	a.ends = append(a.ends, uint32(len(a.cells)))
	a.lastShape = append(a.lastShape[:0], a.shape...)
	a.shape = a.shape[:0]
	a.rows++
}

// row returns the positions of a row's attributes in their columns.
func (a *attributeBuilder) row(row uint32) []uint32 {
	start := uint32(0)
	if row > 0 {
		start = a.ends[row-1]
	}
	return a.cells[start:a.ends[row]]
}

func (a *attributeBuilder) table() *attributeTable {
	t := &attributeTable{shapes: &a.shapes.Dict, columns: a.columns}
	for _, c := range a.columns {
		t.keys = append(t.keys, c.Key)
	}
	t.merge()
	return t
}

// merge makes t.merged. The columns of the raw attributes and of all keys that
// occur among them must be there.
func (t *attributeTable) merge() {
	t.merged = map[string]*AttributeColumn{}
	raw := t.columns[rawAttributes]
	for i := range raw.Rows {
		key, _, _ := keyValue(raw.Values.At(i))
		if t.merged[string(key)] == nil {
			c := &AttributeColumn{Key: string(key)}
			t.merged[c.Key] = c
		}
	}
	if len(t.merged) == 0 {
		return
	}
	next := make([]int, len(t.columns)) // id -> attributes passed so far
	for row, s := range t.shapes.Index {
		shape := t.shapes.Values[s]
		for i := range len(shape) / idLen {
			id := shapeID(shape, i)
			at := next[id]
			next[id]++
			var value []byte
			c := t.merged[t.keys[id]]
			if id == rawAttributes {
				var key []byte
				key, value, _ = keyValue(raw.Values.At(at))
				c = t.merged[string(key)]
			}
			if c == nil {
				continue
			}
			if id != rawAttributes {
				value = t.columns[id].Values.At(at)
			}
			c.Rows = append(c.Rows, uint32(row))
			c.Values.append(value)
		}
	}
}

// AttributeKeys returns the distinct attribute keys of the block's items, in no
// promised order.
func (b *Block) AttributeKeys() ([]string, error) {
	t, err := b.mergedAttributes()
	if err != nil {
		return nil, err
	}
	keys := slices.Clone(t.keys[rawAttributes+1:])
	for key := range t.merged {
		if _, ok := t.id(key); !ok {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// Attribute returns the column of one key, nil when no row has it. An attribute
// that came without a value has an empty one; one with several values has them
// merged by protobuf's rules.
func (b *Block) Attribute(key string) (*AttributeColumn, error) {
	t, err := b.mergedAttributes()
	if err != nil {
		return nil, err
	}
	if c := t.merged[key]; c != nil {
		return c, nil
	}
	id, ok := t.id(key)
	if !ok {
		return nil, nil
	}
	return b.attributeColumn(id)
}

// mergedAttributes returns the attribute table with merged made.
func (b *Block) mergedAttributes() (*attributeTable, error) {
	t, err := b.attributes()
	if err != nil || t.merged != nil {
		return t, err
	}
	raw, err := b.attributeColumn(rawAttributes)
	if err != nil {
		return nil, err
	}
	for i := range raw.Rows {
		key, _, _ := keyValue(raw.Values.At(i))
		if id, ok := t.id(string(key)); ok {
			if _, err := b.attributeColumn(id); err != nil {
				return nil, err
			}
		}
	}
	t.merge()
	return t, nil
}

// attributes returns the block's attribute table, decoding it if need be. Its
// columns are decoded by attributeColumn.
func (b *Block) attributes() (*attributeTable, error) {
	if b.attrs != nil {
		return b.attrs, nil
	}
	s, err := b.Dict(shapes)
	if err != nil {
		return nil, err
	}
	raw, err := b.readSection(Attributes)
	if err != nil {
		return nil, err
	}
	t := &attributeTable{shapes: s, keys: []string{""}}
	if raw != nil {
		r := reader{rest: raw}
		b.attrChunks = r.attributeTable(t, b.sections[attributeValues].encoded)
		if r.bad || len(r.rest) > 0 {
			return nil, fmt.Errorf("column %d: %w: bad table of attributes", Attributes, ErrCorrupt)
		}
	}
	t.columns = make([]*AttributeColumn, len(t.keys))
	for _, shape := range s.Values {
		ok := len(shape)%idLen == 0
		for i := range len(shape) / idLen {
			ok = ok && int(shapeID(shape, i)) < len(t.keys)
		}
		if !ok {
			return nil, fmt.Errorf("column %d: %w: bad shape", shapes, ErrCorrupt)
		}
	}
	b.attrs = t
	return t, nil
}

// attributeTable reads the keys into t and returns where their columns lie.
func (r *reader) attributeTable(t *attributeTable, dataLen int) []section {
	n := r.int(maxKeys)
	chunks := make([]section, 0, 1+n)
	offset := 0
	for id := 0; id <= n && !r.bad; id++ {
		if id != rawAttributes {
			t.keys = append(t.keys, string(r.bytes(r.int(maxSection))))
		}
		chunk := r.section(offset)
		offset += chunk.encoded
		r.check(offset <= dataLen)
		chunks = append(chunks, chunk)
	}
	r.check(offset == dataLen)
	return chunks
}

// attributeColumn returns the column of an id of the block's attribute table.
func (b *Block) attributeColumn(id int) (*AttributeColumn, error) {
	t, err := b.attributes()
	if err != nil {
		return nil, err
	}
	if t.columns[id] != nil {
		return t.columns[id], nil
	}
	c := &AttributeColumn{Key: t.keys[id]}
	if c.Rows, err = t.rows(uint16(id)); err != nil {
		return nil, err
	}
	if len(c.Rows) > 0 {
		if id >= len(b.attrChunks) {
			return nil, fmt.Errorf("%w: attributes without values", ErrCorrupt)
		}
		values := &b.sections[attributeValues]
		raw, err := b.attrChunks[id].read(b.data[values.offset:][:values.encoded])
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", c.Key, err)
		}
		decoded, err := decodeStrings(raw, len(c.Rows))
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", c.Key, err)
		}
		c.Values = *decoded
	}
	t.columns[id] = c
	return c, nil
}

// maxCells bounds the attributes of one column. A request of 64 MiB holds half
// as many at most.
const maxCells = 1 << 26

// rows returns the rows that have an attribute of the given id, once for each.
func (t *attributeTable) rows(id uint16) ([]uint32, error) {
	counts := make([]int, len(t.shapes.Values))
	for s, shape := range t.shapes.Values {
		for i := range len(shape) / idLen {
			if shapeID(shape, i) == id {
				counts[s]++
			}
		}
	}
	total := 0
	for _, s := range t.shapes.Index {
		total += counts[s]
	}
	if total > maxCells {
		return nil, fmt.Errorf("%w: %d attributes", ErrCorrupt, total)
	}
	rows := make([]uint32, 0, total)
	for row, s := range t.shapes.Index {
		for range counts[s] {
			rows = append(rows, uint32(row))
		}
	}
	return rows, nil
}

// appendAttributes appends a row's attributes as fields of the given number.
func (b *Block) appendAttributes(dst []byte, number int32, row int) ([]byte, error) {
	t, err := b.attributes()
	if err != nil {
		return dst, err
	}
	shape := t.shapes.At(row)
	next := positions{}
	for i := range len(shape) / idLen {
		id := shapeID(shape, i)
		c, err := b.attributeColumn(int(id))
		if err != nil {
			return dst, err
		}
		at := next.of(shape, i, func() int {
			first, _ := slices.BinarySearch(c.Rows, uint32(row))
			return first
		})
		if at >= len(c.Rows) {
			return dst, fmt.Errorf("%w: attribute %d of row %d is missing", ErrCorrupt, i, row)
		}
		value := c.Values.At(at)
		if id == rawAttributes {
			dst = appendBytes(dst, number, value)
			continue
		}
		dst = appendPrefix(dst, number, bytesLen(1, len(c.Key))+bytesLen(2, len(value)))
		dst = append(appendPrefix(dst, 1, len(c.Key)), c.Key...)
		dst = appendBytes(dst, 2, value)
	}
	return dst, nil
}

// positions finds the attributes of one row in their columns when keys repeat.
type positions map[uint16]int

// of returns the position of the i-th attribute; first finds that of the first
// one in its column.
func (p *positions) of(shape []byte, i int, first func() int) int {
	const short = 16
	if len(shape) <= short*idLen { // counting again is cheaper than a map
		at := first()
		for j := range i {
			if bytes.Equal(shape[j*idLen:(j+1)*idLen], shape[i*idLen:(i+1)*idLen]) {
				at++
			}
		}
		return at
	}
	id := shapeID(shape, i)
	at, ok := (*p)[id]
	if !ok {
		at = first()
	}
	(*p)[id] = at + 1
	return at
}
