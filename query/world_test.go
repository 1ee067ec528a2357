package query_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// base is when the tests play: event times lie around it.
const base = 1796040000_000000000

// world is a store and, as plain slices in the order of arrival, what it was
// given: the answers of an engine are compared with what a reader of the slices
// would say.
type world struct {
	t     testing.TB
	seed  uint64
	r     *rand.Rand
	dir   string
	store *storage.Store

	clock  uint64 // rises with each request
	logs   []refLog
	spans  []refSpan
	points []refPoint
}

type refLog struct {
	time     uint64
	severity uint8
	trace    pcommon.TraceID
	texts    []string // of the body and the attributes
	content  string
}

type refSpan struct {
	time, end uint64
	trace     pcommon.TraceID
	name      string
	root      bool
	failed    bool
	service   string
	content   string
}

type refPoint struct {
	time                    uint64
	name, unit, description string
	kind                    pmetric.MetricType
	service, series         string
	content                 string
}

func (l refLog) at() uint64   { return l.time }
func (s refSpan) at() uint64  { return s.time }
func (p refPoint) at() uint64 { return p.time }

// duration of a span in nanoseconds, 0 when it ends before it starts.
func (s refSpan) duration() uint64 { return max(s.end, s.time) - s.time }

func newWorld(t testing.TB) *world {
	t.Helper()
	seed := rand.Uint64()
	w := &world{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 0)), dir: filepath.Join(t.TempDir(), "data"), clock: base}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
		storagetest.Check(t, w.dir)
	})
	w.open()
	return w
}

func (w *world) open() {
	w.t.Helper()
	store, err := storage.Open(w.dir, storage.Options{Now: func() time.Time { return time.Unix(0, base) }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = store
}

func (w *world) reopen() {
	w.t.Helper()
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

func (w *world) compact() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	if err := w.store.WaitCompacted(ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) engine() *query.Engine { return query.New(w.store) }

func (w *world) append(sig otlp.Signal, payload []byte, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	request, err := otlp.Walk(sig, payload, w.clock)
	if err != nil {
		w.t.Fatal(err)
	}
	if request.Rejected > 0 {
		w.t.Fatalf("Walk rejected %d items: %s", request.Rejected, request.RejectReason)
	}
	if err := w.store.Append(w.t.Context(), request); err != nil {
		w.t.Fatal(err)
	}
	w.clock++
}

// addLogs stores a request and notes its records.
func (w *world) addLogs(logs plog.Logs) {
	w.t.Helper()
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				ref := refLog{
					time:     cmp.Or(uint64(record.Timestamp()), uint64(record.ObservedTimestamp()), w.clock),
					severity: severityOf(record),
					trace:    record.TraceID(),
					texts:    []string{string(otlp.AppendText(nil, record.Body()))},
					content:  logContent(rl.Resource(), rl.SchemaUrl(), sl.Scope(), sl.SchemaUrl(), record),
				}
				for _, v := range record.Attributes().All() {
					ref.texts = append(ref.texts, string(otlp.AppendText(nil, v)))
				}
				w.logs = append(w.logs, ref)
			}
		}
	}
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
	w.append(otlp.Logs, payload, err)
}

// severityOf knows the texts that the tests use.
func severityOf(record plog.LogRecord) uint8 {
	if n := record.SeverityNumber(); n >= 1 && n <= 24 {
		return uint8(n)
	}
	return map[string]uint8{"warn": 13, "Warning": 13, "err": 17, "critical": 21, "INFO2": 10}[record.SeverityText()]
}

func (w *world) addSpans(traces ptrace.Traces) {
	w.t.Helper()
	for _, rs := range traces.ResourceSpans().All() {
		service := serviceOf(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				w.spans = append(w.spans, refSpan{
					time:    uint64(span.StartTimestamp()),
					end:     uint64(span.EndTimestamp()),
					trace:   span.TraceID(),
					name:    span.Name(),
					root:    span.ParentSpanID().IsEmpty(),
					failed:  span.Status().Code() == ptrace.StatusCodeError,
					service: service,
					content: spanContent(rs.Resource(), rs.SchemaUrl(), ss.Scope(), ss.SchemaUrl(), span),
				})
			}
		}
	}
	payload, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
	w.append(otlp.Traces, payload, err)
}

// addMetrics stores a request in which each metric has one point.
func (w *world) addMetrics(metrics pmetric.Metrics) {
	w.t.Helper()
	for _, rm := range metrics.ResourceMetrics().All() {
		service := serviceOf(rm.Resource())
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				time, attributes := onlyPoint(m)
				keys := slices.Sorted(func(yield func(string) bool) {
					for k, v := range attributes.All() {
						if !yield(k + "=" + v.Type().String() + v.AsString()) {
							return
						}
					}
				})
				w.points = append(w.points, refPoint{
					time: time, name: m.Name(), unit: m.Unit(), description: m.Description(), kind: m.Type(),
					service: service,
					series:  fmt.Sprint(rm.Resource().Attributes().AsRaw(), rm.SchemaUrl(), sm.Scope().Name(), keys),
					content: pointContent(rm.Resource(), rm.SchemaUrl(), sm.Scope(), sm.SchemaUrl(), m),
				})
			}
		}
	}
	payload, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(metrics)
	w.append(otlp.Metrics, payload, err)
}

func serviceOf(r pcommon.Resource) string {
	v, ok := r.Attributes().Get("service.name")
	if !ok {
		return ""
	}
	return v.Str()
}

func onlyPoint(m pmetric.Metric) (uint64, pcommon.Map) {
	switch m.Type() {
	case pmetric.MetricTypeSum:
		p := m.Sum().DataPoints().At(0)
		return uint64(p.Timestamp()), p.Attributes()
	case pmetric.MetricTypeHistogram:
		p := m.Histogram().DataPoints().At(0)
		return uint64(p.Timestamp()), p.Attributes()
	case pmetric.MetricTypeExponentialHistogram:
		p := m.ExponentialHistogram().DataPoints().At(0)
		return uint64(p.Timestamp()), p.Attributes()
	case pmetric.MetricTypeSummary:
		p := m.Summary().DataPoints().At(0)
		return uint64(p.Timestamp()), p.Attributes()
	}
	p := m.Gauge().DataPoints().At(0)
	return uint64(p.Timestamp()), p.Attributes()
}

// The contents of an item are all of it as text, to be compared.

func logContent(r pcommon.Resource, rURL string, s pcommon.InstrumentationScope, sURL string, record plog.LogRecord) string {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	r.CopyTo(rl.Resource())
	rl.SetSchemaUrl(rURL)
	sl := rl.ScopeLogs().AppendEmpty()
	s.CopyTo(sl.Scope())
	sl.SetSchemaUrl(sURL)
	record.CopyTo(sl.LogRecords().AppendEmpty())
	return text((&plog.JSONMarshaler{}).MarshalLogs(logs))
}

func spanContent(r pcommon.Resource, rURL string, s pcommon.InstrumentationScope, sURL string, span ptrace.Span) string {
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	r.CopyTo(rs.Resource())
	rs.SetSchemaUrl(rURL)
	ss := rs.ScopeSpans().AppendEmpty()
	s.CopyTo(ss.Scope())
	ss.SetSchemaUrl(sURL)
	span.CopyTo(ss.Spans().AppendEmpty())
	return text((&ptrace.JSONMarshaler{}).MarshalTraces(traces))
}

func pointContent(r pcommon.Resource, rURL string, s pcommon.InstrumentationScope, sURL string, m pmetric.Metric) string {
	metrics := pmetric.NewMetrics()
	rm := metrics.ResourceMetrics().AppendEmpty()
	r.CopyTo(rm.Resource())
	rm.SetSchemaUrl(rURL)
	sm := rm.ScopeMetrics().AppendEmpty()
	s.CopyTo(sm.Scope())
	sm.SetSchemaUrl(sURL)
	m.CopyTo(sm.Metrics().AppendEmpty())
	return text((&pmetric.JSONMarshaler{}).MarshalMetrics(metrics))
}

func text(b []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func contentOfLog(r query.LogRecord) string {
	return logContent(r.Resource.Resource, r.Resource.SchemaURL, r.Scope.InstrumentationScope, r.Scope.SchemaURL, r.LogRecord)
}

func contentOfSpan(s query.Span) string {
	return spanContent(s.Resource.Resource, s.Resource.SchemaURL, s.Scope.InstrumentationScope, s.Scope.SchemaURL, s.Span)
}

func contentOfPoint(p query.Point) string {
	return pointContent(p.Resource.Resource, p.Resource.SchemaURL, p.Scope.InstrumentationScope, p.Scope.SchemaURL, p.Metric)
}

// contents returns what f makes of each item.
func contents[T any](items []T, f func(T) string) []string {
	list := make([]string, 0, len(items))
	for _, item := range items {
		list = append(list, f(item))
	}
	return list
}

// matching returns the items that pass and are in the range, newest first.
func matching[T interface{ at() uint64 }](items []T, r storage.TimeRange, pass func(T) bool) []T {
	var list []T
	for _, item := range items {
		if r.Contains(item.at()) && pass(item) {
			list = append(list, item)
		}
	}
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(a.at(), b.at()) })
	slices.Reverse(list)
	return list
}

// below returns the items, newest first, that are below the cursor.
func below[T interface{ at() uint64 }](items []T, c query.Cursor) []T {
	if c == (query.Cursor{}) {
		return items
	}
	var ties int
	for _, item := range items {
		if item.at() == c.TimeUnixNano {
			ties++
		}
	}
	var list []T
	for _, item := range items {
		switch {
		case item.at() < c.TimeUnixNano:
			list = append(list, item)
		case item.at() == c.TimeUnixNano:
			if uint64(ties) <= c.Remaining {
				list = append(list, item)
			}
			ties--
		}
	}
	return list
}

// nextOf returns the cursor after the first limit of the items.
func nextOf[T interface{ at() uint64 }](items []T, limit int) query.Cursor {
	if len(items) <= limit {
		return query.Cursor{}
	}
	c := query.Cursor{TimeUnixNano: items[limit-1].at()}
	for _, item := range items[limit:] {
		if item.at() == c.TimeUnixNano {
			c.Remaining++
		}
	}
	return c
}

func containsFold(text, part string) bool {
	runes, n := []rune(text), utf8.RuneCountInString(part)
	for i := 0; i+n <= len(runes); i++ {
		if strings.EqualFold(string(runes[i:i+n]), part) {
			return true
		}
	}
	return false
}
