package query

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sonde/storage"
)

func TestPageKeepsTheNewest(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		limit := 1 + r.IntN(10)
		p := newPage[int](limit)
		var all []entry[int]
		for i := range 40 {
			at := place{uint64(r.IntN(4)), storage.Position(r.IntN(3)), uint32(i)}
			all = append(all, entry[int]{at, i})
			p.offer(at, i)
		}
		slices.SortFunc(all, func(a, b entry[int]) int { return b.compare(a.place) })
		if !slices.Equal(p.entries, all[:limit]) {
			t.Fatalf("seed %d: page of %d = %v, want %v", seed, limit, p.entries, all[:limit])
		}
		want := Cursor{TimeUnixNano: all[limit-1].time}
		for _, e := range all[limit:] {
			if e.time == want.TimeUnixNano {
				want.Remaining++
			}
		}
		if got := p.next(); got != want {
			t.Fatalf("seed %d: next of a page of %d of %v = %v, want %v", seed, limit, all, got, want)
		}
	}
}
