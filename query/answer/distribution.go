package answer

import (
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"sonde/query"
)

// population is a histogram, or what several of them measured together.
type population struct {
	totals
	start, time uint64    // Unix nanoseconds
	edges       []float64 // len(buckets)+1 ascending; bucket i lies above edges[i], up to edges[i+1]
	buckets     []uint64
	// Bounds of all that was measured, nil when not known. Wider than min and
	// max when those reach back before the window.
	lowest, highest *float64
}

// appendDistribution appends what a histogram series measured during its
// points: count, sum, and quantiles estimated from the buckets.
func appendDistribution(dst []byte, points []query.Point, since uint64) []byte {
	all := populations(points)
	usable := slices.DeleteFunc(slices.Clone(all), func(p population) bool {
		return !sameEdges(p.edges, all[len(all)-1].edges)
	})
	sum := merge(usable, viewOf(points[0]).temporality == "cumulative", since)
	dst = append(dst, "count "+count(sum.count)...)
	if sum.sum != nil {
		dst = append(dst, " sum "+number(*sum.sum)...)
		if sum.count > 0 {
			dst = append(dst, " avg "+number(*sum.sum/float64(sum.count))...)
		}
	}
	if sum.min != nil {
		dst = append(dst, " min "+number(*sum.min)...)
	}
	for _, q := range []struct {
		label string
		at    float64
	}{{" p50 ", 0.5}, {" p95 ", 0.95}, {" p99 ", 0.99}} {
		if text := sum.quantile(q.at); text != "" {
			dst = append(dst, q.label+text...)
		}
	}
	if sum.max != nil {
		dst = append(dst, " max "+number(*sum.max)...)
	}
	if left := len(all) - len(usable); left > 0 {
		dst = append(dst, ", without "+plural(left, "point")+" of other bounds"...)
	}
	return dst
}

// sameEdges compares bits: a NaN that a client sent equals itself.
func sameEdges(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// populations reads each point, all exponential ones on one scale.
func populations(points []query.Point) []population {
	list := make([]population, len(points))
	exponential := points[0].Metric.Type() == pmetric.MetricTypeExponentialHistogram
	var g grid
	if exponential {
		g = gridFor(points)
	}
	for i, p := range points {
		v := viewOf(p)
		list[i] = population{totals: *v.totals, start: v.start, time: p.TimeUnixNano}
		if exponential {
			list[i].edges, list[i].buckets = g.edges, g.place(p.Metric.ExponentialHistogram().DataPoints().At(0))
			continue
		}
		d := p.Metric.Histogram().DataPoints().At(0)
		// Without buckets only the totals were recorded.
		if n := d.BucketCounts().Len(); n > 0 && n == d.ExplicitBounds().Len()+1 {
			list[i].buckets = d.BucketCounts().AsRaw()
			list[i].edges = slices.Concat([]float64{math.Inf(-1)}, d.ExplicitBounds().AsRaw(), []float64{math.Inf(1)})
		}
	}
	return list
}

// merge adds up what was measured: delta points as they are, cumulative ones by
// their differences, a reset counting from 0, and so what started at since or
// later. A single cumulative point stands for all since its start.
func merge(list []population, cumulative bool, since uint64) population {
	sum := population{edges: list[0].edges, buckets: make([]uint64, len(list[0].buckets))}
	for i, p := range list {
		sum.lowest, sum.highest = lower(sum.lowest, p.min, i == 0), higher(sum.highest, p.max, i == 0)
	}
	if !cumulative || len(list) == 1 {
		for i, p := range list {
			sum.add(p, population{}, i == 0)
		}
		sum.min, sum.max = sum.lowest, sum.highest
		return sum
	}
	started := list[0].start >= max(since, 1)
	if started {
		sum.add(list[0], population{}, true)
	}
	for i, p := range list[1:] {
		before := list[i]
		if p.count < before.count || p.start > before.start && p.start >= before.time {
			before = population{}
		}
		sum.add(p, before, i == 0 && !started)
	}
	return sum
}

// add adds what p has beyond before. A sum stays only while every part has one.
func (sum *population) add(p, before population, first bool) {
	sum.count += p.count - before.count
	for i, n := range p.buckets {
		if i < len(before.buckets) {
			n -= min(n, before.buckets[i])
		}
		sum.buckets[i] += n
	}
	switch {
	case p.sum == nil || !first && sum.sum == nil:
		sum.sum = nil
	default:
		total := *p.sum
		if before.sum != nil {
			total -= *before.sum
		}
		if !first {
			total += *sum.sum
		}
		sum.sum = &total
	}
}

func lower(a, b *float64, first bool) *float64  { return better(a, b, first, math.Min) }
func higher(a, b *float64, first bool) *float64 { return better(a, b, first, math.Max) }

func better(a, b *float64, first bool, choose func(float64, float64) float64) *float64 {
	if first {
		return b
	}
	if a == nil || b == nil {
		return nil
	}
	f := choose(*a, *b)
	return &f
}

// quantile estimates a quantile by a straight line through its bucket; ">10"
// says that it lies in the last one, which is open. "" when it can't be said.
func (sum *population) quantile(q float64) string {
	var total uint64
	for _, n := range sum.buckets {
		total += n
	}
	if total == 0 {
		return ""
	}
	rank, below := q*float64(total), 0.0
	for i, n := range sum.buckets {
		if n == 0 || below+float64(n) < rank {
			below += float64(n)
			continue
		}
		lo, hi := sum.edges[i], sum.edges[i+1]
		if sum.lowest != nil {
			lo = max(lo, *sum.lowest)
		}
		if sum.highest != nil {
			hi = min(hi, *sum.highest)
		}
		switch {
		case math.IsInf(lo, -1) && math.IsInf(hi, 1):
			return ""
		case math.IsInf(hi, 1):
			return ">" + number(lo)
		case math.IsInf(lo, -1) && hi <= 0:
			return "<" + number(hi)
		case math.IsInf(lo, -1):
			lo = 0
		}
		return number(lo + (hi-lo)*(rank-below)/float64(n))
	}
	return ""
}
