package block

import (
	"encoding/binary"
	"fmt"
)

// Forms of a uints column: the first byte of its part 0.
const (
	uintsConstant  = 0 // one uvarint for all rows
	uintsPlain     = 1 // uvarints
	uintsDelta     = 2 // zigzag differences to the row before
	uintsAscending = 3 // differences to the row before, the first to 0
	uintsByTime    = 4 // 0 for 0, else 1 + zigzag difference to the column Time
	uintsXOR       = 5 // 8 bytes, XOR with the row before
)

// formOf returns the form that suits a column's values.
func formOf(b *Builder, c Column, rows []uint32) byte {
	values := b.uints[c]
	constant := true
	for _, row := range rows {
		constant = constant && values[row] == values[rows[0]]
	}
	switch {
	case constant:
		return uintsConstant
	case c == Time:
		return uintsAscending
	case c == EventTime || c == ObservedTime || c == EndTime || c == StartTime:
		return uintsByTime
	case c == Value:
		for _, row := range rows {
			if b.uints[ValueKind][row] == ValueDouble {
				return uintsXOR
			}
		}
		return uintsDelta
	}
	return uintsPlain
}

func (e *encoder) encodeUints(b *Builder, c Column, rows []uint32) {
	values, times := b.uints[c], b.uints[Time]
	form := formOf(b, c, rows)
	raw := append(e.raw[:0], form)
	if form == uintsConstant {
		rows = rows[:1]
	}
	var before uint64
	for _, row := range rows {
		v := values[row]
		switch form {
		case uintsConstant, uintsPlain:
			raw = binary.AppendUvarint(raw, v)
		case uintsDelta:
			raw = binary.AppendUvarint(raw, zigzag(v-before))
		case uintsAscending:
			raw = binary.AppendUvarint(raw, v-before)
		case uintsByTime:
			if v == 0 {
				raw = append(raw, 0)
			} else {
				raw = appendByTime(raw, zigzag(v-times[row]))
			}
		case uintsXOR:
			raw = binary.LittleEndian.AppendUint64(raw, v^before)
		}
		before = v
	}
	e.raw = raw
	e.part(c, 0, raw)
}

// appendByTime appends z+1 as a uvarint of up to 65 bits: the largest z would
// wrap to the 0 that means absent.
func appendByTime(dst []byte, z uint64) []byte {
	if z == ^uint64(0) {
		return append(dst, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02)
	}
	return binary.AppendUvarint(dst, z+1)
}

// byTime reads what appendByTime wrote, or 0.
func (r *reader) byTime() (z uint64, present bool) {
	const overflow = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"
	if len(r.raw) >= len(overflow) && string(r.raw[:len(overflow)]) == overflow {
		r.raw = r.raw[len(overflow):]
		return ^uint64(0), true
	}
	v := r.uvarint()
	return v - 1, v != 0
}

func (b *Block) decodeUints(c Column) ([]uint64, error) {
	raw, err := b.part(c, 0)
	if err != nil {
		return nil, err
	}
	r := reader{raw: raw}
	form := r.byte()
	var times []uint64
	if form == uintsByTime {
		if times, err = b.Uints(Time); err != nil {
			return nil, err
		}
	}
	values := make([]uint64, b.Rows)
	r.uints(form, values, times)
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("column %d: %w", c, err)
	}
	return values, nil
}

// uints fills values in a form; times is the column Time where the form needs it.
func (r *reader) uints(form byte, values, times []uint64) {
	var before uint64
	switch form {
	case uintsConstant:
		v := r.uvarint()
		for i := range values {
			values[i] = v
		}
	case uintsPlain:
		for i := range values {
			values[i] = r.uvarint()
		}
	case uintsDelta:
		for i := range values {
			before += unzigzag(r.uvarint())
			values[i] = before
		}
	case uintsAscending:
		for i := range values {
			before += r.uvarint()
			values[i] = before
		}
	case uintsByTime:
		for i := range values {
			if z, present := r.byTime(); present {
				values[i] = times[i] + unzigzag(z)
			}
		}
	case uintsXOR:
		for i := range values {
			before ^= r.uint64()
			values[i] = before
		}
	default:
		r.fail()
	}
}

// zigzag maps small differences of either sign to small numbers.
func zigzag(d uint64) uint64 { return d<<1 ^ uint64(int64(d)>>63) }

func unzigzag(z uint64) uint64 { return z>>1 ^ -(z & 1) }

// encodeDict writes part 0, the values that occur, and part 1, the rows'
// numbers, which is empty when there is one value only.
func (e *encoder) encodeDict(d *dictBuilder, c Column, rows []uint32) {
	const unseen = ^uint32(0)
	if len(e.remap) < len(d.values) {
		e.remap = make([]uint32, len(d.values))
	}
	remap := e.remap[:len(d.values)]
	for i := range remap {
		remap[i] = unseen
	}
	var values, index []byte
	distinct := uint32(0)
	for _, row := range rows {
		id := d.index[row]
		if remap[id] == unseen {
			remap[id] = distinct
			distinct++
			values = appendLengthed(values, d.values[id])
		}
		index = binary.AppendUvarint(index, uint64(remap[id]))
	}
	if distinct == 1 {
		index = nil
	}
	e.part(c, 0, values)
	e.part(c, 1, index)
}

func (b *Block) decodeDict(c Column) (*Dict, error) {
	raw, err := b.part(c, 0)
	if err != nil {
		return nil, err
	}
	d := &Dict{Index: make([]uint32, b.Rows)}
	r := reader{raw: raw}
	for len(r.raw) > 0 {
		d.Values = append(d.Values, r.lengthed())
	}
	if r.failed || len(d.Values) == 0 || len(d.Values) > b.Rows {
		return nil, fmt.Errorf("%w: dictionary of column %d", ErrCorrupt, c)
	}
	if raw, err = b.part(c, 1); err != nil {
		return nil, err
	}
	if len(d.Values) == 1 && len(raw) == 0 {
		return d, nil
	}
	r = reader{raw: raw}
	for row := range d.Index {
		d.Index[row] = r.index(len(d.Values))
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("column %d: %w", c, err)
	}
	return d, nil
}

// encodeStrings writes part 0, the lengths, and part 1, the bytes.
func (e *encoder) encodeStrings(s *Strings, c Column, rows []uint32) {
	var lengths []byte
	raw := e.raw[:0]
	for _, row := range rows {
		v := s.At(int(row))
		lengths = binary.AppendUvarint(lengths, uint64(len(v)))
		raw = append(raw, v...)
	}
	e.raw = raw
	e.part(c, 0, lengths)
	e.part(c, 1, raw)
}

// decodeStrings reads n strings from two parts of a column.
func (b *Block) decodeStrings(c Column, first, n int) (*Strings, error) {
	lengths, err := b.part(c, first)
	if err != nil {
		return nil, err
	}
	s := &Strings{Ends: make([]uint32, n)}
	if s.Data, err = b.part(c, first+1); err != nil {
		return nil, err
	}
	r := reader{raw: lengths}
	end := uint64(0)
	for i := range s.Ends {
		end += r.uvarint()
		if end > uint64(len(s.Data)) {
			r.fail()
			break
		}
		s.Ends[i] = uint32(end)
	}
	if err := r.end(); err != nil || end != uint64(len(s.Data)) {
		return nil, fmt.Errorf("%w: lengths of column %d do not fit its bytes", ErrCorrupt, c)
	}
	return s, nil
}
