package block_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// requests returns random requests of a signal.
func requests(t testing.TB, rng *rand.Rand, s otlp.Signal, n int) []*otlp.Request {
	t.Helper()
	var out []*otlp.Request
	for range n {
		r, err := otlp.Walk(s, randomPayload(t, rng, s), uint64(time.Now().UnixNano()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// decoded is an item under its envelopes, as JSON: equal items have equal text.
func decoded(t testing.TB, s otlp.Signal, resource, scope, metric, message []byte) string {
	t.Helper()
	var text []byte
	var err error
	switch s {
	case otlp.Logs:
		var v plog.Logs
		if v, err = otlp.DecodeLog(resource, scope, message); err == nil {
			text, err = (&plog.JSONMarshaler{}).MarshalLogs(v)
		}
	case otlp.Traces:
		var v ptrace.Traces
		if v, err = otlp.DecodeSpan(resource, scope, message); err == nil {
			text, err = (&ptrace.JSONMarshaler{}).MarshalTraces(v)
		}
	default:
		var v pmetric.Metrics
		if v, err = otlp.DecodePoint(resource, scope, metric, message); err == nil {
			text, err = (&pmetric.JSONMarshaler{}).MarshalMetrics(v)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func sent(t testing.TB, rs []*otlp.Request) (items []string, times []uint64) {
	t.Helper()
	for _, r := range rs {
		for _, it := range r.Items {
			var metric []byte
			if r.Signal == otlp.Metrics {
				metric = r.Metrics[it.Metric]
			}
			items = append(items, decoded(t, r.Signal, r.Resources[it.Resource], r.Scopes[it.Scope], metric, r.Bytes(it.Message)))
			times = append(times, it.TimeUnixNano)
		}
	}
	return items, times
}

func read(t testing.TB, b *block.Block) (items []string) {
	t.Helper()
	for row := range b.Rows {
		items = append(items, readRow(t, b, row))
	}
	return items
}

func readRow(t testing.TB, b *block.Block, row int) string {
	t.Helper()
	at := func(c block.Column) []byte {
		d, err := b.Dict(c)
		if err != nil {
			t.Fatal(err)
		}
		return d.At(row)
	}
	var metric []byte
	if b.Signal == otlp.Metrics {
		metric = at(block.Metric)
	}
	message, err := b.AppendMessage(nil, row)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, b.Signal, at(block.Resource), at(block.Scope), metric, message)
}

func build(rs []*otlp.Request) *block.Builder {
	b := block.NewBuilder(rs[0].Signal)
	for _, r := range rs {
		b.Add(r)
	}
	return b
}

// encode returns copies of the encoded blocks.
func encode(t testing.TB, b *block.Builder) (blocks [][]byte) {
	t.Helper()
	err := b.Encode(func(h block.Header, encoded []byte) error {
		opened, err := block.Open(encoded)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(h, opened.Header); diff != "" {
			t.Errorf("Open gives another header than Encode (-want +got):\n%s", diff)
		}
		blocks = append(blocks, slices.Clone(encoded))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// TestRoundTrip sends random requests through a builder, and through encoded
// blocks, and compares each item with what was sent.
func TestRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range otlp.Signals {
		t.Run(s.String(), func(t *testing.T) {
			for round := range 30 {
				rng := rand.New(rand.NewPCG(seed, uint64(round)))
				rs := requests(t, rng, s, 1+rng.IntN(4))
				want, times := sent(t, rs)
				if len(want) == 0 {
					continue
				}
				b := build(rs)
				if diff := cmp.Diff(want, read(t, b.Block())); diff != "" {
					t.Fatalf("round %d: a built block differs from what was sent (-want +got):\n%s", round, diff)
				}
				order := make([]int, len(want))
				for i := range order {
					order[i] = i
				}
				slices.SortStableFunc(order, func(a, b int) int { return compare(times[a], times[b]) })
				var got, sorted []string
				for _, encoded := range encode(t, b) {
					opened, err := block.Open(encoded)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, read(t, opened)...)
				}
				for _, i := range order {
					sorted = append(sorted, want[i])
				}
				if diff := cmp.Diff(sorted, got); diff != "" {
					t.Fatalf("round %d: encoded blocks differ from what was sent (-want +got):\n%s", round, diff)
				}
			}
		})
	}
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// logsAt returns a request with one log record at each time.
func logsAt(t testing.TB, times ...uint64) *otlp.Request {
	t.Helper()
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, at := range times {
		r := records.AppendEmpty()
		r.SetTimestamp(plogTime(at))
		r.SetSeverityNumber(plog.SeverityNumberWarn)
	}
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	if err != nil {
		t.Fatal(err)
	}
	r, err := otlp.Walk(otlp.Logs, payload, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEncodeCutsBlocks(t *testing.T) {
	const hour = uint64(time.Hour)
	var even, dust []uint64
	for i := range uint64(block.MaxRows*2 + 5) {
		even = append(even, 1000+i)
	}
	for i := range uint64(200) {
		dust = append(dust, (i+1)*2*hour)
	}
	for _, c := range []struct {
		name  string
		times []uint64
		want  []int // rows of each block
	}{
		{"full blocks and what is left", even, []int{block.MaxRows, block.MaxRows, 5}},
		{"at a gap", []uint64{5, 6, 7, 7 + 2*hour, 8 + 2*hour}, []int{3, 2}},
		{"not at an hour", []uint64{5, 5 + hour}, []int{2}},
		{"out of order", []uint64{9 * hour, 1, 2}, []int{2, 1}},
		{"strays from 1970 to the end of time", []uint64{1, math.MaxUint64 - 1}, []int{1, 1}},
		{"not into dust", dust, []int{200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			for _, encoded := range encode(t, build([]*otlp.Request{logsAt(t, c.times...)})) {
				b, err := block.Open(encoded)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, b.Rows)
				times, err := b.Times()
				if err != nil {
					t.Fatal(err)
				}
				if !slices.IsSorted(times) || times[0] != b.MinTime || times[len(times)-1] != b.MaxTime {
					t.Errorf("times %d..%d of the header do not fit the rows", b.MinTime, b.MaxTime)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("rows of the blocks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeaderCounts(t *testing.T) {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i, d := range []uint64{50, 0, 900} {
		s := spans.AppendEmpty()
		s.SetTraceID([16]byte{1})
		s.SetSpanID([8]byte{byte(i + 1)})
		s.SetStartTimestamp(1000)
		s.SetEndTimestamp(plogTime(1000 + d))
	}
	spans.At(1).SetEndTimestamp(1) // before its start: no duration
	payload, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	if err != nil {
		t.Fatal(err)
	}
	r, err := otlp.Walk(otlp.Traces, payload, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := block.Header{Signal: otlp.Traces, Rows: 3, MinTime: 1000, MaxTime: 1000, MaxDurationNano: 900}
	b := build([]*otlp.Request{r})
	if want.RawBytes = b.Block().RawBytes; want.RawBytes > len(payload) || want.RawBytes < len(payload)-8 {
		t.Errorf("RawBytes = %d of a payload of %d bytes", want.RawBytes, len(payload))
	}
	if diff := cmp.Diff(want, b.Block().Header); diff != "" {
		t.Errorf("header of a built block (-want +got):\n%s", diff)
	}
	opened, err := block.Open(encode(t, b)[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, opened.Header); diff != "" {
		t.Errorf("header of an encoded block (-want +got):\n%s", diff)
	}
	logs := build([]*otlp.Request{logsAt(t, 1, 2, 3)}).Block()
	if got := logs.Severities[plog.SeverityNumberWarn]; got != 3 {
		t.Errorf("Severities[WARN] = %d, want 3", got)
	}
}

func TestAttributeReadsOneKey(t *testing.T) {
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for i := range 5 {
		r := records.AppendEmpty()
		r.SetTimestamp(plogTime(uint64(i + 1)))
		if i%2 == 1 {
			r.Attributes().PutInt("n", int64(i))
		}
		r.Attributes().PutStr("s", "x")
	}
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	if err != nil {
		t.Fatal(err)
	}
	r, err := otlp.Walk(otlp.Logs, payload, 1)
	if err != nil {
		t.Fatal(err)
	}
	builder := build([]*otlp.Request{r})
	opened, err := block.Open(encode(t, builder)[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*block.Block{"built": builder.Block(), "encoded": opened} {
		keys, err := b.AttributeKeys()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(keys)
		if diff := cmp.Diff([]string{"n", "s"}, keys); diff != "" {
			t.Errorf("%s: AttributeKeys (-want +got):\n%s", name, diff)
		}
		column, err := b.Attribute("n")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]uint32{1, 3}, column.Rows); diff != "" {
			t.Errorf("%s: rows with n (-want +got):\n%s", name, diff)
		}
		text, err := otlp.AppendRawText(nil, column.Values.At(1))
		if err != nil || string(text) != "3" {
			t.Errorf("%s: second value of n = %q, %v, want 3", name, text, err)
		}
		if column, err := b.Attribute("nothing"); column != nil || err != nil {
			t.Errorf("%s: Attribute(nothing) = %v, %v, want nil, nil", name, column, err)
		}
	}
}

func TestColumnsOfOtherSignalsAreRefused(t *testing.T) {
	b := build([]*otlp.Request{logsAt(t, 1)}).Block()
	if _, err := b.Uints(block.EndTime); err == nil {
		t.Error("Uints(EndTime) of a log block gave no error")
	}
	if _, err := b.Dict(block.Time); err == nil {
		t.Error("Dict(Time) gave no error")
	}
}

// readAll reads all there is to read of an encoded block.
func readAll(t testing.TB, encoded []byte) ([]string, error) {
	b, err := block.Open(encoded)
	if err != nil {
		return nil, err
	}
	for row := range b.Rows {
		if _, err := b.AppendMessage(nil, row); err != nil {
			return nil, err
		}
		for _, c := range []block.Column{block.Resource, block.Scope} {
			if _, err := b.Dict(c); err != nil {
				return nil, err
			}
		}
	}
	return read(t, b), nil
}

// TestDamageIsFound flips every bit of an encoded block, and cuts it at every
// byte: what comes back is the truth or ErrCorrupt.
func TestDamageIsFound(t *testing.T) {
	for _, s := range otlp.Signals {
		t.Run(s.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(s)))
			encoded := encode(t, build(requests(t, rng, s, 1)))[0]
			want, err := readAll(t, encoded)
			if err != nil {
				t.Fatal(err)
			}
			check := func(damaged []byte, what string, at int) {
				got, err := readAll(t, damaged)
				switch {
				case err == nil && !slices.Equal(got, want):
					t.Errorf("%s %d gives other items without an error", what, at)
				case err != nil && !errors.Is(err, block.ErrCorrupt):
					t.Errorf("%s %d gives %v, want ErrCorrupt", what, at, err)
				}
			}
			for bit := range len(encoded) * 8 {
				damaged := slices.Clone(encoded)
				damaged[bit/8] ^= 1 << (bit % 8)
				check(damaged, "bit", bit)
			}
			for size := range encoded {
				if _, err := readAll(t, encoded[:size]); !errors.Is(err, block.ErrCorrupt) {
					t.Errorf("cut to %d of %d bytes gives %v, want ErrCorrupt", size, len(encoded), err)
				}
			}
		})
	}
}

// FuzzOpen: whatever the bytes, reading ends in items or in ErrCorrupt.
func FuzzOpen(f *testing.F) {
	for _, s := range otlp.Signals {
		rng := rand.New(rand.NewPCG(1, uint64(s)))
		f.Add(encode(f, build(requests(f, rng, s, 1)))[0])
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		b, err := block.Open(encoded)
		if err == nil {
			_, err = b.AppendMessage(nil, 0)
		}
		if err != nil && !errors.Is(err, block.ErrCorrupt) {
			t.Errorf("reading gives %v, want ErrCorrupt", err)
		}
	})
}
