package query_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// blocks is a Source of encoded blocks that tells what was read of it and can be
// damaged.
type blocks struct {
	encoded [][]byte // in the order of arrival
	headers []block.Header
	// early asks Skip about all blocks before the first is visited.
	early   bool
	visits  int
	corrupt int // visits that met a corrupt block
	// scanned, when set, is called at the end of each Scan.
	scanned func()
}

func (s *blocks) Scan(ctx context.Context, o storage.ScanOptions, visit func(*block.Block, storage.Position) (bool, error)) error {
	if s.scanned != nil {
		defer func() { s.scanned() }()
	}
	var order []int
	for i, h := range s.headers {
		if h.Signal == o.Signal && h.MaxTime >= o.Range.From && (o.Range.To == 0 || h.MinTime < o.Range.To) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.headers[b].MaxTime, s.headers[a].MaxTime) })
	skips := func(i int) bool { return o.Skip != nil && o.Skip(&s.headers[i]) }
	if s.early {
		order = slices.DeleteFunc(order, skips)
	}
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !s.early && skips(i) {
			continue
		}
		s.visits++
		b, err := block.Open(s.encoded[i])
		more := true
		if err == nil {
			more, err = visit(b, storage.Position(i))
		}
		switch {
		case errors.Is(err, block.ErrCorrupt):
			s.corrupt++
		case err != nil || !more:
			return err
		}
	}
	return nil
}

func (s *blocks) Headers(sig otlp.Signal, r storage.TimeRange, visit func(*block.Header)) {
	for i := range s.headers {
		if h := &s.headers[i]; h.Signal == sig && h.MaxTime >= r.From && (r.To == 0 || h.MinTime < r.To) {
			visit(h)
		}
	}
}

// addLogs encodes the records as a block of their own.
func (s *blocks) addLogs(t testing.TB, logs plog.Logs) {
	t.Helper()
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
	s.add(t, otlp.Logs, payload, err)
}

// addSpans encodes the spans as a block of their own.
func (s *blocks) addSpans(t testing.TB, traces ptrace.Traces) {
	t.Helper()
	payload, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
	s.add(t, otlp.Traces, payload, err)
}

func (s *blocks) add(t testing.TB, sig otlp.Signal, payload []byte, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	request, err := otlp.Walk(sig, payload, base)
	if err != nil {
		t.Fatal(err)
	}
	builder := block.NewBuilder(sig)
	builder.Add(request)
	err = builder.Encode(func(h block.Header, encoded []byte) error {
		s.headers = append(s.headers, h)
		s.encoded = append(s.encoded, slices.Clone(encoded))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// series returns n blocks of 100 records, a nanosecond apart, every tenth of
// them a warning.
func series(t testing.TB, n int) *blocks {
	t.Helper()
	s := &blocks{}
	for i := range n {
		logs := plog.NewLogs()
		records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for j := range 100 {
			record := records.AppendEmpty()
			record.SetTimestamp(pcommon.Timestamp(base + i*100 + j))
			record.Body().SetStr(fmt.Sprintf("common %d", i*100+j))
			record.SetSeverityNumber(plog.SeverityNumberInfo)
			if j%10 == 0 {
				record.SetSeverityNumber(plog.SeverityNumberWarn)
			}
		}
		s.addLogs(t, logs)
	}
	return s
}

func TestWhatIsRead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		filter query.LogFilter
		total  int
		exact  bool
		visits int
	}{
		{"all by headers", query.LogFilter{Limit: 10}, 3000, true, 1},
		{"severity by headers", query.LogFilter{Limit: 11, Severity: query.SeverityRange{Min: 13, Max: 24}}, 300, true, 2},
		{"no such severity", query.LogFilter{Limit: 10, Severity: query.SeverityRange{Min: 17, Max: 24}}, 0, true, 0},
		{"edges of the range are read", query.LogFilter{Limit: 10, Range: storage.TimeRange{From: base + 150, To: base + 2550}}, 2400, true, 2},
		{"the cursor's block is read", query.LogFilter{Limit: 10, Before: query.Cursor{TimeUnixNano: base + 2050}}, 2050, true, 1},
		{"counted to the cap", query.LogFilter{Limit: 10, Contains: "COMMON"}, 1000, false, 11},
		{"counted over a full page", query.LogFilter{Limit: 1000, Contains: "COMMON"}, 1100, false, 12},
		{"counted to the end", query.LogFilter{Limit: 10, Contains: "common 29"}, 111, true, 30},
		{"below everything", query.LogFilter{Limit: 10, Before: query.Cursor{TimeUnixNano: base}}, 0, true, 0},
		{"empty range", query.LogFilter{Limit: 10, Range: storage.TimeRange{From: base + 5, To: base + 5}}, 0, true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := series(t, 30)
			page, err := query.New(source).Logs(t.Context(), tt.filter)
			if err != nil {
				t.Fatalf("Logs(%+v) = %v, want no error", tt.filter, err)
			}
			if page.Total != tt.total || page.TotalExact != tt.exact || source.visits != tt.visits {
				t.Errorf("Logs(%+v) = total %d, exact %v, %d blocks read, want %d, %v, %d",
					tt.filter, page.Total, page.TotalExact, source.visits, tt.total, tt.exact, tt.visits)
			}
			sum := 0
			for _, n := range page.Severities {
				sum += n
			}
			if sum != page.Total {
				t.Errorf("Logs(%+v): severities add up to %d, want %d", tt.filter, sum, page.Total)
			}
			early := series(t, 30)
			early.early = true
			again, err := query.New(early).Logs(t.Context(), tt.filter)
			if err != nil || again.Total != page.Total || again.Next != page.Next || again.Severities != page.Severities {
				t.Errorf("Logs(%+v) = %+v, %v when Skip is asked early, want %+v", tt.filter, again.Page, err, page.Page)
			}
		})
	}
}

func TestCorruptBlocksAreLeftOut(t *testing.T) {
	intact := series(t, 3)
	for at := range intact.encoded[1] {
		source := &blocks{headers: intact.headers, encoded: slices.Clone(intact.encoded)}
		source.encoded[1] = slices.Clone(intact.encoded[1])
		source.encoded[1][at] ^= 0x10
		page, err := query.New(source).Logs(t.Context(), query.LogFilter{Limit: 1000, Contains: "common"})
		if err != nil {
			t.Fatalf("byte %d: Logs = %v, want no error", at, err)
		}
		want := 300 - 100*source.corrupt
		if page.Total != want || len(page.Records) != want {
			t.Fatalf("byte %d: %d corrupt, %d records of %d, want %d", at, source.corrupt, len(page.Records), page.Total, want)
		}
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := query.New(series(t, 3))
	if _, err := e.Logs(ctx, query.LogFilter{Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Logs after the context's end = %v, want %v", err, context.Canceled)
	}
	id, err := query.ParseTraceID("4bf92f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Trace(ctx, id, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Trace after the context's end = %v, want %v", err, context.Canceled)
	}
}

// simultaneous returns n records at one time, numbered from a number on.
func simultaneous(from, n int) plog.Logs {
	logs := plog.NewLogs()
	records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for i := range n {
		record := records.AppendEmpty()
		record.SetTimestamp(base)
		record.Body().SetInt(int64(from + i))
	}
	return logs
}

// TestTiesAcrossBlocks: a block that ends at the very time at which the page does
// must still be seen.
func TestTiesAcrossBlocks(t *testing.T) {
	source := &blocks{}
	for i := range 3 {
		source.addLogs(t, simultaneous(i*100, 100))
	}
	f := query.LogFilter{Limit: 80}
	for left := 300; left > 0; left -= 80 {
		page, err := query.New(source).Logs(t.Context(), f)
		want := query.Cursor{TimeUnixNano: base, Remaining: uint64(max(left-80, 0))}
		if left <= 80 {
			want = query.Cursor{}
		}
		if err != nil || page.Next != want || page.Total != left || len(page.Records) != min(left, 80) {
			t.Fatalf("Logs(%+v) = %d of %d, next %v, %v, want %d of %d, next %v",
				f, len(page.Records), page.Total, page.Next, err, min(left, 80), left, want)
		}
		f.Before = page.Next
	}
}

// TestBlocksMoveBetweenScans: the engine counts the ties at a cursor in one scan
// and picks them in the next, which may find them in other blocks.
func TestBlocksMoveBetweenScans(t *testing.T) {
	source := &blocks{}
	for i := range 3 {
		source.addLogs(t, simultaneous(i*100, 100))
	}
	scans := 0
	source.scanned = func() {
		if scans++; scans == 1 { // a compaction
			source.encoded, source.headers = nil, nil
			source.addLogs(t, simultaneous(0, 300))
		}
	}
	f := query.LogFilter{Limit: 80, Before: query.Cursor{TimeUnixNano: base, Remaining: 150}}
	page, err := query.New(source).Logs(t.Context(), f)
	if err != nil || page.Total != 150 || len(page.Records) != 80 {
		t.Fatalf("Logs(%+v) = %d of %d, %v, want 80 of 150", f, len(page.Records), page.Total, err)
	}
	if first, last := page.Records[0].Body().Int(), page.Records[79].Body().Int(); first != 149 || last != 70 {
		t.Errorf("Logs(%+v) = records %d to %d, want 149 to 70", f, first, last)
	}
	source.scanned = func() { // and another compaction after each scan
		scans++
		source.encoded, source.headers = nil, nil
		source.addLogs(t, simultaneous(0, scans))
		source.addLogs(t, simultaneous(0, 200))
	}
	if page, err := query.New(source).Logs(t.Context(), f); err == nil {
		t.Errorf("Logs(%+v) = %d records of blocks that never rest, want an error", f, len(page.Records))
	}
}

// TestCursorOfTraceMetTwice: the newest block that holds a trace need not hold
// the newest of its spans.
func TestCursorOfTraceMetTwice(t *testing.T) {
	type at struct {
		trace byte
		time  pcommon.Timestamp
	}
	source := &blocks{}
	for _, spans := range [][]at{
		{{1, 5}, {1, 5}, {3, 100}},
		{{2, 10}, {1, 10}},
	} {
		traces := ptrace.NewTraces()
		list := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		for _, s := range spans {
			span := list.AppendEmpty()
			span.SetTraceID(pcommon.TraceID{s.trace})
			span.SetSpanID(pcommon.SpanID{1})
			span.SetStartTimestamp(base + s.time)
		}
		source.addSpans(t, traces)
	}
	var got []byte
	f := query.SpanFilter{Limit: 2}
	for {
		page, err := query.New(source).Traces(t.Context(), f)
		if err != nil {
			t.Fatalf("Traces(%+v) = %v, want no error", f, err)
		}
		for _, trace := range page.Traces {
			got = append(got, trace.TraceID[0])
		}
		if f.Before = page.Next; f.Before == (query.Cursor{}) {
			break
		}
	}
	if want := []byte{3, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("traces in the order of pages = %v, want %v", got, want)
	}
}
