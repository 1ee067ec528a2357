package answer_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"sonde/query"
	"sonde/query/answer"
)

// pointPage is a complete page of points given oldest first.
func pointPage(oldestFirst ...query.Point) query.PointPage {
	p := query.PointPage{Page: query.Page{Total: len(oldestFirst), TotalExact: true}}
	for i := range oldestFirst {
		p.Points = append(p.Points, oldestFirst[len(oldestFirst)-1-i])
	}
	return p
}

func deltaHistogram(at uint64, counts []uint64, sum float64) func(pmetric.Metric) {
	return func(m pmetric.Metric) {
		h := m.SetEmptyHistogram()
		h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		fillHistogram(h.DataPoints().AppendEmpty(), at-uint64(time.Minute), counts, sum)
	}
}

func cumulativeHistogram(start uint64, counts []uint64, sum float64) func(pmetric.Metric) {
	return func(m pmetric.Metric) {
		h := m.SetEmptyHistogram()
		h.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		fillHistogram(h.DataPoints().AppendEmpty(), start, counts, sum)
	}
}

func fillHistogram(d pmetric.HistogramDataPoint, start uint64, counts []uint64, sum float64) {
	d.SetStartTimestamp(pcommon.Timestamp(start))
	d.ExplicitBounds().FromRaw([]float64{10, 20, 50, 100})
	d.BucketCounts().FromRaw(counts)
	total := uint64(0)
	for _, n := range counts {
		total += n
	}
	d.SetCount(total)
	d.SetSum(sum)
}

func exponential(scale, offset int32, counts []uint64, zero uint64) func(pmetric.Metric) {
	return func(m pmetric.Metric) {
		h := m.SetEmptyExponentialHistogram()
		h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		d := h.DataPoints().AppendEmpty()
		d.SetScale(scale)
		d.Positive().SetOffset(offset)
		d.Positive().BucketCounts().FromRaw(counts)
		d.SetZeroCount(zero)
		total := zero
		for _, n := range counts {
			total += n
		}
		d.SetCount(total)
	}
}

func TestPoints(t *testing.T) {
	shop := shopResources(t)
	var points []query.Point
	start := ago(time.Hour)
	for i := range 6 {
		at := ago(time.Duration(6-i) * time.Minute)
		value := int64(100 * (i + 1))
		if i >= 4 {
			value = int64(10 * (i - 3)) // restarted
		}
		g := gauge(float64(i) * 1.5)
		if i == 2 {
			g = gauge(math.NaN())
		}
		points = append(points,
			newPoint(t, shop[0], "queue.length", "{message}", at, attrs{"queue", "orders\nx"}, g),
			newPoint(t, shop[1], "queue.length", "{message}", at, attrs{"queue", "mail"}, gauge(1e9)),
			newPoint(t, shop[1], "http.server.request.count", "", at, nil, counter(value, start)))
	}
	golden(t, "points", answer.Points(pointPage(points...), lastHour(), answer.Options{}))
}

func TestPointsHistogram(t *testing.T) {
	shop := shopResources(t)
	var delta, cumulative []query.Point
	for i := range 3 {
		at := ago(time.Duration(3-i) * time.Minute)
		delta = append(delta, newPoint(t, shop[0], "latency", "ms", at, nil, deltaHistogram(at, []uint64{10, 20, 60, 9, 1}, 3000)))
		n := uint64(i + 1)
		cumulative = append(cumulative, newPoint(t, shop[1], "latency", "ms", at, nil, cumulativeHistogram(1, []uint64{1000 + 10*n, 20 * n, 60 * n, 9 * n, n}, 3000*float64(n))))
	}
	delta[2].Metric.Histogram().DataPoints().At(0).SetMax(480)
	e := delta[2].Metric.Histogram().DataPoints().At(0).Exemplars().AppendEmpty()
	e.SetTraceID(trace1)
	e.SetDoubleValue(480)
	golden(t, "points_histogram", answer.Points(pointPage(append(delta, cumulative...)...), lastHour(), answer.Options{}))
	golden(t, "points_one", answer.Points(pointPage(delta[2]), lastHour(), answer.Options{}))
}

// Extremes since the start bound the estimates of a cumulative histogram, but
// are not said to be those of the window.
func TestPointsHistogramExtremes(t *testing.T) {
	r := newResource(t, "cart", nil)
	var points []query.Point
	for i := range 2 {
		p := newPoint(t, r, "latency", "s", ago(time.Duration(2-i)*time.Minute), nil, cumulativeHistogram(1, []uint64{100 * uint64(i+1), 0, 0, 0, 0}, float64(i+1)))
		d := p.Metric.Histogram().DataPoints().At(0)
		d.SetMin(0.002)
		d.SetMax(0.03)
		points = append(points, p)
	}
	got := answer.Points(pointPage(points...), lastHour(), answer.Options{})
	if want := ": count 100 sum 1 avg 0.01 p50 0.016 p95 0.0286 p99 0.02972"; !strings.HasSuffix(got, want) {
		t.Errorf("Points = %q, want it to end in %q", got, want)
	}
}

// What started within the window counts from its start, unless the page shows
// only the newest part of it.
func TestPointsStartedInWindow(t *testing.T) {
	r := newResource(t, "cart", nil)
	start := ago(3 * time.Minute)
	points := []query.Point{
		newPoint(t, r, "orders", "", ago(2*time.Minute), nil, counter(60, start)),
		newPoint(t, r, "orders", "", ago(time.Minute), nil, counter(180, start)),
		newPoint(t, r, "latency", "", ago(2*time.Minute), nil, cumulativeHistogram(start, []uint64{1, 2, 0, 0, 0}, 30)),
		newPoint(t, r, "latency", "", ago(time.Minute), nil, cumulativeHistogram(start, []uint64{2, 4, 0, 0, 0}, 60)),
	}
	p := pointPage(points...)
	whole := answer.Points(p, lastHour(), answer.Options{})
	p.Next = query.Cursor{TimeUnixNano: ago(2 * time.Minute)}
	p.Total = 9
	part := answer.Points(p, lastHour(), answer.Options{})
	for _, c := range []struct{ text, want string }{
		{whole, ": total 180 (+180), rate/s last 2 min 1 avg 1.5 max 2; 1 2"}, {whole, ": count 6 sum 60 "},
		{part, ": total 180 (+120), rate/s 2"}, {part, ": count 3 sum 30 "},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("Points = %q, want %q in it", c.text, c.want)
		}
	}
}

// Two points on different scales are added up on the lower one. All values lie
// in (4, 16]: no estimate may leave that.
func TestPointsExponential(t *testing.T) {
	r := newResource(t, "cart", nil)
	a := newPoint(t, r, "size", "By", ago(2*time.Minute), nil, exponential(1, 4, []uint64{5, 5, 5, 5}, 2)) // (4, 16]
	b := newPoint(t, r, "size", "By", ago(time.Minute), nil, exponential(0, 2, []uint64{10, 10}, 0))       // (4, 16]
	c := newPoint(t, r, "size", "By", ago(time.Second), nil, exponential(20, math.MinInt32, []uint64{1}, 0))
	d := newPoint(t, r, "size", "By", ago(0)-1, nil, exponential(-10, math.MaxInt32, []uint64{1, 1}, 0))
	golden(t, "points_exponential", answer.Points(pointPage(a, b), lastHour(), answer.Options{}))
	for _, p := range []query.PointPage{pointPage(a, c), pointPage(c, d), pointPage(a, b, c, d)} {
		if got := answer.Points(p, lastHour(), answer.Options{}); !strings.Contains(got, "count ") {
			t.Errorf("Points of extreme scales = %q, want a count", got)
		}
	}
}

func TestPointsSummary(t *testing.T) {
	r := newResource(t, "cart", nil)
	var points []query.Point
	for i := range 2 {
		points = append(points, newPoint(t, r, "gc", "s", ago(time.Duration(2-i)*time.Minute), nil, func(m pmetric.Metric) {
			d := m.SetEmptySummary().DataPoints().AppendEmpty()
			d.SetCount(uint64(100 * (i + 1)))
			d.SetSum(2.5)
			for _, q := range []float64{0.5, 0.999, 1} {
				v := d.QuantileValues().AppendEmpty()
				v.SetQuantile(q)
				v.SetValue(q / 10)
			}
		}))
	}
	got := answer.Points(pointPage(points...), lastHour(), answer.Options{})
	if want := "count 200 sum 2.5 p50 0.05 p99.9 0.0999 p100 0.1"; !strings.HasSuffix(got, want) {
		t.Errorf("Points of a summary = %q, want it to end in %q", got, want)
	}
}

// Statistics of single series, as the line says them after the colon.
func TestPointsStatistics(t *testing.T) {
	r := newResource(t, "cart", nil)
	minutes := func(n int, fill func(i int, m pmetric.Metric)) []query.Point {
		var points []query.Point
		for i := range n {
			points = append(points, newPoint(t, r, "m", "", ago(time.Duration(n-i)*time.Minute), nil, func(m pmetric.Metric) { fill(i, m) }))
		}
		return points
	}
	delta := func(monotonic bool, start bool) func(i int, m pmetric.Metric) {
		return func(i int, m pmetric.Metric) {
			s := m.SetEmptySum()
			s.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
			s.SetIsMonotonic(monotonic)
			d := s.DataPoints().AppendEmpty()
			d.SetIntValue(int64(60 * (i + 1)))
			if start {
				d.SetStartTimestamp(pcommon.Timestamp(ago(time.Duration(4-i) * time.Minute)))
			}
		}
	}
	big := int64(math.MaxInt64 - 400)
	for _, c := range []struct {
		name   string
		points []query.Point
		want   string
	}{
		{"delta with starts", minutes(3, delta(true, true)), ": sum 360, rate/s last 3 min 1 avg 2 max 3; 1 2 3"},
		{"delta without starts", minutes(3, delta(false, false)), ": sum 360, rate/s last 3 min 2 avg 3 max 3; 2 3"},
		{"counter beyond 2^53", minutes(3, func(i int, m pmetric.Metric) { counter(big+int64(60*i), 0)(m) }),
			fmt.Sprintf(": total %d (+120), rate/s last 1 min 1 avg 1 max 1; 1 1", big+120)},
		{"counter with a new start", minutes(3, func(i int, m pmetric.Metric) {
			start := uint64(1)
			if i == 2 {
				start = ago(90 * time.Second)
			}
			counter(int64(60*(i+1)), start)(m)
		}), ": total 180 (+240), 1 reset, rate/s last 6 min 1 avg 2.667 max 6; 1 6"},
		{"all NaN", minutes(2, func(_ int, m pmetric.Metric) { gauge(math.NaN())(m) }), ": last NaN min NaN avg NaN max NaN; NaN NaN"},
		{"infinite", minutes(2, func(_ int, m pmetric.Metric) { gauge(math.Inf(-1))(m) }), ": last -Infinity min -Infinity avg -Infinity max -Infinity; -Infinity -Infinity"},
		{"many", minutes(180, func(i int, m pmetric.Metric) { gauge(float64(i % 3))(m) }),
			": last 2 min 0 avg 1 max 2; (means of 3)" + strings.Repeat(" 1", 60)},
		{"stale", minutes(2, func(i int, m pmetric.Metric) {
			gauge(1)(m)
			if i == 1 {
				m.Gauge().DataPoints().At(0).SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
			}
		}), ", 1 with no recorded value: 1"},
		{"uneven", append(minutes(2, func(_ int, m pmetric.Metric) { gauge(1)(m) }), newPoint(t, r, "m", "", ago(0)-1, nil, gauge(1))),
			"3 points 11:58:00.000..11:59:59.999 every 60s: last 1 min 1 avg 1 max 1; 1 1 1"},
	} {
		if got := answer.Points(pointPage(c.points...), lastHour(), answer.Options{}); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: Points = %q, want it to end in %q", c.name, got, c.want)
		}
	}
}

// A hostile histogram breaks nothing.
func TestPointsHostile(t *testing.T) {
	r := newResource(t, "cart", nil)
	nan := func(m pmetric.Metric) {
		d := m.SetEmptyHistogram().DataPoints().AppendEmpty()
		d.SetCount(math.MaxUint64)
		d.ExplicitBounds().FromRaw([]float64{math.NaN(), 3, 1})
		d.BucketCounts().FromRaw([]uint64{math.MaxUint64, math.MaxUint64, 1, 2})
	}
	bare := func(m pmetric.Metric) { m.SetEmptyHistogram().DataPoints().AppendEmpty().SetCount(5) }
	got := answer.Points(pointPage(
		newPoint(t, r, "h", "", ago(3), nil, nan), newPoint(t, r, "h", "", ago(2), nil, bare), newPoint(t, r, "h", "", ago(1), nil, nan),
	), lastHour(), answer.Options{})
	if !strings.Contains(got, "without 1 point of other bounds") {
		t.Errorf("Points = %q, want the point of other bounds left out", got)
	}
}

func TestPointsBudget(t *testing.T) {
	r := newResource(t, "cart", nil)
	var points []query.Point
	for i := range 1000 {
		points = append(points, newPoint(t, r, "m", "", ago(time.Second), attrs{"series", int64(i)}, gauge(1)))
	}
	got := answer.Points(pointPage(points...), lastHour(), answer.Options{})
	first, _, _ := strings.Cut(got, "\n")
	shown := strings.Count(got, "\n") - 2
	want := fmt.Sprintf(", %d of 1,000 points in %d series, values oldest to newest; next: to=2026-11-30T11:59:59Z.%d; %d more of this page cut to fit",
		shown, shown, 1000-shown, 1000-shown)
	if len(got) > 9500 || !strings.HasSuffix(first, want) {
		t.Errorf("Points = %d bytes, first line %q, want it to end in %q", len(got), first, want)
	}
}

func TestMetricNames(t *testing.T) {
	list := []query.MetricInfo{
		{Name: "http.server.request.duration", Unit: "s", Type: pmetric.MetricTypeHistogram, Services: []string{"cart", "checkout"},
			Series: 12, Points: 1234, NewestUnixNano: ago(2 * time.Second)},
		{Name: "queue\nlength", Unit: "{message}", Type: pmetric.MetricTypeGauge, Series: 1, Points: 1, NewestUnixNano: ago(30 * time.Hour)},
	}
	h := lastHour()
	h.Notes = []string{"limit 5000 taken as 1000"}
	golden(t, "names", answer.MetricNames(list, 120, h, answer.Options{}))
	got := answer.MetricNames(list, 120, h, answer.Options{MaxLines: 2})
	first, _, _ := strings.Cut(got, "\n")
	if want := "1 of 120 names; 1 more cut to fit, name=PREFIX* narrows; limit 5000 taken as 1000"; !strings.HasSuffix(first, want) {
		t.Errorf("MetricNames of 2 lines = %q, want the first line to end in %q", got, want)
	}
}
