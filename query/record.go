package query

import (
	"fmt"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// Resource is where items came from. The items of an answer that came from equal
// resources share one: compare pointers to hoist them.
type Resource struct {
	pcommon.Resource
	SchemaURL string
	Service   string // attribute service.name, "" when absent
}

// Scope is the instrumentation scope of items, shared as Resource is.
type Scope struct {
	pcommon.InstrumentationScope
	SchemaURL string
}

// LogRecord is one log record with where it came from.
type LogRecord struct {
	plog.LogRecord
	Resource     *Resource
	Scope        *Scope
	TimeUnixNano uint64 // event time by the rule of otlp.Item
	Severity     uint8  // by otlp.EffectiveSeverity
}

// Span is one span with where it came from.
type Span struct {
	ptrace.Span
	Resource *Resource
	Scope    *Scope
}

// Duration returns end - start; 0 when the end is absent or before the start.
func (s Span) Duration() time.Duration {
	return duration(uint64(s.StartTimestamp()), uint64(s.EndTimestamp()))
}

func duration(start, end uint64) time.Duration {
	if end < start {
		return 0
	}
	return time.Duration(min(end-start, math.MaxInt64))
}

// Point is one data point with its metric. Exactly the field that
// Metric.Type() names is set.
type Point struct {
	Metric       pmetric.Metric // descriptor; holds this one point
	Resource     *Resource
	Scope        *Scope
	TimeUnixNano uint64
	Attributes   pcommon.Map
}

// item is the bytes of one log record, span or data point, copied out of its
// block. Envelopes are shared between items.
type item struct {
	resource, scope, metric string
	message                 []byte
}

// envelopes are those that occurred, so that equal ones are kept once.
type envelopes map[string]string

func (e envelopes) intern(b []byte) string {
	if s, ok := e[string(b)]; ok {
		return s
	}
	s := string(b)
	e[s] = s
	return s
}

// copyItem copies the row of a block.
func (e envelopes) copyItem(b *block.Block, row int) (item, error) {
	var it item
	resources, err := b.Dict(block.Resource)
	if err != nil {
		return it, err
	}
	scopes, err := b.Dict(block.Scope)
	if err != nil {
		return it, err
	}
	if b.Signal == otlp.Metrics {
		metrics, err := b.Dict(block.Metric)
		if err != nil {
			return it, err
		}
		it.metric = e.intern(metrics.At(row))
	}
	it.resource, it.scope = e.intern(resources.At(row)), e.intern(scopes.At(row))
	it.message, err = b.AppendMessage(nil, row)
	return it, err
}

// decoder makes pdata values of items. Envelopes it has met it decodes no more.
type decoder struct {
	resources map[string]*Resource
	scopes    map[string]*Scope
}

func newDecoder() *decoder {
	return &decoder{map[string]*Resource{}, map[string]*Scope{}}
}

// fresh returns the envelopes of an item that are not yet decoded, nil for the
// others.
func (d *decoder) fresh(it item) (resource, scope []byte) {
	if d.resources[it.resource] == nil {
		resource = []byte(it.resource)
	}
	if d.scopes[it.scope] == nil {
		scope = []byte(it.scope)
	}
	return resource, scope
}

// share returns the resource and scope of an item: those of an earlier one, or
// the values just decoded.
func (d *decoder) share(it item, r pcommon.Resource, rURL string, s pcommon.InstrumentationScope, sURL string) (*Resource, *Scope) {
	resource, scope := d.resources[it.resource], d.scopes[it.scope]
	if resource == nil {
		resource = &Resource{Resource: r, SchemaURL: rURL}
		if v, ok := r.Attributes().Get("service.name"); ok {
			resource.Service = string(otlp.AppendText(nil, v))
		}
		d.resources[it.resource] = resource
	}
	if scope == nil {
		scope = &Scope{InstrumentationScope: s, SchemaURL: sURL}
		d.scopes[it.scope] = scope
	}
	return resource, scope
}

func (d *decoder) log(it item, timeUnixNano uint64) (LogRecord, error) {
	resource, scope := d.fresh(it)
	logs, err := otlp.DecodeLog(resource, scope, it.message)
	if err != nil {
		return LogRecord{}, fmt.Errorf("cannot decode a log record: %w", err)
	}
	rl := logs.ResourceLogs().At(0)
	sl := rl.ScopeLogs().At(0)
	record := LogRecord{LogRecord: sl.LogRecords().At(0), TimeUnixNano: timeUnixNano}
	record.Resource, record.Scope = d.share(it, rl.Resource(), rl.SchemaUrl(), sl.Scope(), sl.SchemaUrl())
	record.Severity = otlp.EffectiveSeverity(int32(record.SeverityNumber()), record.SeverityText())
	return record, nil
}

func (d *decoder) span(it item) (Span, error) {
	resource, scope := d.fresh(it)
	traces, err := otlp.DecodeSpan(resource, scope, it.message)
	if err != nil {
		return Span{}, fmt.Errorf("cannot decode a span: %w", err)
	}
	rs := traces.ResourceSpans().At(0)
	ss := rs.ScopeSpans().At(0)
	span := Span{Span: ss.Spans().At(0)}
	span.Resource, span.Scope = d.share(it, rs.Resource(), rs.SchemaUrl(), ss.Scope(), ss.SchemaUrl())
	return span, nil
}

func (d *decoder) point(it item, timeUnixNano uint64) (Point, error) {
	resource, scope := d.fresh(it)
	metrics, err := otlp.DecodePoint(resource, scope, []byte(it.metric), it.message)
	if err != nil {
		return Point{}, fmt.Errorf("cannot decode a data point: %w", err)
	}
	rm := metrics.ResourceMetrics().At(0)
	sm := rm.ScopeMetrics().At(0)
	point := Point{Metric: sm.Metrics().At(0), TimeUnixNano: timeUnixNano}
	point.Attributes = pointAttributes(point.Metric)
	point.Resource, point.Scope = d.share(it, rm.Resource(), rm.SchemaUrl(), sm.Scope(), sm.SchemaUrl())
	return point, nil
}

// pointAttributes returns the attributes of the metric's one data point.
func pointAttributes(m pmetric.Metric) pcommon.Map {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return m.Gauge().DataPoints().At(0).Attributes()
	case pmetric.MetricTypeSum:
		return m.Sum().DataPoints().At(0).Attributes()
	case pmetric.MetricTypeHistogram:
		return m.Histogram().DataPoints().At(0).Attributes()
	case pmetric.MetricTypeExponentialHistogram:
		return m.ExponentialHistogram().DataPoints().At(0).Attributes()
	case pmetric.MetricTypeSummary:
		return m.Summary().DataPoints().At(0).Attributes()
	}
	return pcommon.NewMap()
}
