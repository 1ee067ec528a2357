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
	stringsDict     = 3 // as a D column
)

// stringsEncoder encodes byte strings. Its buffers are used again.
type stringsEncoder struct {
	distinct dictBuilder // of the values being encoded, which it aliases
	codes    []byte      // of a D column
	numbers  []uint32    // index of a value -> 1 + its place among those with a row
	order    []uint32    // its inverse
}

// append appends the values of src at the given positions, of which there is at
// least one.
func (e *stringsEncoder) append(dst []byte, src *Strings, positions []uint32) []byte {
	first := src.At(int(positions[0]))
	constant, total := true, 0
	width, fixed := 0, true
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
	if constant {
		return append(append(dst, stringsConstant), first...)
	}
	if e.repeats(src, positions) {
		return e.appendDict(append(dst, stringsDict), e.distinct.Values, e.distinct.Index)
	}
	dst = slices.Grow(dst, total+2*len(positions)+16)
	if fixed && width < 256 {
		dst = append(dst, stringsFixed, byte(width))
		bitmap := len(dst)
		dst = append(dst, make([]byte, (len(positions)+7)/8)...)
		for i, at := range positions {
			if len(src.At(int(at))) != 0 {
				dst[bitmap+i/8] |= 1 << (i % 8)
			}
		}
	} else {
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

// repeats reports whether at most a quarter of the values are distinct, and
// fills e.distinct if so. Most columns that are not so show it early.
func (e *stringsEncoder) repeats(src *Strings, positions []uint32) bool {
	const sample = 256
	e.distinct.reset()
	limit := len(positions) / 4
	for i, at := range positions {
		e.distinct.add(src.At(int(at)))
		if n := len(e.distinct.Values); n > limit || i == sample && n > sample/2 {
			return false
		}
	}
	return true
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
	case stringsDict:
		r.dictStrings(s, n)
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

func (r *reader) dictStrings(s *Strings, n int) {
	d, err := decodeDict(r.rest, n)
	if err != nil {
		r.bad = true
		return
	}
	total := 0
	s.Ends = make([]uint32, n)
	for i := range s.Ends {
		if total += len(d.At(i)); total > maxSection {
			r.bad = true
			return
		}
		s.Ends[i] = uint32(total)
	}
	s.Data = make([]byte, 0, total)
	for i := range s.Ends {
		s.Data = append(s.Data, d.At(i)...)
	}
}
