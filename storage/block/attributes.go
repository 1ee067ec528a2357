package block

import (
	"encoding/binary"
	"fmt"
)

// attributes is the column Attributes. A row has a shape: the keys of its
// attributes in their order. Each key has a column of values, so that one key
// can be read alone.
type attributes struct {
	columns []*AttributeColumn
	keys    map[string]uint32 // key -> index into columns
	shapes  [][]uint32        // shape -> indexes into columns
	byShape map[string]uint32 // the shape's bytes -> shape
	rows    []uint32          // row -> shape
	scratch []byte
}

func newAttributes() *attributes {
	return &attributes{keys: map[string]uint32{}, byShape: map[string]uint32{}}
}

// column returns the column of a key, a new one when it is not known.
func (a *attributes) column(key []byte) uint32 {
	id, ok := a.keys[string(key)]
	if !ok {
		id = uint32(len(a.columns))
		c := &AttributeColumn{Key: string(key)}
		a.columns = append(a.columns, c)
		a.keys[c.Key] = id
	}
	return id
}

// addRow appends a row's attributes.
func (a *attributes) addRow(row int, list []attribute) {
	a.scratch = a.scratch[:0]
	for _, kv := range list {
		id := a.column(kv.key)
		a.scratch = binary.LittleEndian.AppendUint32(a.scratch, id)
		c := a.columns[id]
		c.Rows = append(c.Rows, uint32(row))
		c.Values.add(kv.value)
	}
	a.rows = append(a.rows, a.shape(a.scratch))
}

// shape returns the number of a shape given as the bytes of its column ids.
func (a *attributes) shape(ids []byte) uint32 {
	n, ok := a.byShape[string(ids)]
	if !ok {
		n = uint32(len(a.shapes))
		var shape []uint32
		for p := ids; len(p) > 0; p = p[4:] {
			shape = append(shape, binary.LittleEndian.Uint32(p))
		}
		a.shapes = append(a.shapes, shape)
		a.byShape[string(ids)] = n
	}
	return n
}

// appendFields appends a row's attributes as fields of the given number.
func (a *attributes) appendFields(dst []byte, number int32, row int) []byte {
	shape := a.shapes[a.rows[row]]
	for i, id := range shape {
		c := a.columns[id]
		at := c.first(uint32(row))
		for _, earlier := range shape[:i] {
			if earlier == id {
				at++ // the key repeats: the next of its values
			}
		}
		dst = appendAttribute(dst, number, c.Key, c.Values.At(at))
	}
	return dst
}

// Layout of the column in an encoded block. Part 0: the keys, then the shapes.
// Part 1: the row's shapes. Then two parts a key: lengths and bytes of values.
const (
	partShapes    = 0
	partRowShapes = 1
	partFirstKey  = 2
)

// encodeAttributes writes the attributes of the rows in order, renumbering keys
// and shapes to those that occur.
func (e *encoder) encodeAttributes(a *attributes, order []uint32) {
	local := newAttributes() // the keys and shapes of these rows, without values
	var lengths, values [][]byte
	rowShapes := make([]byte, 0, len(order))
	for _, row := range order {
		local.scratch = local.scratch[:0]
		shape := a.shapes[a.rows[row]]
		for i, id := range shape {
			c := a.columns[id]
			n := local.column([]byte(c.Key))
			if int(n) == len(lengths) {
				lengths, values = append(lengths, nil), append(values, nil)
			}
			at := c.first(row)
			for _, earlier := range shape[:i] {
				if earlier == id {
					at++
				}
			}
			v := c.Values.At(at)
			lengths[n] = binary.AppendUvarint(lengths[n], uint64(len(v)))
			values[n] = append(values[n], v...)
			local.scratch = binary.LittleEndian.AppendUint32(local.scratch, n)
		}
		rowShapes = binary.AppendUvarint(rowShapes, uint64(local.shape(local.scratch)))
	}
	e.part(Attributes, partShapes, local.appendShapes(nil))
	e.part(Attributes, partRowShapes, rowShapes)
	for n := range lengths {
		e.part(Attributes, partFirstKey+2*n, lengths[n])
		e.part(Attributes, partFirstKey+2*n+1, values[n])
	}
}

func (a *attributes) appendShapes(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(a.columns)))
	for _, c := range a.columns {
		dst = appendLengthed(dst, []byte(c.Key))
	}
	dst = binary.AppendUvarint(dst, uint64(len(a.shapes)))
	for _, shape := range a.shapes {
		dst = binary.AppendUvarint(dst, uint64(len(shape)))
		for _, id := range shape {
			dst = binary.AppendUvarint(dst, uint64(id))
		}
	}
	return dst
}

// decodeShapes reads parts 0 and 1 of the column: everything but the values.
func (b *Block) decodeShapes() (*attributes, error) {
	if b.attrs != nil {
		return b.attrs, nil
	}
	raw, err := b.part(Attributes, partShapes)
	if err != nil {
		return nil, err
	}
	a := newAttributes()
	r := reader{raw: raw}
	for range r.count(1) {
		a.column(r.lengthed())
	}
	for range r.count(1) {
		shape := make([]uint32, r.count(1))
		for i := range shape {
			shape[i] = r.index(len(a.columns))
		}
		a.shapes = append(a.shapes, shape)
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("attribute shapes: %w", err)
	}
	if raw, err = b.part(Attributes, partRowShapes); err != nil {
		return nil, err
	}
	r = reader{raw: raw}
	a.rows = make([]uint32, b.Rows)
	for row := range a.rows {
		a.rows[row] = r.index(len(a.shapes))
		if r.failed {
			break
		}
		for _, id := range a.shapes[a.rows[row]] {
			a.columns[id].Rows = append(a.columns[id].Rows, uint32(row))
		}
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("attribute shapes of rows: %w", err)
	}
	b.attrs = a
	return a, nil
}

// decodeAttribute reads the values of one key.
func (b *Block) decodeAttribute(a *attributes, id uint32) (*AttributeColumn, error) {
	c := a.columns[id]
	if b.src == nil || c.Values.Ends != nil {
		return c, nil
	}
	values, err := b.decodeStrings(Attributes, partFirstKey+2*int(id), len(c.Rows))
	if err != nil {
		return nil, fmt.Errorf("attribute %q: %w", c.Key, err)
	}
	c.Values = *values
	return c, nil
}
