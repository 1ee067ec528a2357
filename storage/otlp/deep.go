package otlp

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// pdataDepth is how deep values may be nested for pdata to read them in any
// case. It reads 100 nested messages, and a key-value list in another one is
// three: list, pair, value. MaxDepth is about twice that.
const pdataDepth = 32

// cutDeepValues returns a copy of the payload that pdata can read: what lies
// below pdataDepth is turned into bytes, each holding the AnyValue message that
// was there. For these bytes to be told from others, byte values at that depth
// are wrapped too.
func (w *walker) cutDeepValues() []byte {
	return newRewriter(w, pdataDepth).request()
}

// restorer undoes cutDeepValues in decoded data.
type restorer struct{ err error }

func (r *restorer) logs(logs plog.Logs) {
	for _, rl := range logs.ResourceLogs().All() {
		r.attributes(rl.Resource().Attributes())
		for _, sl := range rl.ScopeLogs().All() {
			r.attributes(sl.Scope().Attributes())
			for _, lr := range sl.LogRecords().All() {
				r.value(lr.Body(), 0)
				r.attributes(lr.Attributes())
			}
		}
	}
}

func (r *restorer) traces(traces ptrace.Traces) {
	for _, rs := range traces.ResourceSpans().All() {
		r.attributes(rs.Resource().Attributes())
		for _, ss := range rs.ScopeSpans().All() {
			r.attributes(ss.Scope().Attributes())
			for _, span := range ss.Spans().All() {
				r.attributes(span.Attributes())
				for _, event := range span.Events().All() {
					r.attributes(event.Attributes())
				}
				for _, link := range span.Links().All() {
					r.attributes(link.Attributes())
				}
			}
		}
	}
}

func (r *restorer) metrics(metrics pmetric.Metrics) {
	for _, rm := range metrics.ResourceMetrics().All() {
		r.attributes(rm.Resource().Attributes())
		for _, sm := range rm.ScopeMetrics().All() {
			r.attributes(sm.Scope().Attributes())
			for _, m := range sm.Metrics().All() {
				r.attributes(m.Metadata())
				r.points(m)
			}
		}
	}
}

func (r *restorer) points(m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		r.numbers(m.Gauge().DataPoints())
	case pmetric.MetricTypeSum:
		r.numbers(m.Sum().DataPoints())
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			r.attributes(p.Attributes())
			r.exemplars(p.Exemplars())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			r.attributes(p.Attributes())
			r.exemplars(p.Exemplars())
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			r.attributes(p.Attributes())
		}
	}
}

func (r *restorer) numbers(points pmetric.NumberDataPointSlice) {
	for _, p := range points.All() {
		r.attributes(p.Attributes())
		r.exemplars(p.Exemplars())
	}
}

func (r *restorer) exemplars(exemplars pmetric.ExemplarSlice) {
	for _, e := range exemplars.All() {
		r.attributes(e.FilteredAttributes())
	}
}

func (r *restorer) attributes(m pcommon.Map) { r.mapping(m, 0) }

func (r *restorer) mapping(m pcommon.Map, depth int) {
	for _, v := range m.All() {
		r.value(v, depth)
	}
}

// value restores a value with depth arrays and key-value lists around it.
func (r *restorer) value(v pcommon.Value, depth int) {
	switch v.Type() {
	case pcommon.ValueTypeMap:
		r.mapping(v.Map(), depth+1)
	case pcommon.ValueTypeSlice:
		for _, element := range v.Slice().All() {
			r.value(element, depth+1)
		}
	case pcommon.ValueTypeBytes:
		if depth < pdataDepth {
			return
		}
		whole, err := decodeValue(v.Bytes().AsRaw())
		if err != nil {
			r.err = err
			return
		}
		whole.CopyTo(v)
	}
}

// decodeValue decodes an AnyValue message, by way of a record that it is the
// body of.
func decodeValue(anyValue []byte) (pcommon.Value, error) {
	record := appendTag(nil, LogRecordBody, len(anyValue))
	logs, err := DecodeLog(nil, nil, append(record, anyValue...))
	if err != nil {
		return pcommon.Value{}, fmt.Errorf("cannot decode nested value: %w", err)
	}
	return logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body(), nil
}
