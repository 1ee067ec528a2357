package answer

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"sonde/query"
)

// Points returns a page of data points as text, grouped by series. Within a
// series the values run from the oldest to the newest.
func Points(p query.PointPage, h Head, o Options) string {
	line := newHeadline("metrics", h, p.Page, len(p.Points))
	if only(p.Page, len(p.Points)) {
		return pointDetail(line, p.Points[0])
	}
	times := make([]uint64, len(p.Points))
	for i, point := range p.Points {
		times[i] = point.TimeUnixNano
	}
	line.after = func(i int) query.Cursor { return cursorAfter(times, p.Next, i) }
	g := groupPoints(p.Points)
	return o.fit(len(p.Points), func(shown int) string {
		since := uint64(math.MaxUint64)
		if shown == len(p.Points) && p.Next == (query.Cursor{}) {
			since = h.Range.From
		}
		return g.render(line, h, shown, since)
	})
}

// pointGroups are the points of a page by series and the series by metric, both
// in the order in which the page names them first.
type pointGroups struct {
	points    []query.Point
	series    []int // of each point
	metrics   []int // of each series
	resources resources
	owner     []int // of each series, its resource
}

func groupPoints(points []query.Point) *pointGroups {
	g := &pointGroups{points: points}
	metrics, series := map[string]int{}, map[string]int{}
	for _, p := range points {
		resource := g.resources.ref(p.Resource)
		metric := metricKey(p)
		key := metric + strconv.Itoa(resource) + "\x00" + contentKey(p.Attributes)
		if _, ok := metrics[metric]; !ok {
			metrics[metric] = len(metrics)
		}
		if _, ok := series[key]; !ok {
			series[key] = len(series)
			g.metrics = append(g.metrics, metrics[metric])
			g.owner = append(g.owner, resource)
		}
		g.series = append(g.series, series[key])
	}
	return g
}

// metricKey tells metrics apart as the data model does: by name, unit, type and
// scope.
func metricKey(p query.Point) string {
	v := viewOf(p)
	parts := append([]string{p.Metric.Name(), p.Metric.Unit(), typeName(p.Metric.Type())}, v.kind()...)
	if p.Scope != nil {
		parts = append(parts, p.Scope.Name(), p.Scope.Version(), contentKey(p.Scope.Attributes()))
	}
	return strings.Join(parts, "\x00") + "\x00"
}

// render shows the first points of the page, which has all points from since on:
// a counter that started no earlier counts from its start.
func (g *pointGroups) render(line headline, h Head, shown int, since uint64) string {
	bySeries := make([][]query.Point, 0, len(g.metrics))
	for i, p := range g.points[:shown] {
		if s := g.series[i]; s == len(bySeries) {
			bySeries = append(bySeries, []query.Point{p})
		} else {
			bySeries[s] = append(bySeries[s], p)
		}
	}
	used := 0
	for s := range bySeries {
		used = max(used, g.owner[s]+1)
		slices.Reverse(bySeries[s]) // oldest first
	}
	line.about = " points in " + seriesCount(len(bySeries)) + ", values oldest to newest"
	b := append([]byte(line.line(shown)), '\n')
	b = g.resources.appendLines(b, used)
	for m := range slices.Max(append([]int{-1}, g.metrics[:len(bySeries)]...)) + 1 {
		first := slices.Index(g.metrics, m)
		b = append(appendMetric(b, bySeries[first][0]), '\n')
		for s, points := range bySeries {
			if g.metrics[s] != m {
				continue
			}
			b = append(b, ' ')
			if used > 1 {
				b = append(appendRef(b, g.owner[s]), ' ')
			}
			b = append(appendSeries(b, points, stamper{day: h.day()}, since), '\n')
		}
	}
	return string(b[:len(b)-1])
}

// appendMetric appends the line under which the series of a metric stand.
func appendMetric(dst []byte, p query.Point) []byte {
	dst = append(dst, cut(Clean(p.Metric.Name()), nameLimit)...)
	dst = append(dst, " "+typeName(p.Metric.Type())...)
	for _, word := range viewOf(p).kind() {
		dst = append(append(dst, ' '), word...)
	}
	if unit := p.Metric.Unit(); unit != "" {
		dst = append(append(dst, ' '), cut(Clean(unit), keyLimit)...)
	}
	return append(dst, ':')
}

// appendSeries appends attributes, stretch of time, statistics and values of
// one series, oldest point first.
func appendSeries(dst []byte, points []query.Point, stamp stamper, since uint64) []byte {
	if attrs := appendAttrs(nil, points[0].Attributes, nil); attrs != nil {
		dst = append(append(dst, attrs[1:]...), ' ')
	}
	present := slices.DeleteFunc(slices.Clone(points), func(p query.Point) bool {
		return viewOf(p).flags.NoRecordedValue()
	})
	dst = appendStretch(dst, points, stamp)
	if gone := len(points) - len(present); gone > 0 {
		dst = append(dst, ", "+count(gone)+" with no recorded value"...)
	}
	if len(present) == 0 {
		return dst
	}
	dst = append(dst, ": "...)
	switch points[0].Metric.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		dst = appendNumbers(dst, present, since)
	case pmetric.MetricTypeHistogram, pmetric.MetricTypeExponentialHistogram:
		dst = appendDistribution(dst, present, since)
	case pmetric.MetricTypeSummary:
		dst = appendQuantiles(dst, present[len(present)-1])
	}
	return appendExemplars(dst, present)
}

// appendStretch says how many points there are, from when to when, how far
// apart.
func appendStretch(dst []byte, points []query.Point, stamp stamper) []byte {
	first, last := points[0].TimeUnixNano, points[len(points)-1].TimeUnixNano
	dst = append(dst, plural(len(points), "point")+" "...)
	dst = stamp.append(dst, first)
	if len(points) == 1 || first == last {
		return dst
	}
	dst = stamp.append(append(dst, ".."...), last)
	even := between(first, last) / time.Duration(len(points)-1)
	word := " every "
	for i := 1; i < len(points); i++ {
		gap := between(points[i-1].TimeUnixNano, points[i].TimeUnixNano)
		if (gap - even).Abs() > even/20 {
			word = " about every "
		}
	}
	return append(dst, word+duration(even)...)
}

// appendQuantiles appends a summary as its client computed it.
func appendQuantiles(dst []byte, p query.Point) []byte {
	s := p.Metric.Summary().DataPoints().At(0)
	dst = append(dst, "count "+count(s.Count())+" sum "+number(s.Sum())...)
	for i, q := range s.QuantileValues().All() {
		if i == maxListed {
			break
		}
		dst = append(dst, " p"+trimZeros(strconv.FormatFloat(q.Quantile()*100, 'f', 3, 64))+" "+number(q.Value())...)
	}
	return dst
}

// maxExemplars is how many traces a series points to.
const maxExemplars = 2

// appendExemplars appends the newest measurements that name their trace.
func appendExemplars(dst []byte, points []query.Point) []byte {
	shown := 0
	seen := map[pcommon.TraceID]bool{}
	for _, p := range slices.Backward(points) {
		for _, e := range viewOf(p).exemplars.All() {
			if e.TraceID().IsEmpty() || seen[e.TraceID()] || shown == maxExemplars {
				continue
			}
			if shown == 0 {
				dst = append(dst, "; exemplars"...)
			}
			shown++
			seen[e.TraceID()] = true
			dst = append(dst, " "+exemplarValue(e)+" → "+shortTrace(e.TraceID())...)
		}
	}
	return dst
}
