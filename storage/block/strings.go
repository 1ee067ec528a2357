package block

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// How byte strings are stored.
const (
	stringsConstant = 0 // one value, to the end of the section
	stringsLengths  = 1 // a uvarint length each, then all bytes
	stringsFixed    = 2 // width (1 byte), a bitmap of the rows that have a value, then all bytes
)

// appendStrings appends the values of src at the given positions, of which
// there is at least one.
func appendStrings(dst []byte, src *Strings, positions []uint32) []byte {
	first := src.At(int(positions[0]))
	constant, fixed, total := true, true, 0
	width := 0
	for _, at := range positions {
		v := src.At(int(at))
		total += len(v)
		constant = constant && bytes.Equal(v, first)
		if len(v) != 0 {
			if width == 0 {
				width = len(v)
			}
			fixed = fixed && len(v) == width
		}
	}
	dst = slices.Grow(dst, total+2*len(positions)+16)
	switch {
	case constant:
		dst = append(dst, stringsConstant)
		return append(dst, first...)
	case fixed && width < 256 && (total == width*len(positions) || width >= 4):
		dst = append(dst, stringsFixed, byte(width))
		bitmap := len(dst)
		dst = append(dst, make([]byte, (len(positions)+7)/8)...)
		for i, at := range positions {
			if len(src.At(int(at))) != 0 {
				dst[bitmap+i/8] |= 1 << (i % 8)
			}
		}
	default:
		dst = append(dst, stringsLengths)
		for _, at := range positions {
			dst = binary.AppendUvarint(dst, uint64(len(src.At(int(at)))))
		}
	}
	for _, at := range positions {
		dst = append(dst, src.At(int(at))...)
	}
	return dst
}

// decodeStrings decodes n values, which may alias raw.
func decodeStrings(raw []byte, n int) (*Strings, error) {
	r := reader{rest: raw}
	s := &Strings{}
	switch r.byte() {
	case stringsConstant:
		r.constantStrings(s, n)
	case stringsLengths:
		r.lengthStrings(s, n)
	case stringsFixed:
		r.fixedStrings(s, n)
	default:
		r.bad = true
	}
	if r.bad {
		return nil, fmt.Errorf("%w: bad byte strings", ErrCorrupt)
	}
	return s, nil
}

func (r *reader) constantStrings(s *Strings, n int) {
	if r.bad || n > 0 && len(r.rest) > maxSection/n {
		r.bad = true
		return
	}
	s.Ends = make([]uint32, n)
	for i := range s.Ends {
		s.Ends[i] = uint32((i + 1) * len(r.rest))
	}
	s.Data = bytes.Repeat(r.rest, n)
}

func (r *reader) lengthStrings(s *Strings, n int) {
	if n > len(r.rest) {
		r.bad = true
		return
	}
	s.Ends = make([]uint32, n)
	rest, end := r.rest, uint64(0)
	for i := range s.Ends {
		var v uint64
		if len(rest) > 0 && rest[0] < 0x80 {
			v, rest = uint64(rest[0]), rest[1:]
		} else {
			var k int
			if v, k = binary.Uvarint(rest); k <= 0 || v > maxSection {
				r.bad = true
				return
			}
			rest = rest[k:]
		}
		if end += v; end > maxSection {
			r.bad = true
			return
		}
		s.Ends[i] = uint32(end)
	}
	r.check(end == uint64(len(rest)))
	s.Data = rest[:len(rest):len(rest)]
}

func (r *reader) fixedStrings(s *Strings, n int) {
	width := int(r.byte())
	bitmap := r.bytes((n + 7) / 8)
	if r.bad {
		return
	}
	s.Ends = make([]uint32, n)
	end := 0
	for i := range s.Ends {
		if bitmap[i/8]&(1<<(i%8)) != 0 {
			end += width
		}
		s.Ends[i] = uint32(end)
	}
	r.check(end == len(r.rest))
	s.Data = r.rest[:len(r.rest):len(r.rest)]
}

// appendDict appends a D column: the distinct values, then each row's index as
// one, two or four bytes little-endian, as the number of values needs. A single
// value needs no index.
func appendDict(dst []byte, values *Strings, index []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(values.Ends)))
	for i := range values.Ends {
		dst = binary.AppendUvarint(dst, uint64(len(values.At(i))))
	}
	dst = append(dst, values.Data...)
	switch indexWidth(len(values.Ends)) {
	case 1:
		for _, i := range index {
			dst = append(dst, byte(i))
		}
	case 2:
		for _, i := range index {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(i))
		}
	}
	return dst
}

// indexWidth returns the bytes of an index into n values, n <= MaxRows.
func indexWidth(n int) int {
	switch {
	case n == 1:
		return 0
	case n <= 1<<8:
		return 1
	}
	return 2
}

// decodeDict decodes a D column of n rows. Its values may alias raw.
func decodeDict(raw []byte, n int) (*Dict, error) {
	r := reader{rest: raw}
	d := &Dict{Index: make([]uint32, n)}
	count := r.int(n)
	r.check(count > 0 && count <= len(r.rest))
	if !r.bad {
		r.dictValues(d, count)
	}
	width := indexWidth(count)
	index := r.bytes(n * width)
	if r.bad || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: bad dictionary", ErrCorrupt)
	}
	for i := range d.Index {
		v := uint32(0)
		switch width {
		case 1:
			v = uint32(index[i])
		case 2:
			v = uint32(binary.LittleEndian.Uint16(index[2*i:]))
		}
		if v >= uint32(count) {
			return nil, fmt.Errorf("%w: bad index of a dictionary", ErrCorrupt)
		}
		d.Index[i] = v
	}
	return d, nil
}

func (r *reader) dictValues(d *Dict, count int) {
	lengths := make([]uint64, count)
	r.uvarints(lengths)
	d.Values = make([][]byte, count)
	for i, n := range lengths {
		if n > uint64(len(r.rest)) {
			r.bad = true
			return
		}
		d.Values[i] = r.bytes(int(n))
	}
}
