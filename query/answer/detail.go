package answer

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
)

// The one match of a query is shown whole within these bounds, in bytes.
const (
	detailLimit      = 48000
	detailBodyLimit  = 30000
	detailValueLimit = 8000
)

// detail is one item in full: a line for each fact that is there.
type detail struct{ lines []string }

// add appends "label: text" unless the text is empty. The text is clean.
func (d *detail) add(label, text string) {
	if text != "" {
		d.lines = append(d.lines, label+": "+text)
	}
}

func (d *detail) addTime(label string, t uint64) {
	if t != 0 {
		d.add(label, FormatTime(t))
	}
}

func (d *detail) addNumber(label string, n uint64) {
	if n != 0 {
		d.add(label, strconv.FormatUint(n, 10))
	}
}

// addAttrs appends a heading and a line for each attribute.
func (d *detail) addAttrs(heading string, m pcommon.Map, dropped uint32) {
	if m.Len() == 0 && dropped == 0 {
		return
	}
	d.lines = append(d.lines, string(appendDropped([]byte(heading+":"), dropped, "attributes")))
	for k, v := range m.All() {
		d.lines = append(d.lines, string(appendAttr([]byte("  "), k, v, detailValueLimit)))
	}
}

// addOrigin appends scope and resource, which every kind of item has.
func (d *detail) addOrigin(scope *query.Scope, resource *query.Resource) {
	if scope != nil {
		d.add("scope", strings.TrimSpace(cut(Clean(scope.Name()), detailValueLimit)+" "+cut(Clean(scope.Version()), detailValueLimit)))
		d.addAttrs("scope attributes", scope.Attributes(), scope.DroppedAttributesCount())
		d.add("scope schema", cut(Clean(scope.SchemaURL), detailValueLimit))
	}
	d.addAttrs("resource", resource.Attributes(), resource.DroppedAttributesCount())
	d.add("resource schema", cut(Clean(resource.SchemaURL), detailValueLimit))
}

// text returns the headline and the lines that fit.
func (d *detail) text(headline string) string {
	b := []byte(headline)
	for i, line := range d.lines {
		left := fmt.Sprintf("\n… %d more lines cut to fit", len(d.lines)-i)
		if len(b)+len(line)+len(left) >= detailLimit {
			return string(append(b, left...))
		}
		b = append(append(b, '\n'), line...)
	}
	return string(b)
}

func logDetail(head headline, rec query.LogRecord) string {
	d := &detail{}
	d.addTime("time", uint64(rec.Timestamp()))
	d.addTime("observed", uint64(rec.ObservedTimestamp()))
	if rec.Timestamp() == 0 && uint64(rec.ObservedTimestamp()) != rec.TimeUnixNano {
		d.addTime("arrived", rec.TimeUnixNano)
	}
	severity := fmt.Sprintf("%s (number %d", severityName(rec.Severity), rec.SeverityNumber())
	if text := rec.SeverityText(); text != "" {
		severity += ", text " + string(appendWord(nil, text, nameLimit))
	}
	d.add("severity", severity+")")
	d.add("service", serviceName(rec.Resource.Service))
	d.add("event", cut(Clean(rec.EventName()), detailValueLimit))
	d.addIDs(rec.TraceID(), rec.SpanID())
	d.addNumber("flags", uint64(rec.Flags()))
	d.add("body", cut(Clean(valueText(rec.Body())), detailBodyLimit))
	d.addAttrs("attributes", rec.Attributes(), rec.DroppedAttributesCount())
	d.addOrigin(rec.Scope, rec.Resource)
	return d.text(head.line(1))
}

func (d *detail) addIDs(trace pcommon.TraceID, span pcommon.SpanID) {
	if !trace.IsEmpty() {
		d.add("trace", hex.EncodeToString(trace[:]))
	}
	if !span.IsEmpty() {
		d.add("span", hex.EncodeToString(span[:]))
	}
}

func spanDetail(head headline, span query.Span) string {
	d := &detail{}
	d.add("name", cut(Clean(span.Name()), detailValueLimit))
	d.add("service", serviceName(span.Resource.Service))
	d.add("kind", kindName(span.Kind()))
	status := strings.ToUpper(span.Status().Code().String())
	if message := span.Status().Message(); message != "" {
		status += " " + cut(Clean(message), detailValueLimit)
	}
	d.add("status", status)
	d.addTime("start", uint64(span.StartTimestamp()))
	d.addTime("end", uint64(span.EndTimestamp()))
	d.add("duration", span.Duration().String())
	d.addIDs(span.TraceID(), span.SpanID())
	if parent := span.ParentSpanID(); !parent.IsEmpty() {
		d.add("parent", hex.EncodeToString(parent[:]))
	}
	d.add("tracestate", cut(Clean(span.TraceState().AsRaw()), detailValueLimit))
	d.addNumber("flags", uint64(span.Flags()))
	d.addAttrs("attributes", span.Attributes(), span.DroppedAttributesCount())
	for _, event := range span.Events().All() {
		d.addEvent(event)
	}
	d.addNumber("events dropped", uint64(span.DroppedEventsCount()))
	for _, link := range span.Links().All() {
		trace, other := link.TraceID(), link.SpanID()
		heading := "link → trace " + hex.EncodeToString(trace[:]) + " span " + hex.EncodeToString(other[:])
		d.lines = append(d.lines, heading)
		d.addAttrs("link attributes", link.Attributes(), link.DroppedAttributesCount())
	}
	d.addNumber("links dropped", uint64(span.DroppedLinksCount()))
	d.addOrigin(span.Scope, span.Resource)
	return d.text(head.line(1))
}

func (d *detail) addEvent(event ptrace.SpanEvent) {
	d.add("event", FormatTime(uint64(event.Timestamp()))+" "+cut(Clean(event.Name()), detailValueLimit))
	d.addAttrs("event attributes", event.Attributes(), event.DroppedAttributesCount())
}

func pointDetail(head headline, p query.Point) string {
	d := &detail{}
	view := viewOf(p)
	d.add("metric", cut(Clean(p.Metric.Name()), detailValueLimit))
	d.add("description", cut(Clean(p.Metric.Description()), detailValueLimit))
	d.add("type", strings.Join(append([]string{typeName(p.Metric.Type())}, view.kind()...), " "))
	d.add("unit", cut(Clean(p.Metric.Unit()), detailValueLimit))
	d.add("service", serviceName(p.Resource.Service))
	d.addTime("start", view.start)
	d.addTime("time", p.TimeUnixNano)
	d.addNumber("flags", uint64(view.flags))
	d.addTotals(view.totals)
	d.addValue(p)
	d.addAttrs("attributes", p.Attributes, 0)
	for _, e := range view.exemplars.All() {
		d.add("exemplar", FormatTime(uint64(e.Timestamp()))+" "+exemplarValue(e))
		d.addIDs(e.TraceID(), e.SpanID())
		d.addAttrs("exemplar attributes", e.FilteredAttributes(), 0)
	}
	d.addOrigin(p.Scope, p.Resource)
	return d.text(head.line(1))
}

// addValue appends the value, buckets or quantiles, with every digit.
func (d *detail) addValue(p query.Point) {
	switch p.Metric.Type() {
	case pmetric.MetricTypeGauge:
		d.add("value", exactValue(p.Metric.Gauge().DataPoints().At(0)))
	case pmetric.MetricTypeSum:
		d.add("value", exactValue(p.Metric.Sum().DataPoints().At(0)))
	case pmetric.MetricTypeHistogram:
		h := p.Metric.Histogram().DataPoints().At(0)
		for i, n := range h.BucketCounts().All() {
			upper := "Infinity"
			if i < h.ExplicitBounds().Len() {
				upper = exactFloat(h.ExplicitBounds().At(i))
			}
			d.lines = append(d.lines, "  up to "+upper+": "+count(n))
		}
	case pmetric.MetricTypeExponentialHistogram:
		h := p.Metric.ExponentialHistogram().DataPoints().At(0)
		d.add("scale", strconv.Itoa(int(h.Scale())))
		d.add("zero", count(h.ZeroCount())+" up to "+exactFloat(h.ZeroThreshold()))
		d.addBuckets("positive", h.Positive())
		d.addBuckets("negative", h.Negative())
	case pmetric.MetricTypeSummary:
		s := p.Metric.Summary().DataPoints().At(0)
		for _, q := range s.QuantileValues().All() {
			d.lines = append(d.lines, "  quantile "+exactFloat(q.Quantile())+": "+exactFloat(q.Value()))
		}
	}
}

func (d *detail) addTotals(t *totals) {
	if t == nil {
		return
	}
	d.add("count", count(t.count))
	for _, f := range []struct {
		label string
		value *float64
	}{{"sum", t.sum}, {"min", t.min}, {"max", t.max}} {
		if f.value != nil {
			d.add(f.label, exactFloat(*f.value))
		}
	}
}

func (d *detail) addBuckets(label string, b pmetric.ExponentialHistogramDataPointBuckets) {
	if b.BucketCounts().Len() == 0 {
		return
	}
	var counts strings.Builder
	for _, n := range b.BucketCounts().All() {
		counts.WriteString(" " + strconv.FormatUint(n, 10))
	}
	d.add(label, cut(fmt.Sprintf("from index %d:%s", b.Offset(), counts.String()), detailValueLimit))
}
