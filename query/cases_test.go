package query_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/protobuf/encoding/protowire"

	"sonde/query"
	"sonde/storage"
	"sonde/storage/otlp"
)

// both runs a test on the data in the head and in blocks.
func (w *world) both(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Run("head", f)
	w.compact()
	t.Run("blocks", f)
}

func bodies(p query.LogPage) []string {
	return contents(p.Records, func(r query.LogRecord) string { return string(otlp.AppendText(nil, r.Body())) })
}

func (w *world) wantLogs(t *testing.T, f query.LogFilter, want ...string) {
	t.Helper()
	f.Limit = 100
	page, err := w.engine().Logs(t.Context(), f)
	if err != nil || !slices.Equal(bodies(page), want) || page.Total != len(want) {
		t.Errorf("Logs(%+v) = %d: %q, %v, want %q", f, page.Total, bodies(page), err, want)
	}
}

// records adds one record for each function.
func (w *world) records(fill ...func(plog.LogRecord)) {
	w.t.Helper()
	logs := plog.NewLogs()
	list := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for i, f := range fill {
		record := list.AppendEmpty()
		record.SetTimestamp(pcommon.Timestamp(base + i))
		f(record)
	}
	w.addLogs(logs)
}

func TestTimeZeroIsTheObservedTime(t *testing.T) {
	w := newWorld(t)
	w.records(func(r plog.LogRecord) {
		r.SetTimestamp(0)
		r.SetObservedTimestamp(base + 1)
		r.Body().SetStr("observed")
	}, func(r plog.LogRecord) {
		r.SetTimestamp(0)
		r.Body().SetStr("arrived")
	})
	w.both(t, func(t *testing.T) {
		w.wantLogs(t, query.LogFilter{Range: storage.TimeRange{From: base + 1}}, "observed")
		w.wantLogs(t, query.LogFilter{Range: storage.TimeRange{From: base, To: base + 1}}, "arrived")
		w.wantLogs(t, query.LogFilter{Range: storage.TimeRange{To: 1}})
	})
}

func TestStructuredBodiesAndValues(t *testing.T) {
	w := newWorld(t)
	w.records(
		func(r plog.LogRecord) { r.Body().SetInt(7) },
		func(r plog.LogRecord) { r.Body().SetBool(false) },
		func(r plog.LogRecord) { r.Body().SetDouble(1.5) },
		func(r plog.LogRecord) { _ = r.Body().FromRaw([]any{"x", 1}) },
		func(r plog.LogRecord) { r.Body().SetEmptyBytes().FromRaw([]byte{0xde, 0xad, 0xbe, 0xef}) },
		func(r plog.LogRecord) { r.Body().SetStr("") },
		func(plog.LogRecord) {},
		func(r plog.LogRecord) {
			_ = r.Body().FromRaw(map[string]any{"a": map[string]any{"b": map[string]any{"c": "deepneedle"}}})
		},
		func(r plog.LogRecord) {
			r.Body().SetStr("plain")
			_ = r.Attributes().PutEmpty("ctx").FromRaw(map[string]any{"c": "DeepNeedle"})
		},
	)
	w.both(t, func(t *testing.T) {
		w.wantLogs(t, query.LogFilter{}, "plain", `{"a":{"b":{"c":"deepneedle"}}}`, "", "", "3q2+7w==", `["x",1]`, "1.5", "false", "7")
		w.wantLogs(t, query.LogFilter{Contains: "3Q2"}, "3q2+7w==")
		w.wantLogs(t, query.LogFilter{Contains: "deepneedle"}, "plain", `{"a":{"b":{"c":"deepneedle"}}}`)
		w.wantLogs(t, query.LogFilter{Contains: `"B":{"C":`}, `{"a":{"b":{"c":"deepneedle"}}}`)
		w.wantLogs(t, query.LogFilter{Contains: "null"})
		w.wantLogs(t, query.LogFilter{Contains: "value"}) // no word of the encoding
		w.wantLogs(t, query.LogFilter{Contains: "1"}, `["x",1]`, "1.5")
	})
}

func TestSeverityNumberAndText(t *testing.T) {
	w := newWorld(t)
	severity := func(n int, text string) func(plog.LogRecord) {
		return func(r plog.LogRecord) {
			r.SetSeverityNumber(plog.SeverityNumber(n))
			r.SetSeverityText(text)
			r.Body().SetStr(strings.TrimSpace(fmt.Sprint(n, " ", text)))
		}
	}
	w.records(severity(9, "30"), severity(9, ""), severity(17, "ok"), severity(0, "warn"), severity(25, ""), severity(0, ""))
	w.both(t, func(t *testing.T) {
		w.wantLogs(t, query.LogFilter{Severity: query.SeverityRange{Min: 9, Max: 12}}, "9", "9 30")
		w.wantLogs(t, query.LogFilter{Severity: query.SeverityRange{Min: 13, Max: 24}}, "0 warn", "17 ok")
		w.wantLogs(t, query.LogFilter{Severity: query.SeverityRange{Min: 17, Max: 24}}, "17 ok")
		w.wantLogs(t, query.LogFilter{Severity: query.SeverityRange{Min: 0, Max: 1}}, "0", "25")
		w.wantLogs(t, query.LogFilter{}, "0", "25", "0 warn", "17 ok", "9", "9 30")
	})
}

func TestAllSeverityNumbers(t *testing.T) {
	w := newWorld(t)
	logs := plog.NewLogs()
	records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for n := range 26 {
		record := records.AppendEmpty()
		record.SetTimestamp(base)
		record.SetSeverityNumber(plog.SeverityNumber(n))
	}
	w.addLogs(logs)
	w.both(t, func(t *testing.T) {
		for floor := range uint8(25) {
			page, err := w.engine().Logs(t.Context(), query.LogFilter{Severity: query.SeverityRange{Min: floor, Max: 24}, Limit: 100})
			want := 25 - int(floor)
			if floor == 0 {
				want = 26
			}
			if err != nil || len(page.Records) != want || page.Total != want {
				t.Errorf("Logs from severity %d = %d of %d, %v, want %d", floor, len(page.Records), page.Total, err, want)
			}
		}
	})
}

func mustTraceID(t testing.TB, s string) query.TraceID {
	t.Helper()
	id, err := query.ParseTraceID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestLogsWithoutTrace(t *testing.T) {
	w := newWorld(t)
	w.records(func(r plog.LogRecord) { r.Body().SetStr("none") }, func(r plog.LogRecord) {
		r.SetTraceID(pcommon.TraceID{0x5b, 0x8e, 0xff, 0xf7, 15: 1})
		r.Body().SetStr("one")
	})
	w.both(t, func(t *testing.T) {
		w.wantLogs(t, query.LogFilter{TraceID: mustTraceID(t, strings.Repeat("0", 32))})
		w.wantLogs(t, query.LogFilter{TraceID: mustTraceID(t, "000000")})
		w.wantLogs(t, query.LogFilter{TraceID: mustTraceID(t, "5B8EFF")}, "one")
		if _, err := w.engine().Trace(t.Context(), mustTraceID(t, strings.Repeat("0", 32)), 10); !errors.Is(err, query.ErrNoTrace) {
			t.Errorf("Trace of all zeros = %v, want ErrNoTrace", err)
		}
		trace, err := w.engine().Trace(t.Context(), mustTraceID(t, "5b8efff7"), 10)
		if err != nil || len(trace.Spans) != 0 || len(trace.Logs) != 1 {
			t.Errorf("Trace of logs alone = %d spans, %d logs, %v, want 0, 1", len(trace.Spans), len(trace.Logs), err)
		}
	})
}

func TestSpanThatEndsBeforeItStarts(t *testing.T) {
	w := newWorld(t)
	traces := ptrace.NewTraces()
	spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i, end := range []pcommon.Timestamp{base + 10_000_000, base - 191_305, 0, 1<<64 - 1} {
		span := spans.AppendEmpty()
		span.SetName([]string{"normal", "backwards", "no end", "endless"}[i])
		span.SetTraceID(pcommon.TraceID{0x5b, 0x8e, 0xff})
		span.SetSpanID(pcommon.SpanID{byte(i + 1)})
		span.SetStartTimestamp(base)
		span.SetEndTimestamp(end)
	}
	w.addSpans(traces)
	w.both(t, func(t *testing.T) {
		page, err := w.engine().Spans(t.Context(), query.SpanFilter{MinDuration: time.Millisecond, Limit: 10})
		if err != nil || len(page.Spans) != 2 || page.Spans[1].Name() != "normal" {
			t.Errorf("Spans of 1ms and more = %d, %v, want endless and normal", len(page.Spans), err)
		}
		all, err := w.engine().Spans(t.Context(), query.SpanFilter{TraceID: mustTraceID(t, "5B8EFF"), Limit: 10})
		want := []time.Duration{math.MaxInt64, 0, 0, 10 * time.Millisecond}
		got := make([]time.Duration, 0, 4)
		for _, span := range all.Spans {
			got = append(got, span.Duration())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("durations = %v, %v, want %v", got, err, want)
		}
	})
}

// TestOddStatusCounts: a status with the code of old protocols beside the new
// one, as senders of both wrote it.
func TestOddStatusCounts(t *testing.T) {
	w := newWorld(t)
	varint := func(number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
	}
	const deprecatedCode = 1
	span := slices.Concat(
		field(otlp.SpanTraceID, []byte("0123456789abcdef")),
		field(otlp.SpanSpanID, []byte("01234567")),
		field(otlp.SpanStatus, varint(deprecatedCode, 2), varint(otlp.StatusCode, uint64(ptrace.StatusCodeError))),
	)
	w.append(otlp.Traces, field(1, field(2, field(2, span))), nil)
	w.both(t, func(t *testing.T) {
		page, err := w.engine().Spans(t.Context(), query.SpanFilter{Limit: 1})
		if err != nil || page.Total != 1 || page.Errors != 1 {
			t.Errorf("Spans = %d with %d errors, %v, want 1 with 1", page.Total, page.Errors, err)
		}
	})
}

func TestTraceOfSpansFarApart(t *testing.T) {
	w := newWorld(t)
	traces := ptrace.NewTraces()
	spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i := range 3 {
		span := spans.AppendEmpty()
		span.SetTraceID(pcommon.TraceID{0x5b, 0x8e, 0xff})
		span.SetSpanID(pcommon.SpanID{byte(i + 1)})
		span.SetStartTimestamp(base + pcommon.Timestamp(i)*pcommon.Timestamp(2*query.TraceReach))
	}
	w.addSpans(traces)
	w.both(t, func(t *testing.T) {
		page, err := w.engine().Traces(t.Context(), query.SpanFilter{Limit: 10})
		if err != nil || page.Total != 1 || len(page.Traces) != 1 || page.Traces[0].Spans != 1 {
			t.Errorf("Traces = %+v, %v, want one trace, summed up over one span", page, err)
		}
		trace, err := w.engine().Trace(t.Context(), mustTraceID(t, "5b8eff"), 10)
		if err != nil || len(trace.Spans) != 3 {
			t.Errorf("Trace = %d spans, %v, want all 3", len(trace.Spans), err)
		}
	})
}

// field appends a field that has a length.
func field(number protowire.Number, content ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), slices.Concat(content...))
}

// TestOddlyEncodedAttributes: a value before its key is protobuf that no SDK
// writes, but any may.
func TestOddlyEncodedAttributes(t *testing.T) {
	w := newWorld(t)
	text := field(otlp.AnyValueString, []byte("Odd Needle"))
	odd := slices.Concat(field(otlp.KeyValueValue, text), field(otlp.KeyValueKey, []byte("k")))
	record := slices.Concat(
		field(otlp.LogRecordBody, field(otlp.AnyValueString, []byte("body"))),
		field(otlp.LogRecordAttributes, odd),
	)
	w.append(otlp.Logs, field(1, field(2, field(2, record))), nil)
	w.both(t, func(t *testing.T) {
		w.wantLogs(t, query.LogFilter{Contains: "odd needle"}, "body")
		w.wantLogs(t, query.LogFilter{Contains: "odd needles"})
	})
}

func TestSeriesOfOddlyEncodedAttributes(t *testing.T) {
	w := newWorld(t)
	point := func(value string) []byte {
		attribute := slices.Concat(
			field(otlp.KeyValueValue, field(otlp.AnyValueString, []byte(value))),
			field(otlp.KeyValueKey, []byte("k")))
		time := protowire.AppendFixed64(protowire.AppendTag(nil, otlp.PointTimeUnixNano, protowire.Fixed64Type), base)
		return field(1, time, field(protowire.Number(otlp.Gauge.Fields().Attributes), attribute))
	}
	metric := slices.Concat(field(otlp.MetricName, []byte("odd")),
		field(protowire.Number(otlp.Gauge), point("a"), point("b"), point("a")))
	w.append(otlp.Metrics, field(1, field(2, field(2, metric))), nil)
	w.both(t, func(t *testing.T) {
		infos, total, err := w.engine().MetricNames(t.Context(), storage.TimeRange{}, 10)
		if err != nil || total != 1 || infos[0].Series != 2 || infos[0].Points != 3 || infos[0].Type != pmetric.MetricTypeGauge {
			t.Errorf("MetricNames = %+v, %d, %v, want one gauge of 3 points in 2 series", infos, total, err)
		}
	})
}

// TestSharedEnvelopes: equal resources and scopes of an answer are one.
func TestSharedEnvelopes(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.records(func(plog.LogRecord) {}, func(plog.LogRecord) {})
	}
	other := plog.NewLogs()
	rl := other.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "cart")
	rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().SetTimestamp(base + 9)
	w.addLogs(other)
	w.both(t, func(t *testing.T) {
		page, err := w.engine().Logs(t.Context(), query.LogFilter{Limit: 10})
		if err != nil || len(page.Records) != 7 {
			t.Fatalf("Logs = %d records, %v, want 7", len(page.Records), err)
		}
		first, rest := page.Records[0], page.Records[1:]
		if first.Resource.Service != "cart" || first.Resource == rest[0].Resource || first.Scope != rest[0].Scope {
			t.Errorf("resource %p %q and scope %p, others %p and %p: want another resource, the same scope",
				first.Resource, first.Resource.Service, first.Scope, rest[0].Resource, rest[0].Scope)
		}
		for _, r := range rest {
			if r.Resource != rest[0].Resource || r.Scope != rest[0].Scope {
				t.Errorf("resource %p and scope %p, want %p and %p", r.Resource, r.Scope, rest[0].Resource, rest[0].Scope)
			}
		}
	})
}

func TestNearby(t *testing.T) {
	w := newWorld(t)
	nearby := func(t *testing.T, r storage.TimeRange, name string) query.Nearby {
		t.Helper()
		n, err := w.engine().Nearby(t.Context(), otlp.Traces, r, name)
		if err != nil {
			t.Fatalf("Nearby(%v, %q) = %v, want no error", r, name, err)
		}
		return n
	}
	if n := nearby(t, storage.TimeRange{}, "x"); n.NewestUnixNano != 0 || n.Services != nil || n.Names != nil {
		t.Errorf("Nearby of nothing = %+v, want nothing", n)
	}
	for i, service := range []string{"cart", "checkout", "payments"} {
		traces := ptrace.NewTraces()
		rs := traces.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", service)
		for j, name := range []string{"GET /cart", "GET /cart/{id}", "POST /pay", "query", "SELECT", "authorize", "publish"} {
			span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
			span.SetName(name)
			span.SetTraceID(pcommon.TraceID{1})
			span.SetSpanID(pcommon.SpanID{byte(i + 1), byte(j)})
			span.SetStartTimestamp(pcommon.Timestamp(base + i))
		}
		w.addSpans(traces)
	}
	w.both(t, func(t *testing.T) {
		n := nearby(t, storage.TimeRange{From: base, To: base + 2}, "get /cart")
		if n.NewestUnixNano != base+2 || !slices.Equal(n.Services, []string{"cart", "checkout"}) {
			t.Errorf("Nearby = %+v, want newest %d and two services", n, base+2)
		}
		if len(n.Names) != 5 || n.Names[0] != "GET /cart" || n.Names[1] != "GET /cart/{id}" {
			t.Errorf("names near %q = %q, want five, GET /cart first", "get /cart", n.Names)
		}
		if n := nearby(t, storage.TimeRange{From: base}, "autorise"); n.Names[0] != "authorize" {
			t.Errorf("names near autorise = %q, want authorize first", n.Names)
		}
		n = nearby(t, storage.TimeRange{From: base + 100}, "")
		if !slices.Contains(n.Services, "payments") || n.Names != nil {
			t.Errorf("Nearby of an empty range = %+v, want the services of the newest block", n)
		}
	})
}
