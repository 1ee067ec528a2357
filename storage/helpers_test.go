package storage_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// base is the event time that generated items start from.
var base = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// batch describes a generated request: items with consecutive ids, a step of
// time apart.
type batch struct {
	sig   otlp.Signal
	first int // id of the first item
	n     int
	start time.Time // event time of the first item; zero means base
	step  time.Duration
}

// attrID is the attribute that carries the id of an item.
const attrID = "id"

func (b batch) time(i int) pcommon.Timestamp {
	start := b.start
	if start.IsZero() {
		start = base
	}
	return pcommon.NewTimestampFromTime(start.Add(time.Duration(i) * b.step))
}

// payload returns the request's protobuf bytes.
func (b batch) payload(t testing.TB) []byte {
	t.Helper()
	var data []byte
	var err error
	switch b.sig {
	case otlp.Logs:
		data, err = new(plog.ProtoMarshaler).MarshalLogs(b.logs())
	case otlp.Traces:
		data, err = new(ptrace.ProtoMarshaler).MarshalTraces(b.traces())
	default:
		data, err = new(pmetric.ProtoMarshaler).MarshalMetrics(b.metrics())
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// request returns the batch as the receiver hands it over.
func (b batch) request(t testing.TB) *otlp.Request {
	t.Helper()
	r, err := otlp.Walk(b.sig, b.payload(t), uint64(time.Now().UnixNano()))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Items) != b.n {
		t.Fatalf("Walk found %d items, want %d", len(r.Items), b.n)
	}
	return r
}

func (b batch) logs() plog.Logs {
	l := plog.NewLogs()
	rl := l.ResourceLogs().AppendEmpty()
	b.resource(rl.Resource())
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName("shop/log")
	for i := range b.n {
		lr := sl.LogRecords().AppendEmpty()
		lr.SetTimestamp(b.time(i))
		lr.SetObservedTimestamp(b.time(i) + 1000)
		lr.SetSeverityNumber(plog.SeverityNumber(1 + (b.first+i)%24))
		lr.SetSeverityText("level")
		lr.Body().SetStr(fmt.Sprintf("request %d to /cart/%d took %d ms", b.first+i, i%7, i%911))
		lr.SetTraceID(traceID(b.first + i))
		lr.SetSpanID(pcommon.SpanID{1, byte(i)})
		b.attributes(lr.Attributes(), i)
	}
	return l
}

func (b batch) traces() ptrace.Traces {
	tr := ptrace.NewTraces()
	rs := tr.ResourceSpans().AppendEmpty()
	b.resource(rs.Resource())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("shop/trace")
	for i := range b.n {
		sp := ss.Spans().AppendEmpty()
		sp.SetTraceID(traceID(b.first + i))
		sp.SetSpanID(pcommon.SpanID{2, byte(i), byte(i >> 8)})
		sp.SetParentSpanID(pcommon.SpanID{2, byte(i)})
		sp.SetName(fmt.Sprintf("GET /item/%d", i%13))
		sp.SetKind(ptrace.SpanKindServer)
		sp.SetStartTimestamp(b.time(i))
		sp.SetEndTimestamp(b.time(i) + pcommon.Timestamp(i+1)*1000)
		if i%10 == 0 {
			sp.Status().SetCode(ptrace.StatusCodeError)
			sp.Status().SetMessage("deadline exceeded")
			ev := sp.Events().AppendEmpty()
			ev.SetName("exception")
			ev.SetTimestamp(b.time(i))
		}
		b.attributes(sp.Attributes(), i)
	}
	return tr
}

func (b batch) metrics() pmetric.Metrics {
	ms := pmetric.NewMetrics()
	rm := ms.ResourceMetrics().AppendEmpty()
	b.resource(rm.Resource())
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("shop/metric")
	sum := sm.Metrics().AppendEmpty()
	sum.SetName("http.server.requests")
	sum.SetEmptySum().SetIsMonotonic(true)
	hist := sm.Metrics().AppendEmpty()
	hist.SetName("http.server.duration")
	hist.SetEmptyHistogram()
	for i := range b.n {
		if i%4 == 3 {
			dp := hist.Histogram().DataPoints().AppendEmpty()
			dp.SetTimestamp(b.time(i))
			dp.SetCount(uint64(i))
			dp.BucketCounts().FromRaw([]uint64{1, uint64(i)})
			dp.ExplicitBounds().FromRaw([]float64{0.5})
			b.attributes(dp.Attributes(), i)
			continue
		}
		dp := sum.Sum().DataPoints().AppendEmpty()
		dp.SetTimestamp(b.time(i))
		dp.SetStartTimestamp(b.time(0))
		dp.SetIntValue(int64(i))
		b.attributes(dp.Attributes(), i)
	}
	return ms
}

func (b batch) resource(r pcommon.Resource) {
	r.Attributes().PutStr("service.name", "cart")
	r.Attributes().PutStr("host.name", fmt.Sprintf("node-%d", b.first%5))
}

func (b batch) attributes(m pcommon.Map, i int) {
	m.PutStr(attrID, fmt.Sprint(b.first+i))
	m.PutInt("http.response.status_code", int64(200+i%5))
	m.PutStr("user", fmt.Sprintf("u%d", i%17))
}

func traceID(n int) pcommon.TraceID {
	var id pcommon.TraceID
	binary.BigEndian.PutUint64(id[8:], uint64(n)+1)
	return id
}

// open opens a store that the test closes, in a folder that is checked at the
// end.
func open(t testing.TB, dir string, o storage.Options, tune storage.Tuning) *storage.Store {
	t.Helper()
	s, err := storage.OpenTuned(dir, o, tune)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closeStore(t, s)
		storagetest.Check(t, dir)
	})
	return s
}

func closeStore(t testing.TB, s *storage.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func mustAppend(t testing.TB, s *storage.Store, bs ...batch) {
	t.Helper()
	for _, b := range bs {
		if err := s.Append(t.Context(), b.request(t)); err != nil {
			t.Fatalf("Append(%+v) = %v", b, err)
		}
	}
}

func mustCompact(t testing.TB, s *storage.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.WaitCompacted(ctx); err != nil {
		t.Fatalf("WaitCompacted() = %v, last error %q", err, s.Stats().LastError)
	}
}

// row is an item as a scan sees it.
type row struct {
	id   string
	time uint64
	pos  storage.Position
	row  int
}

// scan returns all rows in the range, in no order.
func scan(t testing.TB, s *storage.Store, sig otlp.Signal, r storage.TimeRange) []row {
	t.Helper()
	var rows []row
	err := s.Scan(t.Context(), storage.ScanOptions{Signal: sig, Range: r}, func(b *block.Block, pos storage.Position) (bool, error) {
		got, err := blockRows(b, pos)
		for _, x := range got {
			if r.Contains(x.time) {
				rows = append(rows, x)
			}
		}
		return true, err
	})
	if err != nil {
		t.Fatalf("Scan(%v, %v) = %v", sig, r, err)
	}
	return rows
}

func blockRows(b *block.Block, pos storage.Position) ([]row, error) {
	times, err := b.Times()
	if err != nil {
		return nil, err
	}
	ids, err := b.Attribute(attrID)
	if err != nil {
		return nil, err
	}
	if ids == nil || len(ids.Rows) != b.Rows || len(times) != b.Rows {
		return nil, fmt.Errorf("block of %d rows has %d times, ids %v", b.Rows, len(times), ids)
	}
	rows := make([]row, b.Rows)
	for i := range rows {
		id, err := stringValue(ids.Values.At(i))
		if err != nil {
			return nil, err
		}
		rows[i] = row{id: id, time: times[i], pos: pos, row: i}
	}
	return rows, nil
}

// stringValue reads a raw AnyValue that holds a short string.
func stringValue(v []byte) (string, error) {
	if len(v) < 2 || v[0] != 1<<3|2 || int(v[1]) != len(v)-2 {
		return "", fmt.Errorf("not a short string value: %x", v)
	}
	return string(v[2:]), nil
}

// sortedIDs returns the ids of rows by time, then by arrival.
func sortedIDs(rows []row) []string {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b row) int {
		switch {
		case a.time != b.time:
			return int(int64(a.time - b.time))
		case a.pos != b.pos && a.pos < b.pos:
			return -1
		case a.pos != b.pos:
			return 1
		}
		return a.row - b.row
	})
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.id
	}
	return ids
}

// idsOf lists the ids that batches carry, in order. Only logs and spans have
// their items in the order of their ids.
func idsOf(bs ...batch) []string {
	var ids []string
	for _, b := range bs {
		for i := range b.n {
			ids = append(ids, fmt.Sprint(b.first+i))
		}
	}
	return ids
}
