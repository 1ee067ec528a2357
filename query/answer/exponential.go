package answer

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"sonde/query"
)

// maxGrid bounds the buckets of a grid to each side of zero. SDKs use 160.
const maxGrid = 640

// grid is one bucket layout that holds the exponential histograms of a series:
// they change scale as their range grows, and a lower scale merges pairs of
// buckets exactly (metrics data model, "ExponentialHistogram", "Scale").
type grid struct {
	scale              int32
	positive, negative indexRange
	edges              []float64
	zero               int // bucket of the values around zero
}

// indexRange is the bucket indexes from lo to hi, both included; none when
// empty.
type indexRange struct {
	lo, hi int32
	filled bool
}

func (r *indexRange) include(i int32) {
	if !r.filled {
		*r = indexRange{lo: i, hi: i, filled: true}
	}
	r.lo, r.hi = min(r.lo, i), max(r.hi, i)
}

func (r indexRange) len() int {
	if !r.filled {
		return 0
	}
	return int(r.hi) - int(r.lo) + 1
}

func gridFor(points []query.Point) grid {
	g := grid{scale: math.MaxInt32}
	threshold := 0.0
	for _, p := range points {
		d := p.Metric.ExponentialHistogram().DataPoints().At(0)
		g.scale = min(g.scale, d.Scale())
		threshold = max(threshold, d.ZeroThreshold())
	}
	for {
		g.positive, g.negative = indexRange{}, indexRange{}
		for _, p := range points {
			d := p.Metric.ExponentialHistogram().DataPoints().At(0)
			for i := range filledBuckets(d.Positive()) {
				g.positive.include(lowered(i, d.Scale()-g.scale))
			}
			for i := range filledBuckets(d.Negative()) {
				g.negative.include(lowered(i, d.Scale()-g.scale))
			}
		}
		if g.positive.len() <= maxGrid && g.negative.len() <= maxGrid {
			break
		}
		g.scale--
	}
	g.layOut(threshold)
	return g
}

// layOut fixes the edges: negative buckets, a gap, the values around zero, a
// gap, positive buckets. A gap is where no value was counted.
func (g *grid) layOut(threshold float64) {
	for i := g.negative.len(); g.negative.filled && i >= 0; i-- {
		g.edges = append(g.edges, min(-threshold, -bound(int64(g.negative.lo)+int64(i), g.scale)))
	}
	g.zero = len(g.edges)
	g.edges = append(g.edges, -threshold, threshold)
	for i := 0; g.positive.filled && i <= g.positive.len(); i++ {
		g.edges = append(g.edges, max(threshold, bound(int64(g.positive.lo)+int64(i), g.scale)))
	}
}

// bound returns 2^(index / 2^scale), the value above which a bucket begins.
func bound(index int64, scale int32) float64 {
	return math.Exp2(math.Ldexp(float64(index), -int(scale)))
}

// place returns the counts of a point in the buckets of the grid.
func (g *grid) place(d pmetric.ExponentialHistogramDataPoint) []uint64 {
	counts := make([]uint64, len(g.edges)-1)
	counts[g.zero] = d.ZeroCount()
	for i, n := range filledBuckets(d.Positive()) {
		counts[g.zero+2+int(lowered(i, d.Scale()-g.scale)-g.positive.lo)] += n
	}
	for i, n := range filledBuckets(d.Negative()) {
		counts[g.zero-2-int(lowered(i, d.Scale()-g.scale)-g.negative.lo)] += n
	}
	return counts
}

// lowered returns the index that a bucket has at a scale lower by so many.
func lowered(index, by int32) int32 { return index >> min(uint32(by), 31) }

// filledBuckets yields index and count of the buckets that hold anything.
// Indexes beyond 32 bits, which no value reaches, are passed over.
func filledBuckets(b pmetric.ExponentialHistogramDataPointBuckets) func(yield func(int32, uint64) bool) {
	return func(yield func(int32, uint64) bool) {
		for i, n := range b.BucketCounts().All() {
			index := int64(b.Offset()) + int64(i)
			if n == 0 || index > math.MaxInt32 {
				continue
			}
			if !yield(int32(index), n) {
				return
			}
		}
	}
}
