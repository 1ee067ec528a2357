package receiver_test

import (
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"sonde/storage/otlp"
)

// sampleStart is the event time of a sample's first item.
var sampleStart = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// exportRequest is what pdata's requests of the three signals have in common.
type exportRequest interface {
	MarshalProto() ([]byte, error)
	MarshalJSON() ([]byte, error)
}

// sample is a request of n items, told apart by tag.
func sample(s otlp.Signal, tag string, n int) exportRequest {
	switch s {
	case otlp.Logs:
		return sampleLogs(tag, n)
	case otlp.Traces:
		return sampleSpans(tag, n)
	default:
		return samplePoints(tag, n)
	}
}

func protoOf(t testing.TB, r exportRequest) []byte {
	t.Helper()
	b, err := r.MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func jsonOf(t testing.TB, r exportRequest) []byte {
	t.Helper()
	b, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sampleTime(i int) pcommon.Timestamp {
	return pcommon.NewTimestampFromTime(sampleStart.Add(time.Duration(i) * time.Millisecond))
}

func sampleAttributes(m pcommon.Map, tag string, i int) {
	m.PutStr("tag", tag)
	m.PutInt("n", int64(i))
	m.PutDouble("share", float64(i)/8)
	m.PutBool("odd", i%2 == 1)
	m.PutEmptyBytes("raw").FromRaw([]byte{0, 0xff, byte(i)})
	list := m.PutEmptySlice("list")
	list.AppendEmpty().SetStr("a")
	list.AppendEmpty()
	list.AppendEmpty().SetEmptyMap().PutStr("inner", "deep")
}

func sampleLogs(tag string, n int) exportRequest {
	ld := plog.NewLogs()
	for i := range n {
		if i%2 == 0 {
			rl := ld.ResourceLogs().AppendEmpty()
			rl.SetSchemaUrl("https://example.org/resource")
			rl.Resource().Attributes().PutStr("service.name", fmt.Sprint("service-", i))
			sl := rl.ScopeLogs().AppendEmpty()
			sl.SetSchemaUrl("https://example.org/scope")
			sl.Scope().SetName("scope")
			sl.Scope().SetVersion("1.2")
		}
		r := ld.ResourceLogs().At(i / 2).ScopeLogs().At(0).LogRecords().AppendEmpty()
		r.SetTimestamp(sampleTime(i))
		r.SetObservedTimestamp(sampleTime(i) + 5)
		r.SetSeverityNumber(plog.SeverityNumberWarn)
		r.SetSeverityText("warn")
		r.SetEventName("event")
		r.SetFlags(1)
		r.SetTraceID([16]byte{1, byte(i)})
		r.SetSpanID([8]byte{2, byte(i)})
		r.SetDroppedAttributesCount(3)
		r.Body().SetStr(fmt.Sprintf("%s line %d äöü", tag, i))
		sampleAttributes(r.Attributes(), tag, i)
	}
	return plogotlp.NewExportRequestFromLogs(ld)
}

func sampleSpans(tag string, n int) exportRequest {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("scope")
	for i := range n {
		s := ss.Spans().AppendEmpty()
		s.SetName(tag)
		s.SetTraceID([16]byte{1, byte(i / 8)})
		s.SetSpanID([8]byte{2, byte(i)})
		s.SetParentSpanID([8]byte{2, byte(i / 2), 1})
		s.SetKind(ptrace.SpanKindServer)
		s.SetFlags(0x101)
		s.TraceState().FromRaw("a=b")
		s.SetStartTimestamp(sampleTime(i))
		s.SetEndTimestamp(sampleTime(i + 3))
		s.Status().SetCode(ptrace.StatusCodeError)
		s.Status().SetMessage("went wrong")
		sampleAttributes(s.Attributes(), tag, i)
		event := s.Events().AppendEmpty()
		event.SetName("exception")
		event.SetTimestamp(sampleTime(i + 1))
		event.Attributes().PutStr("exception.type", "Timeout")
		link := s.Links().AppendEmpty()
		link.SetTraceID([16]byte{9})
		link.SetSpanID([8]byte{9})
	}
	return ptraceotlp.NewExportRequestFromTraces(td)
}

func samplePoints(tag string, n int) exportRequest {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("service.name", "shop")
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("scope")
	for i := range n {
		m := sm.Metrics().AppendEmpty()
		m.SetName(fmt.Sprintf("%s.%d", tag, i%3))
		m.SetUnit("1")
		m.SetDescription("a number")
		switch i % 5 {
		case 0:
			p := m.SetEmptyGauge().DataPoints().AppendEmpty()
			p.SetTimestamp(sampleTime(i))
			p.SetDoubleValue(float64(i) / 3)
			sampleAttributes(p.Attributes(), tag, i)
		case 1:
			sum := m.SetEmptySum()
			sum.SetIsMonotonic(true)
			sum.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
			p := sum.DataPoints().AppendEmpty()
			p.SetStartTimestamp(sampleTime(0))
			p.SetTimestamp(sampleTime(i))
			p.SetIntValue(int64(-i))
			x := p.Exemplars().AppendEmpty()
			x.SetTimestamp(sampleTime(i))
			x.SetDoubleValue(7)
			x.SetTraceID([16]byte{1})
		case 2:
			p := m.SetEmptyHistogram().DataPoints().AppendEmpty()
			p.SetTimestamp(sampleTime(i))
			p.SetCount(6)
			p.SetSum(0)
			p.ExplicitBounds().FromRaw([]float64{1, 10})
			p.BucketCounts().FromRaw([]uint64{1, 2, 3})
		case 3:
			p := m.SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
			p.SetTimestamp(sampleTime(i))
			p.SetScale(-3)
			p.SetZeroCount(1)
			p.Positive().SetOffset(-2)
			p.Positive().BucketCounts().FromRaw([]uint64{4, 0, 1})
		case 4:
			p := m.SetEmptySummary().DataPoints().AppendEmpty()
			p.SetTimestamp(sampleTime(i))
			p.SetCount(2)
			p.SetSum(3)
			q := p.QuantileValues().AppendEmpty()
			q.SetQuantile(0.5)
			q.SetValue(1.5)
		}
	}
	return pmetricotlp.NewExportRequestFromMetrics(md)
}

// logOfBody is a request of one log record with a body.
func logOfBody(body string) exportRequest {
	ld := plog.NewLogs()
	r := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetTimestamp(sampleTime(0))
	r.Body().SetStr(body)
	return plogotlp.NewExportRequestFromLogs(ld)
}

// logsFromJSON turns a JSON request into its protobuf twin.
func logsFromJSON(t testing.TB, text []byte) []byte {
	t.Helper()
	r := plogotlp.NewExportRequest()
	if err := r.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return protoOf(t, r)
}
