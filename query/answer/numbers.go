package answer

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"sonde/query"
)

// maxValues is how many values a series shows.
const maxValues = 60

// sample is one number data point.
type sample struct {
	time, start uint64 // Unix nanoseconds
	value       float64
	whole       int64 // the value where isWhole: float64 can't hold all of them
	isWhole     bool
}

func sampleOf(p query.Point) sample {
	var d pmetric.NumberDataPoint
	if p.Metric.Type() == pmetric.MetricTypeSum {
		d = p.Metric.Sum().DataPoints().At(0)
	} else {
		d = p.Metric.Gauge().DataPoints().At(0)
	}
	s := sample{time: p.TimeUnixNano, start: uint64(d.StartTimestamp())}
	switch d.ValueType() {
	case pmetric.NumberDataPointValueTypeInt:
		s.whole, s.isWhole = d.IntValue(), true
		s.value = float64(s.whole)
	case pmetric.NumberDataPointValueTypeDouble:
		s.value = d.DoubleValue()
	default:
		s.value = math.NaN()
	}
	return s
}

// appendNumbers appends a gauge or an up-down counter as its values, a counter
// as its rates.
func appendNumbers(dst []byte, points []query.Point, since uint64) []byte {
	samples := make([]sample, len(points))
	for i, p := range points {
		samples[i] = sampleOf(p)
	}
	last := exactNumber(points[len(points)-1])
	v := viewOf(points[0])
	switch {
	case v.monotonic && v.temporality == "cumulative":
		r := cumulativeRates(samples, since)
		dst = append(dst, "total "+last...)
		if len(samples) > 1 {
			dst = append(dst, " (+"+number(r.increase)+")"...)
		}
		if r.resets > 0 {
			dst = append(dst, ", "+plural(r.resets, "reset")...)
		}
		return r.append(dst)
	case v.temporality == "delta":
		r := deltaRates(samples)
		dst = append(dst, "sum "+number(r.increase)...)
		return r.append(dst)
	}
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = s.value
	}
	if len(values) == 1 {
		return append(dst, last...)
	}
	dst = appendStatistics(append(dst, "last "+last...), values, mean(values))
	return appendValues(append(dst, ';'), values)
}

func exactNumber(p query.Point) string {
	if p.Metric.Type() == pmetric.MetricTypeSum {
		return exactValue(p.Metric.Sum().DataPoints().At(0))
	}
	return exactValue(p.Metric.Gauge().DataPoints().At(0))
}

// rates are what a counter did between its points, per second.
type rates struct {
	perSecond []float64
	increase  float64 // over all intervals
	seconds   float64 // of the intervals whose length is known
	resets    int
}

func (r *rates) add(increase float64, nanos uint64) {
	if math.IsNaN(increase) {
		return
	}
	r.increase += increase
	if nanos > 0 {
		seconds := float64(nanos) / 1e9
		r.seconds += seconds
		r.perSecond = append(r.perSecond, increase/seconds)
	}
}

// cumulativeRates reads a counter that was reset, because its value fell or its
// start moved, as one that began at 0 (metrics data model, "Resets and gaps").
// A single point is a rate since its start; a counter that started at since or
// later was 0 then.
func cumulativeRates(samples []sample, since uint64) rates {
	var r rates
	if len(samples) == 1 {
		if s := samples[0]; s.start > 0 && s.start < s.time {
			r.add(s.value, s.time-s.start)
		}
		return r
	}
	if first := samples[0]; first.start >= max(since, 1) && first.start < first.time {
		samples = slices.Insert(samples, 0, sample{time: first.start, start: first.start, isWhole: first.isWhole})
	}
	for i := 1; i < len(samples); i++ {
		a, b := samples[i-1], samples[i]
		switch {
		case b.value < a.value || b.start > a.start && b.start >= a.time:
			r.resets++
			r.add(b.value, b.time-max(a.time, min(b.start, b.time)))
		case a.isWhole && b.isWhole:
			r.add(float64(uint64(b.whole)-uint64(a.whole)), b.time-a.time)
		default:
			r.add(b.value-a.value, b.time-a.time)
		}
	}
	return r
}

// deltaRates takes the length of an interval from the point's start, else from
// the point before.
func deltaRates(samples []sample) rates {
	var r rates
	for i, s := range samples {
		switch {
		case s.start > 0 && s.start <= s.time:
			r.add(s.value, s.time-s.start)
		case i > 0:
			r.add(s.value, s.time-samples[i-1].time)
		default:
			r.add(s.value, 0)
		}
	}
	return r
}

func (r *rates) append(dst []byte) []byte {
	switch len(r.perSecond) {
	case 0:
		return dst
	case 1:
		return append(dst, ", rate/s "+number(r.perSecond[0])...)
	}
	dst = append(dst, ", rate/s last "+number(r.perSecond[len(r.perSecond)-1])...)
	dst = appendStatistics(dst, r.perSecond, r.increase/r.seconds)
	return appendValues(append(dst, ';'), r.perSecond)
}

// appendStatistics passes over NaN, unless there is nothing else.
func appendStatistics(dst []byte, values []float64, average float64) []byte {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			lowest, highest = min(lowest, v), max(highest, v)
		}
	}
	if lowest > highest {
		lowest, highest = math.NaN(), math.NaN()
	}
	return append(dst, " min "+number(lowest)+" avg "+number(average)+" max "+number(highest)...)
}

// mean passes over NaN, unless there is nothing else.
func mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / float64(n)
}

// appendValues appends at most maxValues numbers: where there are more, the
// means of equal stretches.
func appendValues(dst []byte, values []float64) []byte {
	step := (len(values) + maxValues - 1) / maxValues
	if step > 1 {
		dst = append(dst, " (means of "+strconv.Itoa(step)+")"...)
	}
	var b strings.Builder
	for i := 0; i < len(values); i += step {
		b.WriteString(" " + number(mean(values[i:min(i+step, len(values))])))
	}
	return append(dst, b.String()...)
}
