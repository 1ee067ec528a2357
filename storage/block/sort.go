package block

import (
	"slices"
	"sync"
)

// sorter orders rows by time. Its buffers are used again.
type sorter struct {
	rows     []uint32
	from, to []timedRow
}

var sorters = sync.Pool{New: func() any { return &sorter{} }}

type timedRow struct {
	time uint64
	row  uint32
}

// order returns the rows in ascending order of their times, equal ones in the
// order of their numbers. The slice is valid until the next call.
func (s *sorter) order(times []uint64) []uint32 {
	dst := slices.Grow(s.rows[:0], len(times))
	sorted := true
	for row := range times {
		dst = append(dst, uint32(row))
		sorted = sorted && (row == 0 || times[row-1] <= times[row])
	}
	s.rows = dst
	if sorted {
		return dst
	}
	s.from = slices.Grow(s.from[:0], len(times))
	s.to = slices.Grow(s.to[:0], len(times))[:len(times)]
	var counts [8][256]uint32
	for row, t := range times {
		s.from = append(s.from, timedRow{t, uint32(row)})
		for digit := range counts {
			counts[digit][byte(t>>(8*digit))]++
		}
	}
	// A radix sort from the lowest byte up: stable, and the upper bytes of
	// times that lie close together are all equal and cost nothing.
	for digit := range counts {
		count := &counts[digit]
		if count[byte(times[0]>>(8*digit))] == uint32(len(times)) {
			continue
		}
		start := uint32(0)
		for value, n := range count {
			count[value] = start
			start += n
		}
		for _, r := range s.from {
			value := byte(r.time >> (8 * digit))
			s.to[count[value]] = r
			count[value]++
		}
		s.from, s.to = s.to, s.from
	}
	for i, r := range s.from {
		dst[i] = r.row
	}
	return dst
}
