package query

import (
	"iter"
	"math/bits"

	"sonde/storage/block"
)

// rows is a set of rows of one block, a bit for each.
type rows struct {
	bits []uint64
	n    int // rows of the block
}

// reset makes s the empty set of rows of a block of n.
func (s *rows) reset(n int) {
	words := (n + 63) / 64
	if cap(s.bits) < words {
		s.bits = make([]uint64, words)
	}
	s.bits = s.bits[:words]
	clear(s.bits)
	s.n = n
}

// fill puts all rows of a block of n into s.
func (s *rows) fill(n int) {
	s.reset(n)
	for i := range s.bits {
		s.bits[i] = ^uint64(0)
	}
	if n%64 != 0 {
		s.bits[n/64] = 1<<(n%64) - 1
	}
}

func (s *rows) has(i int) bool { return s.bits[i/64]>>(i%64)&1 != 0 }
func (s *rows) add(i int)      { s.bits[i/64] |= 1 << (i % 64) }
func (s *rows) remove(i int)   { s.bits[i/64] &^= 1 << (i % 64) }

func (s *rows) empty() bool {
	for _, word := range s.bits {
		if word != 0 {
			return false
		}
	}
	return true
}

func (s *rows) len() int {
	n := 0
	for _, word := range s.bits {
		n += bits.OnesCount64(word)
	}
	return n
}

// keep removes the rows for which ok is false.
func (s *rows) keep(ok func(row int) bool) {
	for w, word := range s.bits {
		for rest := word; rest != 0; rest &= rest - 1 {
			bit := bits.TrailingZeros64(rest)
			if !ok(w*64 + bit) {
				word &^= 1 << bit
			}
		}
		s.bits[w] = word
	}
}

// keepValues removes the rows whose value in the dictionary does not pass. It
// asks once for each value.
func (s *rows) keepValues(d *block.Dict, pass func(value []byte) bool) {
	passes := make([]bool, len(d.Values))
	none := true
	for i, value := range d.Values {
		passes[i] = pass(value)
		none = none && !passes[i]
	}
	if none {
		clear(s.bits)
		return
	}
	s.keep(func(row int) bool { return passes[d.Index[row]] })
}

// all yields the rows in their order. The set must not change meanwhile.
func (s *rows) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w, word := range s.bits {
			for ; word != 0; word &= word - 1 {
				if !yield(w*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// used yields the distinct values that a dictionary has in the rows.
func used(d *block.Dict, s *rows) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		seen := make([]bool, len(d.Values))
		for row := range s.all() {
			if index := d.Index[row]; !seen[index] {
				seen[index] = true
				if !yield(d.Values[index]) {
					return
				}
			}
		}
	}
}
