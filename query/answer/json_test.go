package answer_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
	"sonde/query/answer"
)

// goldenJSON compares an answer, indented for the eye, with its golden file.
func goldenJSON(t *testing.T, name string, got []byte, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", " "); err != nil {
		t.Fatalf("%s: %v in %s", name, err, got)
	}
	golden(t, name, b.String())
}

func TestLogsJSON(t *testing.T) {
	rec := newLog(t, ago(time.Second)+7, plog.SeverityNumberError, shopResources(t)[0], "line\n\u202ehidden\U000e0041 <b>&",
		attrs{"big", int64(math.MaxInt64), "nan", math.NaN(), "list", []any{int64(1), nil, "x"}, "map", map[string]any{"k": true}, "bytes", []byte{1, 2}})
	rec.SetObservedTimestamp(pcommon.Timestamp(ago(0)))
	rec.SetSeverityText("err")
	rec.SetTraceID(trace1)
	rec.SetSpanID(span1)
	rec.SetEventName("order.failed")
	rec.SetFlags(1)
	bare := newLog(t, ago(time.Minute), plog.SeverityNumberUnspecified, newResource(t, "", nil), nil, nil)
	p := logPage(rec, bare)
	p.Total, p.TotalExact, p.Next = 1000, false, query.Cursor{TimeUnixNano: ago(time.Minute), Remaining: 3}
	h := lastHour()
	h.Notes = []string{"limit 5000 taken as 1000"}
	got, err := answer.LogsJSON(p, h)
	goldenJSON(t, "logs_json", got, err)

	var back struct{ Records []struct{ Body string } }
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if body := back.Records[0].Body; body != rec.Body().Str() {
		t.Errorf("the body reads back as %q, want %q", body, rec.Body().Str())
	}
	if strings.ContainsAny(string(got), "\u202e\U000e0041") {
		t.Errorf("LogsJSON = %s, want invisible characters escaped", got)
	}
}

func TestSpansJSON(t *testing.T) {
	tr := shopTrace(t)
	p := spanPage(tr.Spans[32], tr.Spans[0])
	p.Errors = 1
	got, err := answer.SpansJSON(p, lastHour())
	goldenJSON(t, "spans_json", got, err)

	traces := query.TracePage{Page: query.Page{Total: 1, TotalExact: true}, Traces: []query.TraceSummary{
		{TraceID: trace1, Root: &tr.Spans[0], StartUnixNano: ago(time.Minute), Duration: time.Second, Spans: 2, Errors: 1, Services: []string{"cart"}},
		{TraceID: trace2, RootMissing: true},
	}}
	got, err = answer.TracesJSON(traces, lastHour())
	goldenJSON(t, "traces_json", got, err)

	tr.Spans = tr.Spans[:1]
	got, err = answer.TraceJSON(tr, answer.Head{Now: noon})
	goldenJSON(t, "trace_json", got, err)
}

func TestPointsJSON(t *testing.T) {
	r := newResource(t, "cart", nil)
	none := newPoint(t, r, "none", "", ago(1), nil, func(m pmetric.Metric) {
		m.SetEmptyGauge().DataPoints().AppendEmpty().SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	})
	sum := newPoint(t, r, "count", "1", ago(2), attrs{"k", "v"}, counter(math.MaxInt64, ago(time.Hour)))
	e := sum.Metric.Sum().DataPoints().At(0).Exemplars().AppendEmpty()
	e.SetIntValue(5)
	e.SetTraceID(trace1)
	e.SetTimestamp(pcommon.Timestamp(ago(3)))
	summary := newPoint(t, r, "gc", "s", ago(5), nil, func(m pmetric.Metric) {
		d := m.SetEmptySummary().DataPoints().AppendEmpty()
		d.SetCount(3)
		d.QuantileValues().AppendEmpty().SetValue(math.Inf(1))
	})
	got, err := answer.PointsJSON(pointPage(
		summary,
		newPoint(t, r, "size", "By", ago(4), nil, exponential(1, -2, []uint64{1, 2}, 3)),
		newPoint(t, r, "latency", "ms", ago(3), nil, cumulativeHistogram(ago(time.Hour), []uint64{1, 0, 2, 0, 0}, 12.5)),
		newPoint(t, r, "nan", "", ago(3), nil, gauge(math.NaN())),
		newPoint(t, r, "zero", "", ago(3), nil, gauge(0)),
		sum, none,
	), lastHour())
	goldenJSON(t, "points_json", got, err)

	got, err = answer.MetricNamesJSON([]query.MetricInfo{{Name: "m", Type: pmetric.MetricTypeSum, Unit: "1", Description: "d", Series: 2, Points: 9,
		NewestUnixNano: ago(0), Services: []string{"cart"}}, {Name: "n"}}, 2, lastHour())
	goldenJSON(t, "names_json", got, err)
}

// Empty pages have empty lists, not null.
func TestJSONEmpty(t *testing.T) {
	got, err := answer.LogsJSON(query.LogPage{Page: query.Page{TotalExact: true}}, lastHour())
	want := `{"signal":"logs","from":"2026-11-30T11:00:00Z","to":"2026-11-30T12:00:00Z","total":0,"totalExact":true,"records":[],"notes":[]}`
	if err != nil || string(got) != want {
		t.Errorf("LogsJSON of nothing = %s, %v, want %s", got, err, want)
	}
}

// chaos makes values of every kind that OTLP can hold.
type chaos struct{ *rand.Rand }

func (c chaos) text() string {
	pieces := []string{"a", "word ", "\n", "\t", "\"", "\\", "{", "}", "=", "é", "漢", "🙂", "\x1b[31m", "\u202e", "\u200b", "\U000e0041", "\x00", "\u2028", "<&>", "\xff", " 4bf92f35", strings.Repeat("x", 150)}
	var b strings.Builder
	for range c.IntN(9) {
		b.WriteString(pieces[c.IntN(len(pieces))])
	}
	return b.String()
}

func (c chaos) float() float64 {
	list := []float64{0, 1, -1, 0.1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1e21, 1e-7}
	return list[c.IntN(len(list))]
}

func (c chaos) value(v pcommon.Value, depth int) {
	switch kind := c.IntN(8); {
	case kind == 0:
	case kind == 1:
		v.SetBool(c.IntN(2) == 0)
	case kind == 2:
		v.SetInt(int64(c.Uint64()))
	case kind == 3:
		v.SetDouble(c.float())
	case kind == 4:
		v.SetEmptyBytes().FromRaw([]byte(c.text()))
	case kind == 5 && depth < 4:
		list := v.SetEmptySlice()
		for range c.IntN(4) {
			c.value(list.AppendEmpty(), depth+1)
		}
	case kind == 6 && depth < 4:
		c.attributes(v.SetEmptyMap(), depth+1)
	default:
		v.SetStr(c.text())
	}
}

func (c chaos) attributes(m pcommon.Map, depth int) {
	for range c.IntN(5) {
		c.value(m.PutEmpty(c.text()), depth)
	}
}

func (c chaos) resource() *query.Resource {
	r := &query.Resource{Resource: pcommon.NewResource(), Service: c.text(), SchemaURL: c.text()}
	c.attributes(r.Attributes(), 0)
	return r
}

func (c chaos) scope() *query.Scope {
	s := newScope(c.text(), c.text())
	c.attributes(s.Attributes(), 0)
	return s
}

func (c chaos) log() query.LogRecord {
	rec := query.LogRecord{LogRecord: plog.NewLogRecord(), Resource: c.resource(), Scope: c.scope(), TimeUnixNano: c.Uint64(), Severity: uint8(c.IntN(25))}
	c.value(rec.Body(), 0)
	c.attributes(rec.Attributes(), 0)
	rec.SetSeverityText(c.text())
	rec.SetEventName(c.text())
	rec.SetSpanID(spanID(byte(c.IntN(9))))
	return rec
}

func (c chaos) span() query.Span {
	span := query.Span{Span: ptrace.NewSpan(), Resource: c.resource(), Scope: c.scope()}
	span.SetTraceID(trace1)
	span.SetSpanID(spanID(byte(c.IntN(9))))
	span.SetParentSpanID(spanID(byte(c.IntN(9))))
	span.SetName(c.text())
	span.SetKind(ptrace.SpanKind(c.IntN(9)))
	span.Status().SetCode(ptrace.StatusCode(c.IntN(4)))
	span.Status().SetMessage(c.text())
	span.TraceState().FromRaw(c.text())
	span.SetStartTimestamp(pcommon.Timestamp(c.Uint64()))
	span.SetEndTimestamp(pcommon.Timestamp(c.Uint64()))
	c.attributes(span.Attributes(), 0)
	for range c.IntN(3) {
		addException(span, c.Uint64(), c.text(), c.text(), c.text())
		span.Events().AppendEmpty().SetName(c.text())
		c.attributes(span.Links().AppendEmpty().Attributes(), 0)
	}
	return span
}

func (c chaos) point(t testing.TB) query.Point {
	p := newPoint(t, c.resource(), c.text(), c.text(), c.Uint64(), nil, func(m pmetric.Metric) {
		m.SetDescription(c.text())
		c.attributes(m.Metadata(), 0)
		switch c.IntN(5) {
		case 0:
			gauge(c.float())(m)
		case 1:
			counter(int64(c.Uint64()), c.Uint64())(m)
		case 2:
			cumulativeHistogram(c.Uint64(), []uint64{c.Uint64(), 1, 2, 3, c.Uint64()}, c.float())(m)
		case 3:
			exponential(int32(c.Uint32()), int32(c.Uint32()), []uint64{c.Uint64(), 1, 2}, c.Uint64())(m)
		case 4:
			v := m.SetEmptySummary().DataPoints().AppendEmpty().QuantileValues().AppendEmpty()
			v.SetQuantile(c.float())
			v.SetValue(c.float())
		}
	})
	c.attributes(p.Attributes, 0)
	return p
}

// Whatever is recorded, JSON is valid and a text has the lines that it should:
// nothing recorded makes one.
func TestChaos(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := chaos{rand.New(rand.NewPCG(seed, 0))}
	valid := func(b []byte, err error) {
		t.Helper()
		if err != nil || !json.Valid(b) || !utf8.Valid(b) {
			t.Fatalf("JSON = %s, %v, want it valid", b, err)
		}
		if clean := answer.Clean(string(b)); clean != string(b) {
			t.Fatalf("JSON = %q has characters that can't be seen, clean it is %q", b, clean)
		}
	}
	h := lastHour()
	for range 300 {
		log, log2, span, span2 := c.log(), c.log(), c.span(), c.span()
		points := pointPage(c.point(t), c.point(t))
		valid(answer.LogsJSON(logPage(log, log2), h))
		valid(answer.SpansJSON(spanPage(span, span2), h))
		valid(answer.TraceJSON(query.Trace{Spans: []query.Span{span, span2}, Logs: []query.LogRecord{log}}, h))
		valid(answer.PointsJSON(points, h))
		texts := []string{
			answer.Logs(logPage(log, log2), h, answer.Options{}), answer.Logs(logPage(log), h, answer.Options{}),
			answer.Spans(spanPage(span, span2), h, answer.Options{}), answer.Spans(spanPage(span), h, answer.Options{}),
			answer.Trace(query.Trace{Spans: []query.Span{span, span2}, Logs: []query.LogRecord{log}}, h, answer.Options{}),
			answer.Points(points, h, answer.Options{}),
		}
		for _, text := range texts {
			for line := range strings.SplitSeq(text, "\n") {
				if answer.Clean(line) != line {
					t.Fatalf("%q has a line that is not clean: %q", text, line)
				}
			}
		}
		for _, i := range []int{0, 2} {
			resources := strings.Count("\n"+texts[i], "\n#")
			if rows := strings.Count(texts[i], "\n") - resources; rows != 2 {
				t.Fatalf("two items make %d rows: %q", rows, texts[i])
			}
		}
	}
}
