package answer_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
	"sonde/query/answer"
	"sonde/storage"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares text with testdata/NAME.txt.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
		t.Errorf("%s differs from what is written (-want +got):\n%s", file, diff)
	}
}

// noon is the clock of these tests.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// ago returns the time d before noon.
func ago(d time.Duration) uint64 { return uint64(noon.Add(-d).UnixNano()) }

// lastHour is a head whose window is the hour before noon.
func lastHour() answer.Head {
	return answer.Head{Now: noon, Range: storage.TimeRange{From: ago(time.Hour), To: ago(0)}}
}

// attrs are keys and values in turn.
type attrs []any

func (a attrs) put(t testing.TB, m pcommon.Map) {
	t.Helper()
	for i := 0; i < len(a); i += 2 {
		if err := m.PutEmpty(a[i].(string)).FromRaw(a[i+1]); err != nil {
			t.Fatal(err)
		}
	}
}

func newResource(t testing.TB, service string, a attrs) *query.Resource {
	t.Helper()
	r := pcommon.NewResource()
	if service != "" {
		r.Attributes().PutStr("service.name", service)
	}
	a.put(t, r.Attributes())
	return &query.Resource{Resource: r, Service: service}
}

func newScope(name, version string) *query.Scope {
	s := pcommon.NewInstrumentationScope()
	s.SetName(name)
	s.SetVersion(version)
	return &query.Scope{InstrumentationScope: s}
}

var (
	trace1 = pcommon.TraceID{0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36}
	trace2 = pcommon.TraceID{0xaa, 0xbb, 0xcc, 0xdd, 0x01}
	span1  = pcommon.SpanID{0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7}
)

func newLog(t testing.TB, at uint64, severity plog.SeverityNumber, r *query.Resource, body any, a attrs) query.LogRecord {
	t.Helper()
	rec := plog.NewLogRecord()
	rec.SetTimestamp(pcommon.Timestamp(at))
	rec.SetSeverityNumber(severity)
	if err := rec.Body().FromRaw(body); err != nil {
		t.Fatal(err)
	}
	a.put(t, rec.Attributes())
	return query.LogRecord{
		LogRecord: rec, Resource: r, Scope: newScope("shop/log", "1.2.0"), TimeUnixNano: at, Severity: uint8(severity),
	}
}

// spanSpec describes a span shortly: ids are single bytes, 0 for none.
type spanSpec struct {
	id, parent byte
	start      time.Duration // before noon
	length     time.Duration
	name       string
	kind       ptrace.SpanKind
	err        string // status message of an error
	attrs      attrs
}

func newSpan(t testing.TB, r *query.Resource, s spanSpec) query.Span {
	t.Helper()
	span := ptrace.NewSpan()
	span.SetTraceID(trace1)
	span.SetSpanID(spanID(s.id))
	span.SetParentSpanID(spanID(s.parent))
	span.SetName(s.name)
	span.SetKind(s.kind)
	span.SetStartTimestamp(pcommon.Timestamp(ago(s.start)))
	span.SetEndTimestamp(pcommon.Timestamp(ago(s.start) + uint64(s.length)))
	if s.err != "" {
		span.Status().SetCode(ptrace.StatusCodeError)
		span.Status().SetMessage(s.err)
	}
	s.attrs.put(t, span.Attributes())
	return query.Span{Span: span, Resource: r, Scope: newScope("shop/http", "0.9")}
}

func spanID(id byte) pcommon.SpanID {
	if id == 0 {
		return pcommon.SpanID{}
	}
	return pcommon.SpanID{id, 0, 0, 0, 0, 0, 0, id}
}

func addException(span query.Span, at uint64, kind, message, stack string) {
	e := span.Events().AppendEmpty()
	e.SetName("exception")
	e.SetTimestamp(pcommon.Timestamp(at))
	e.Attributes().PutStr("exception.type", kind)
	e.Attributes().PutStr("exception.message", message)
	e.Attributes().PutStr("exception.stacktrace", stack)
}

// newPoint makes a data point of a metric that fill completes.
func newPoint(t testing.TB, r *query.Resource, name, unit string, at uint64, a attrs, fill func(pmetric.Metric)) query.Point {
	t.Helper()
	m := pmetric.NewMetric()
	m.SetName(name)
	m.SetUnit(unit)
	fill(m)
	p := query.Point{Metric: m, Resource: r, Scope: newScope("shop/meter", "3"), TimeUnixNano: at}
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		d := m.Gauge().DataPoints().At(0)
		d.SetTimestamp(pcommon.Timestamp(at))
		p.Attributes = d.Attributes()
	case pmetric.MetricTypeSum:
		d := m.Sum().DataPoints().At(0)
		d.SetTimestamp(pcommon.Timestamp(at))
		p.Attributes = d.Attributes()
	case pmetric.MetricTypeHistogram:
		d := m.Histogram().DataPoints().At(0)
		d.SetTimestamp(pcommon.Timestamp(at))
		p.Attributes = d.Attributes()
	case pmetric.MetricTypeExponentialHistogram:
		d := m.ExponentialHistogram().DataPoints().At(0)
		d.SetTimestamp(pcommon.Timestamp(at))
		p.Attributes = d.Attributes()
	case pmetric.MetricTypeSummary:
		d := m.Summary().DataPoints().At(0)
		d.SetTimestamp(pcommon.Timestamp(at))
		p.Attributes = d.Attributes()
	}
	a.put(t, p.Attributes)
	return p
}

func gauge(v float64) func(pmetric.Metric) {
	return func(m pmetric.Metric) { m.SetEmptyGauge().DataPoints().AppendEmpty().SetDoubleValue(v) }
}

func counter(v int64, start uint64) func(pmetric.Metric) {
	return func(m pmetric.Metric) {
		s := m.SetEmptySum()
		s.SetIsMonotonic(true)
		s.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		d := s.DataPoints().AppendEmpty()
		d.SetIntValue(v)
		d.SetStartTimestamp(pcommon.Timestamp(start))
	}
}
