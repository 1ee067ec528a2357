package block

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A D column is stored as its distinct values but the empty one, in the order
// of their first row: how many, the length of each (uvarints) and all bytes.
// Then there is a code for each row (uvarints): 0 for the empty value, 1 for the
// next value, else 1 + how many values ago it was first seen, 1 being the newest
// one. So values that come and go, as trace ids do, have small codes.
const (
	codeEmpty = 0
	codeNext  = 1
)

// appendDict appends a D column. It need not have values in the order of their
// first row, and may have some without a row.
func (e *stringsEncoder) appendDict(dst []byte, values [][]byte, index []uint32) []byte {
	e.numbers = append(e.numbers[:0], make([]uint32, len(values))...)
	e.codes, e.order = e.codes[:0], e.order[:0]
	seen, total := uint32(0), 0
	for _, i := range index {
		switch {
		case len(values[i]) == 0:
			e.codes = append(e.codes, codeEmpty)
		case e.numbers[i] == 0:
			seen++
			e.numbers[i] = seen
			e.order = append(e.order, i)
			total += len(values[i])
			e.codes = append(e.codes, codeNext)
		default:
			e.codes = binary.AppendUvarint(e.codes, uint64(codeNext+1+seen-e.numbers[i]))
		}
	}
	dst = slices.Grow(dst, total+2*len(e.order)+len(e.codes)+binary.MaxVarintLen32)
	dst = binary.AppendUvarint(dst, uint64(seen))
	for _, i := range e.order {
		dst = binary.AppendUvarint(dst, uint64(len(values[i])))
	}
	for _, i := range e.order {
		dst = append(dst, values[i]...)
	}
	return append(dst, e.codes...)
}

// decodeDict decodes a D column of n rows. Its values may alias raw.
func decodeDict(raw []byte, n int) (*Dict, error) {
	r := reader{rest: raw}
	d := &Dict{}
	r.dictValues(d, n)
	r.dictIndex(d, n)
	if r.bad || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: bad dictionary", ErrCorrupt)
	}
	return d, nil
}

func (r *reader) dictValues(d *Dict, n int) {
	count := r.int(n)
	if count > len(r.rest) {
		r.bad = true
		return
	}
	lengths := make([]uint64, count)
	r.uvarints(lengths)
	d.Values = make([][]byte, count, count+1)
	for i, length := range lengths {
		if length == 0 || length > uint64(len(r.rest)) {
			r.bad = true
			return
		}
		d.Values[i] = r.bytes(int(length))
	}
}

func (r *reader) dictIndex(d *Dict, n int) {
	if r.bad || n > len(r.rest) {
		r.bad = true
		return
	}
	index := make([]uint32, n)
	codes, pos := r.rest, 0
	count, seen, empty := uint64(len(d.Values)), uint64(0), false
	for i := range index {
		var code uint64
		if pos < len(codes) && codes[pos] < 0x80 {
			code, pos = uint64(codes[pos]), pos+1
		} else if code, pos = varint(codes, pos); pos < 0 {
			r.bad = true
			return
		}
		switch {
		case code == codeEmpty:
			empty = true
			index[i] = uint32(count)
		case code == codeNext && seen < count:
			index[i] = uint32(seen)
			seen++
		case code > codeNext && code-codeNext <= seen:
			index[i] = uint32(seen - (code - codeNext))
		default:
			r.bad = true
			return
		}
	}
	r.check(seen == count)
	r.rest = codes[pos:]
	d.Index = index
	if empty {
		d.Values = append(d.Values, nil)
	}
}
