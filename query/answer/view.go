package answer

import (
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"sonde/query"
)

// view is what the five kinds of data points have in common.
type view struct {
	start       uint64 // Unix nanoseconds, 0 when not given
	flags       pmetric.DataPointFlags
	exemplars   pmetric.ExemplarSlice
	temporality string // "cumulative", "delta", "" where it has no meaning
	monotonic   bool
	totals      *totals // of histograms and summaries
}

// totals sum up the population of a histogram or summary.
type totals struct {
	count         uint64
	sum, min, max *float64 // nil when not recorded
}

func viewOf(p query.Point) view {
	v := view{exemplars: pmetric.NewExemplarSlice()}
	switch p.Metric.Type() {
	case pmetric.MetricTypeGauge:
		d := p.Metric.Gauge().DataPoints().At(0)
		v.start, v.flags, v.exemplars = uint64(d.StartTimestamp()), d.Flags(), d.Exemplars()
	case pmetric.MetricTypeSum:
		sum := p.Metric.Sum()
		d := sum.DataPoints().At(0)
		v.start, v.flags, v.exemplars = uint64(d.StartTimestamp()), d.Flags(), d.Exemplars()
		v.temporality, v.monotonic = temporalityName(sum.AggregationTemporality()), sum.IsMonotonic()
	case pmetric.MetricTypeHistogram:
		d := p.Metric.Histogram().DataPoints().At(0)
		v.start, v.flags, v.exemplars = uint64(d.StartTimestamp()), d.Flags(), d.Exemplars()
		v.temporality = temporalityName(p.Metric.Histogram().AggregationTemporality())
		v.totals = totalsOf(d)
	case pmetric.MetricTypeExponentialHistogram:
		d := p.Metric.ExponentialHistogram().DataPoints().At(0)
		v.start, v.flags, v.exemplars = uint64(d.StartTimestamp()), d.Flags(), d.Exemplars()
		v.temporality = temporalityName(p.Metric.ExponentialHistogram().AggregationTemporality())
		v.totals = totalsOf(d)
	case pmetric.MetricTypeSummary:
		d := p.Metric.Summary().DataPoints().At(0)
		v.start, v.flags = uint64(d.StartTimestamp()), d.Flags()
		sum := d.Sum()
		v.totals = &totals{count: d.Count(), sum: &sum}
	}
	return v
}

// histogramTotals is what both kinds of histogram points offer.
type histogramTotals interface {
	Count() uint64
	HasSum() bool
	Sum() float64
	HasMin() bool
	Min() float64
	HasMax() bool
	Max() float64
}

func totalsOf(h histogramTotals) *totals {
	optional := func(has bool, f float64) *float64 {
		if !has {
			return nil
		}
		return &f
	}
	return &totals{
		count: h.Count(),
		sum:   optional(h.HasSum(), h.Sum()),
		min:   optional(h.HasMin(), h.Min()),
		max:   optional(h.HasMax(), h.Max()),
	}
}

func temporalityName(t pmetric.AggregationTemporality) string {
	switch t {
	case pmetric.AggregationTemporalityCumulative:
		return "cumulative"
	case pmetric.AggregationTemporalityDelta:
		return "delta"
	}
	return ""
}

// kind returns the words that say how the metric's values are to be read.
func (v view) kind() []string {
	var words []string
	if v.temporality != "" {
		words = append(words, v.temporality)
	}
	if v.monotonic {
		words = append(words, "monotonic")
	}
	return words
}

// exactValue and exactFloat keep every digit.
func exactValue(d pmetric.NumberDataPoint) string {
	switch d.ValueType() {
	case pmetric.NumberDataPointValueTypeInt:
		return strconv.FormatInt(d.IntValue(), 10)
	case pmetric.NumberDataPointValueTypeDouble:
		return exactFloat(d.DoubleValue())
	}
	return "none"
}

func exemplarValue(e pmetric.Exemplar) string {
	switch e.ValueType() {
	case pmetric.ExemplarValueTypeInt:
		return strconv.FormatInt(e.IntValue(), 10)
	case pmetric.ExemplarValueTypeDouble:
		return exactFloat(e.DoubleValue())
	}
	return "none"
}

func exactFloat(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return number(f)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
