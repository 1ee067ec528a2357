package block_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// logsAt returns a request with one log record at each time.
func logsAt(t testing.TB, times ...uint64) *otlp.Request {
	t.Helper()
	var messages [][]byte
	for _, at := range times {
		messages = append(messages, marshal(t, &logspb.LogRecord{TimeUnixNano: at}))
	}
	return handMade(t, otlp.Logs, messages...)
}

func TestEncodeCutsBlocks(t *testing.T) {
	const hour = uint64(time.Hour)
	var even, dust, gaps []uint64
	for i := range uint64(block.MaxRows*2 + 5) {
		even = append(even, 1000+i)
	}
	for i := range uint64(200) {
		dust = append(dust, (i+1)*2*hour)
	}
	gaps = dust[:64]
	for _, c := range []struct {
		name  string
		times []uint64
		want  []int // rows of each block
	}{
		{"full blocks and what is left", even, []int{block.MaxRows, block.MaxRows, 5}},
		{"one row", []uint64{7}, []int{1}},
		{"at a gap", []uint64{5, 6, 7, 7 + 2*hour, 8 + 2*hour}, []int{3, 2}},
		{"not at an hour", []uint64{5, 5 + hour}, []int{2}},
		{"at a nanosecond more", []uint64{5, 6 + hour}, []int{1, 1}},
		{"out of order", []uint64{9 * hour, 1, 2}, []int{2, 1}},
		{"strays from 1970 to the end of time", []uint64{1, math.MaxUint64}, []int{1, 1}},
		{"64 times a block", gaps, slices.Repeat([]int{1}, 64)},
		{"not into dust", dust, []int{200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			for _, encoded := range encode(t, build([]*otlp.Request{logsAt(t, c.times...)})) {
				b := open(t, encoded)
				got = append(got, b.Rows)
				times, err := b.Times()
				if err != nil {
					t.Fatal(err)
				}
				if !slices.IsSorted(times) || times[0] != b.MinTime || times[len(times)-1] != b.MaxTime {
					t.Errorf("times %d..%d of the header do not fit the rows", b.MinTime, b.MaxTime)
				}
			}
			if diff := gocmp.Diff(c.want, got); diff != "" {
				t.Errorf("rows of the blocks (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEncodeBoundsBytes: blocks end at 16 MiB of items, and an envelope counts
// in each block that refers to it.
func TestEncodeBoundsBytes(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 6<<20)
	var bodies [][]byte
	for i := range 5 {
		bodies = append(bodies, marshal(t, &logspb.LogRecord{TimeUnixNano: uint64(i + 1), SeverityText: string(big)}))
	}
	large := handMade(t, otlp.Logs, bodies...)

	many := handMade(t, otlp.Logs, slices.Repeat([][]byte{nil}, 6)...)
	many.Resources = nil
	for i := range many.Items {
		envelope := marshal(t, &logspb.ResourceLogs{SchemaUrl: fmt.Sprint(i, string(big))})
		many.Items[i].Resource = uint32(i)
		many.Resources = append(many.Resources, envelope)
	}
	for i, want := range [][]int{{2, 2, 1}, {2, 2, 2}} {
		r := []*otlp.Request{large, many}[i]
		var got []int
		err := build([]*otlp.Request{r}).Encode(func(h block.Header, _ []byte) error {
			got = append(got, h.Rows)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("case %d: rows of the blocks = %v, want %v", i, got, want)
		}
	}
}

// TestSectionHoldsLargestRecord: a record may be a whole request, and be three
// times as large once its bytes have become U+FFFD. Writing one of that size
// takes seconds and gigabytes, so only the bound is looked at.
func TestSectionHoldsLargestRecord(t *testing.T) {
	const request = 64 << 20
	if want := len("\uFFFD") * request; block.MaxSection < want {
		t.Errorf("a section holds %d bytes, want %d", block.MaxSection, want)
	}
}

func TestHeaderOfSpans(t *testing.T) {
	var messages [][]byte
	for i, end := range []uint64{1050, 1, 1900} { // the second ends before it starts: no duration
		messages = append(messages, marshal(t, &tracepb.Span{TraceId: bytes.Repeat([]byte{1}, 16),
			SpanId: bytes.Repeat([]byte{byte(i + 1)}, 8), StartTimeUnixNano: 1000, EndTimeUnixNano: end}))
	}
	r := handMade(t, otlp.Traces, messages...)
	want := block.Header{Signal: otlp.Traces, Rows: 3, MinTime: 1000, MaxTime: 1000, MaxDurationNano: 900}
	b := build([]*otlp.Request{r})
	if want.RawBytes = b.Block().RawBytes; want.RawBytes > len(r.Payload) || want.RawBytes < len(r.Payload)-8 {
		t.Errorf("RawBytes = %d of a payload of %d bytes", want.RawBytes, len(r.Payload))
	}
	if diff := gocmp.Diff(want, b.Block().Header); diff != "" {
		t.Errorf("header of a built block (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(want, open(t, encode(t, b)[0]).Header); diff != "" {
		t.Errorf("header of an encoded block (-want +got):\n%s", diff)
	}
}

func TestHeaderOfLogs(t *testing.T) {
	var messages [][]byte
	want := block.Header{Signal: otlp.Logs, MinTime: 1, MaxTime: 8}
	for i, c := range []struct {
		number    int32
		text      string
		effective uint8
	}{
		{9, "INFO", 9}, {9, "ERROR", 9}, {24, "", 24}, {0, "warn", 13}, {0, "warn", 13}, {0, "", 0}, {99, "fatal", 21}, {-1, "nothing", 0},
	} {
		messages = append(messages, marshal(t, &logspb.LogRecord{TimeUnixNano: uint64(i + 1),
			SeverityNumber: logspb.SeverityNumber(c.number), SeverityText: c.text}))
		want.Severities[c.effective]++
		want.Rows++
	}
	b := build([]*otlp.Request{handMade(t, otlp.Logs, messages...)})
	want.RawBytes = b.Block().RawBytes
	if diff := gocmp.Diff(want, b.Block().Header); diff != "" {
		t.Errorf("header of a built block (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(want, open(t, encode(t, b)[0]).Header); diff != "" {
		t.Errorf("header of an encoded block (-want +got):\n%s", diff)
	}
}

// A builder that was reset must encode as a new one does: nothing of the items,
// keys or dictionaries from before may show.
func TestResetBuilder(t *testing.T) {
	for _, sig := range otlp.Signals {
		t.Run(sig.String(), func(t *testing.T) {
			b := block.NewBuilder(sig)
			for seed := range uint64(20) {
				rs := requests(t, rand.New(rand.NewPCG(seed, 1)), sig, 1+int(seed)%7)
				if seed == 10 {
					rs = newCorpus(t, sig, 3*corpusBatch)
				}
				b.Reset()
				for _, r := range rs {
					b.Add(r)
				}
				got, want := encode(t, b), encode(t, build(rs))
				if !slices.EqualFunc(got, want, bytes.Equal) {
					t.Fatalf("seed %d: a reset builder gives other blocks than a new one", seed)
				}
			}
		})
	}
}

// Blocks come in order from all cores, and none after emit has failed.
func TestEncodeStopsAtError(t *testing.T) {
	b := build(newCorpus(t, otlp.Logs, 10*block.MaxRows))
	failed, calls := errors.New("full"), 0
	newest := uint64(0)
	err := b.Encode(func(h block.Header, _ []byte) error {
		if h.MinTime < newest {
			t.Errorf("block %d begins at %d, before %d, the end of the last", calls, h.MinTime, newest)
		}
		newest = h.MaxTime
		if calls++; calls == 3 {
			return failed
		}
		return nil
	})
	if !errors.Is(err, failed) || calls != 3 {
		t.Errorf("Encode gives error %v after %d calls, want %v after 3", err, calls, failed)
	}
}
