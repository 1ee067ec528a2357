package block_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// item is what went in for a row.
type item struct {
	time                             uint64
	resource, scope, metric, message []byte
}

func itemsOf(rs []*otlp.Request) []item {
	var out []item
	for _, r := range rs {
		for _, i := range r.Items {
			it := item{i.TimeUnixNano, r.Resources[i.Resource], r.Scopes[i.Scope], nil, r.Bytes(i.Message)}
			if r.Signal == otlp.Metrics {
				it.metric = r.Metrics[i.Metric]
			}
			out = append(out, it)
		}
	}
	return out
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
		if diff := gocmp.Diff(h, opened.Header); diff != "" {
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

func open(t testing.TB, encoded []byte) *block.Block {
	t.Helper()
	b, err := block.Open(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// message parses an item by protobuf's rules.
func message(t testing.TB, s otlp.Signal, metric, raw []byte) proto.Message {
	t.Helper()
	var m proto.Message
	switch s {
	case otlp.Logs:
		m = &logspb.LogRecord{}
	case otlp.Traces:
		m = &tracepb.Span{}
	default:
		switch otlp.MetricKind(metric) {
		case otlp.Histogram:
			m = &metricspb.HistogramDataPoint{}
		case otlp.ExponentialHistogram:
			m = &metricspb.ExponentialHistogramDataPoint{}
		case otlp.Summary:
			m = &metricspb.SummaryDataPoint{}
		default:
			m = &metricspb.NumberDataPoint{}
		}
	}
	if err := proto.Unmarshal(raw, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// diffMessages tells messages apart bit by bit, in a text for people.
func diffMessages(t testing.TB, want, got proto.Message) string {
	t.Helper()
	o := proto.MarshalOptions{Deterministic: true}
	a, err := o.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(a, b) {
		return ""
	}
	return gocmp.Diff(want, got, protocmp.Transform(), cmpopts.EquateNaNs()) + fmt.Sprintf("-%x\n+%x", a, b)
}

// check compares all that blocks say of their rows with what went in.
func check(t *testing.T, what string, s otlp.Signal, want []item, blocks ...*block.Block) {
	t.Helper()
	at := 0
	for _, b := range blocks {
		c := columnReader{t, b}
		attributes := c.attributes()
		for row := range b.Rows {
			if at == len(want) {
				t.Fatalf("%s: more rows than the %d items sent", what, len(want))
			}
			w := want[at]
			at++
			got, err := b.AppendMessage([]byte("before"), row)
			if err != nil {
				t.Fatalf("%s: AppendMessage(%d): %v", what, row, err)
			}
			got, ok := bytes.CutPrefix(got, []byte("before"))
			if !ok {
				t.Fatalf("%s: AppendMessage(%d) changed what stood before it", what, row)
			}
			sent := message(t, s, w.metric, w.message)
			if diff := diffMessages(t, sent, message(t, s, w.metric, got)); diff != "" {
				t.Fatalf("%s: row %d is not what was sent (-want +got):\n%s", what, row, diff)
			}
			if diff := gocmp.Diff(rowOf(w, sent), c.row(row)); diff != "" {
				t.Fatalf("%s: columns of row %d (-want +got):\n%s\nof %v", what, row, diff, sent)
			}
			if diff := gocmp.Diff(attributesOf(t, sent), attributes[row]); diff != "" {
				t.Fatalf("%s: attributes of row %d (-want +got):\n%s", what, row, diff)
			}
		}
	}
	if at != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, at, len(want))
	}
}

// TestRoundTrip sends random requests through a builder, and through encoded
// blocks, and compares every item and every column with what was sent.
func TestRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range otlp.Signals {
		t.Run(s.String(), func(t *testing.T) {
			for round := range 40 {
				rng := rand.New(rand.NewPCG(seed, uint64(round)))
				rs := requests(t, rng, s, 1+rng.IntN(4))
				want := itemsOf(rs)
				if len(want) == 0 {
					continue
				}
				b := build(rs)
				if b.Rows() != len(want) {
					t.Fatalf("Rows() = %d, want %d", b.Rows(), len(want))
				}
				check(t, fmt.Sprintf("round %d, built", round), s, want, b.Block())
				var blocks []*block.Block
				for _, encoded := range encode(t, b) {
					blocks = append(blocks, open(t, encoded))
				}
				slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.time, b.time) })
				check(t, fmt.Sprintf("round %d, encoded", round), s, want, blocks...)
			}
		})
	}
}

// handMade returns a request of items given as raw messages, under envelopes
// without content. Points are those of a gauge.
func handMade(t testing.TB, s otlp.Signal, messages ...[]byte) *otlp.Request {
	t.Helper()
	field := func(b []byte, number protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
	}
	var items []byte
	for _, m := range messages {
		items = field(items, map[otlp.Signal]protowire.Number{otlp.Logs: 2, otlp.Traces: 2, otlp.Metrics: 1}[s], m)
	}
	if s == otlp.Metrics {
		items = field(nil, 2, field(nil, protowire.Number(otlp.Gauge), items))
	}
	r := walk(t, s, field(nil, 1, field(nil, 2, items)))
	if len(r.Items) != len(messages) {
		t.Fatalf("%d items of %d messages: %s", len(r.Items), len(messages), r.RejectReason)
	}
	return r
}

// TestRepeatedFields: of a field that occurs twice the last counts, messages
// are merged, and whatever the order of fields the columns say the same.
func TestRepeatedFields(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range otlp.Signals {
		t.Run(s.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, uint64(s)))
			var messages [][]byte
			for range 200 {
				var raw []byte
				for range 1 + rng.IntN(3) {
					m := message(t, s, nil, nil)
					random(rng).fill(m.ProtoReflect(), 3)
					part, err := proto.Marshal(m)
					if err != nil {
						t.Fatal(err)
					}
					raw = append(raw, part...)
				}
				messages = append(messages, raw)
			}
			r := handMade(t, s, messages...)
			want := itemsOf([]*otlp.Request{r})
			b := build([]*otlp.Request{r})
			check(t, "built", s, want, b.Block())
			slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.time, b.time) })
			var blocks []*block.Block
			for _, encoded := range encode(t, b) {
				blocks = append(blocks, open(t, encoded))
			}
			check(t, "encoded", s, want, blocks...)
		})
	}
}

// TestOddMessages lists what random messages hardly come to.
func TestOddMessages(t *testing.T) {
	status := func(parts ...string) []byte {
		var b []byte
		b = append(b, "\x0a\x10tttttttttttttttt\x12\x08ssssssss"...)
		for _, p := range parts {
			b = append(append(b, 0x7a, byte(len(p))), p...)
		}
		return b
	}
	for _, c := range []struct {
		name    string
		signal  otlp.Signal
		message []byte
	}{
		{"empty log", otlp.Logs, nil},
		{"empty body", otlp.Logs, []byte("\x2a\x00")},
		{"empty text as body", otlp.Logs, []byte("\x2a\x02\x0a\x00")},
		{"body twice", otlp.Logs, []byte("\x2a\x03\x0a\x01a\x2a\x03\x0a\x01b")},
		{"lists as body twice", otlp.Logs, []byte("\x2a\x07\x2a\x05\x0a\x03\x0a\x01a\x2a\x07\x2a\x05\x0a\x03\x0a\x01b")},
		{"explicit zeros", otlp.Logs, []byte("\x10\x00\x1a\x00\x09\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"negative severity", otlp.Logs, []byte("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
		{"group", otlp.Logs, []byte("\xa3\x06\x08\x01\xa4\x06")},
		{"attribute without all", otlp.Logs, []byte("\x32\x00")},
		{"attribute without value", otlp.Logs, []byte("\x32\x03\x0a\x01k")},
		{"attribute without key", otlp.Logs, []byte("\x32\x05\x12\x03\x0a\x01v")},
		{"attribute with an empty value", otlp.Logs, []byte("\x32\x05\x0a\x01k\x12\x00")},
		{"attribute with two values", otlp.Logs, []byte("\x32\x0c\x12\x02\x10\x01\x0a\x01k\x12\x03\x0a\x01v")},
		{"attribute with two keys", otlp.Logs, []byte("\x32\x0b\x0a\x01k\x0a\x01l\x12\x03\x0a\x01v")},
		{"odd attributes among others", otlp.Logs, []byte("\x32\x08\x0a\x01k\x12\x03\x0a\x01v" +
			"\x32\x03\x0a\x01k\x32\x08\x0a\x01k\x12\x03\x0a\x01w\x32\x05\x0a\x01l\x12\x00\x32\x03\x0a\x01k")},
		{"no status", otlp.Traces, status()},
		{"empty status", otlp.Traces, status("")},
		{"status", otlp.Traces, status("\x12\x01m\x18\x02")},
		{"status twice", otlp.Traces, status("\x12\x01m\x18\x02", "\x18\x01")},
		{"status with an unknown field", otlp.Traces, status("\x12\x01m\x48\x07\x18\x02", "\x18\x00\x48\x08")},
		{"point without value", otlp.Metrics, []byte("\x19\x01\x00\x00\x00\x00\x00\x00\x00")},
		{"point with two values", otlp.Metrics, []byte("\x19\x01\x00\x00\x00\x00\x00\x00\x00" +
			"\x31\x01\x00\x00\x00\x00\x00\x00\x00\x21\x00\x00\x00\x00\x00\x00\x00\x00")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := handMade(t, c.signal, c.message)
			want := itemsOf([]*otlp.Request{r})
			b := build([]*otlp.Request{r})
			check(t, "built", c.signal, want, b.Block())
			check(t, "encoded", c.signal, want, open(t, encode(t, b)[0]))
		})
	}
}

// TestTimeOfItemWins: the column Time is what the request says of the item, and
// the message keeps what it says itself.
func TestTimeOfItemWins(t *testing.T) {
	for _, start := range []uint64{0, 5} {
		sent := &tracepb.Span{TraceId: bytes.Repeat([]byte{1}, 16), SpanId: bytes.Repeat([]byte{1}, 8), StartTimeUnixNano: start}
		raw, err := proto.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		r := handMade(t, otlp.Traces, raw)
		r.Items[0].TimeUnixNano = 7
		b := build([]*otlp.Request{r})
		for _, b := range []*block.Block{b.Block(), open(t, encode(t, b)[0])} {
			if times, err := b.Times(); err != nil || times[0] != 7 || b.MinTime != 7 || b.MaxTime != 7 {
				t.Errorf("Times() = %v, %v of block %d..%d, want 7", times, err, b.MinTime, b.MaxTime)
			}
			got, err := b.AppendMessage(nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := diffMessages(t, sent, message(t, otlp.Traces, nil, got)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		}
	}
}

// TestManyKeys: keys beyond those that get columns are found all the same.
func TestManyKeys(t *testing.T) {
	var messages [][]byte
	for i := range 2000 {
		m := &logspb.LogRecord{TimeUnixNano: uint64(i + 1)}
		for _, key := range []string{"common", fmt.Sprint("k", i), fmt.Sprint("k", i/2)} {
			m.Attributes = append(m.Attributes, stringAttribute(key, fmt.Sprint("v", i)))
		}
		raw, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, raw)
	}
	r := handMade(t, otlp.Logs, messages...)
	want := itemsOf([]*otlp.Request{r})
	b := build([]*otlp.Request{r})
	check(t, "built", otlp.Logs, want, b.Block())
	check(t, "encoded", otlp.Logs, want, open(t, encode(t, b)[0]))
}

// TestBuiltBlockIsShared reads a block of a builder from several goroutines;
// the race detector does the checking.
func TestBuiltBlockIsShared(t *testing.T) {
	for _, s := range otlp.Signals {
		rs := requests(t, rand.New(rand.NewPCG(11, uint64(s))), s, 3)
		b := build(rs).Block()
		want := dump(t, b)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if got := dump(t, b); got != want {
					t.Errorf("%v: two readers of one block do not see the same", s)
				}
			})
		}
		wg.Wait()
	}
}

func TestAttributeOfNoRow(t *testing.T) {
	b := build([]*otlp.Request{handMade(t, otlp.Logs, []byte("\x32\x08\x0a\x01k\x12\x03\x0a\x01v"))})
	for _, b := range []*block.Block{b.Block(), open(t, encode(t, b)[0])} {
		if column, err := b.Attribute("nothing"); column != nil || err != nil {
			t.Errorf("Attribute(nothing) = %v, %v, want nil, nil", column, err)
		}
	}
}

func TestColumnsOfOtherSignalsAreRefused(t *testing.T) {
	b := build([]*otlp.Request{handMade(t, otlp.Logs, nil)}).Block()
	if v, err := b.Uints(block.EndTime); err == nil {
		t.Errorf("Uints(EndTime) of logs = %v, want an error", v)
	}
	if v, err := b.Dict(block.Time); err == nil {
		t.Errorf("Dict(Time) = %v, want an error", v)
	}
	if v, err := b.Strings(block.Attributes); err == nil {
		t.Errorf("Strings(Attributes) = %v, want an error", v)
	}
	if v, err := b.Uints(200); err == nil {
		t.Errorf("Uints(200) = %v, want an error", v)
	}
}

func TestEncodeReturnsErrorOfEmit(t *testing.T) {
	want := errors.New("disk full")
	b := build([]*otlp.Request{logsAt(t, 1, 1e18)})
	calls := 0
	err := b.Encode(func(block.Header, []byte) error { calls++; return want })
	if !errors.Is(err, want) || calls != 1 {
		t.Errorf("Encode = %v after %d calls, want %v after one", err, calls, want)
	}
	if err := block.NewBuilder(otlp.Logs).Encode(func(block.Header, []byte) error { return want }); err != nil {
		t.Errorf("Encode of no rows = %v, want nil and no call", err)
	}
}
