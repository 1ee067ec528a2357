package answer

import (
	"go.opentelemetry.io/collector/pdata/pmetric"

	"sonde/query"
	"sonde/storage/otlp"
)

type jsonPoint struct {
	Metric      string      `json:"metric"`
	Description string      `json:"description,omitempty"`
	Type        string      `json:"type"`
	Unit        string      `json:"unit,omitempty"`
	Metadata    *attributes `json:"metadata,omitempty"`
	Temporality string      `json:"temporality,omitempty"`
	Monotonic   *bool       `json:"monotonic,omitempty"` // sums only
	Service     string      `json:"service"`
	Time        string      `json:"time"`
	StartTime   string      `json:"startTime,omitempty"`

	Value any `json:"value,omitempty"` // gauges and sums: int64 or float

	Count          *uint64        `json:"count,omitempty"`
	Sum            *float         `json:"sum,omitempty"`
	Min            *float         `json:"min,omitempty"`
	Max            *float         `json:"max,omitempty"`
	ExplicitBounds []float        `json:"explicitBounds,omitempty"`
	BucketCounts   []uint64       `json:"bucketCounts,omitempty"`
	Scale          *int32         `json:"scale,omitempty"`
	ZeroCount      *uint64        `json:"zeroCount,omitempty"`
	ZeroThreshold  *float         `json:"zeroThreshold,omitempty"`
	Positive       *jsonBuckets   `json:"positive,omitempty"`
	Negative       *jsonBuckets   `json:"negative,omitempty"`
	Quantiles      []jsonQuantile `json:"quantiles,omitempty"`

	Attributes attributes     `json:"attributes"`
	Exemplars  []jsonExemplar `json:"exemplars,omitempty"`
	Flags      uint32         `json:"flags,omitempty"`
	origin
}

type jsonBuckets struct {
	Offset       int32    `json:"offset"`
	BucketCounts []uint64 `json:"bucketCounts"`
}

type jsonQuantile struct {
	Quantile float `json:"quantile"`
	Value    float `json:"value"`
}

type jsonExemplar struct {
	Time       string      `json:"time"`
	Value      any         `json:"value,omitempty"`
	TraceID    string      `json:"traceId,omitempty"`
	SpanID     string      `json:"spanId,omitempty"`
	Attributes *attributes `json:"attributes,omitempty"`
}

func newJSONPoint(p query.Point) jsonPoint {
	v := viewOf(p)
	j := jsonPoint{
		Metric:      p.Metric.Name(),
		Description: p.Metric.Description(),
		Type:        typeName(p.Metric.Type()),
		Unit:        p.Metric.Unit(),
		Metadata:    attributesOrNil(p.Metric.Metadata()),
		Temporality: v.temporality,
		Service:     p.Resource.Service,
		Time:        FormatTime(p.TimeUnixNano),
		StartTime:   timeOrNone(v.start),
		Attributes:  attributes{p.Attributes},
		Flags:       uint32(v.flags),
		origin:      originOf(p.Scope, p.Resource),
	}
	if t := v.totals; t != nil {
		j.Count, j.Sum, j.Min, j.Max = &t.count, optionalFloat(t.sum), optionalFloat(t.min), optionalFloat(t.max)
	}
	for _, e := range v.exemplars.All() {
		j.Exemplars = append(j.Exemplars, jsonExemplar{
			Time:       FormatTime(uint64(e.Timestamp())),
			Value:      exemplarNumber(e),
			TraceID:    traceHex(e.TraceID()),
			SpanID:     spanHex(e.SpanID()),
			Attributes: attributesOrNil(e.FilteredAttributes()),
		})
	}
	j.setValue(p.Metric)
	return j
}

// setValue fills in what only one type of metric has.
func (j *jsonPoint) setValue(m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		j.Value = pointNumber(m.Gauge().DataPoints().At(0))
	case pmetric.MetricTypeSum:
		monotonic := m.Sum().IsMonotonic()
		j.Monotonic = &monotonic
		j.Value = pointNumber(m.Sum().DataPoints().At(0))
	case pmetric.MetricTypeHistogram:
		d := m.Histogram().DataPoints().At(0)
		j.ExplicitBounds, j.BucketCounts = floats(d.ExplicitBounds().AsRaw()), d.BucketCounts().AsRaw()
	case pmetric.MetricTypeExponentialHistogram:
		d := m.ExponentialHistogram().DataPoints().At(0)
		scale, zero, threshold := d.Scale(), d.ZeroCount(), float(d.ZeroThreshold())
		j.Scale, j.ZeroCount, j.ZeroThreshold = &scale, &zero, &threshold
		j.Positive, j.Negative = newJSONBuckets(d.Positive()), newJSONBuckets(d.Negative())
	case pmetric.MetricTypeSummary:
		for _, q := range m.Summary().DataPoints().At(0).QuantileValues().All() {
			j.Quantiles = append(j.Quantiles, jsonQuantile{float(q.Quantile()), float(q.Value())})
		}
	}
}

func newJSONBuckets(b pmetric.ExponentialHistogramDataPointBuckets) *jsonBuckets {
	if b.BucketCounts().Len() == 0 {
		return nil
	}
	return &jsonBuckets{b.Offset(), b.BucketCounts().AsRaw()}
}

// pointNumber and exemplarNumber return nil for a value that was not recorded.
func pointNumber(d pmetric.NumberDataPoint) any {
	switch d.ValueType() {
	case pmetric.NumberDataPointValueTypeInt:
		return d.IntValue()
	case pmetric.NumberDataPointValueTypeDouble:
		return float(d.DoubleValue())
	}
	return nil
}

func exemplarNumber(e pmetric.Exemplar) any {
	switch e.ValueType() {
	case pmetric.ExemplarValueTypeInt:
		return e.IntValue()
	case pmetric.ExemplarValueTypeDouble:
		return float(e.DoubleValue())
	}
	return nil
}

// PointsJSON is LogsJSON for data points, under the key points.
func PointsJSON(p query.PointPage, h Head) ([]byte, error) {
	list := make([]jsonPoint, len(p.Points))
	for i, point := range p.Points {
		list[i] = newJSONPoint(point)
	}
	return encode(struct {
		envelope
		Points []jsonPoint `json:"points"`
		Notes  []string    `json:"notes"`
	}{newEnvelope(otlp.Metrics, h, p.Page), list, notes(h)})
}

type jsonMetric struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Type        string   `json:"type"`
	Unit        string   `json:"unit,omitempty"`
	Series      int      `json:"series"`
	Points      int      `json:"points"`
	Newest      string   `json:"newest,omitempty"`
	Services    []string `json:"services"`
}

// MetricNamesJSON is LogsJSON for the catalogue of metrics, under the key
// metrics.
func MetricNamesJSON(list []query.MetricInfo, total int, h Head) ([]byte, error) {
	metrics := make([]jsonMetric, len(list))
	for i, m := range list {
		metrics[i] = jsonMetric{
			m.Name, m.Description, typeName(m.Type), m.Unit, m.Series, m.Points,
			timeOrNone(m.NewestUnixNano), services(m.Services),
		}
	}
	return encode(struct {
		envelope
		Metrics []jsonMetric `json:"metrics"`
		Notes   []string     `json:"notes"`
	}{newEnvelope(otlp.Metrics, h, query.Page{Total: total, TotalExact: true}), metrics, notes(h)})
}
