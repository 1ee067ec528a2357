package block_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"sonde/storage/otlp"
)

// filler fills messages of OTLP by reflection, so that a field that a later
// version adds is tested too.
type filler struct {
	*rand.Rand
	every   bool // set every field; else each by chance
	unknown bool // now and then add a field that OTLP does not have
}

// random is a filler that reaches all corners in the course of many messages.
func random(rng *rand.Rand) filler {
	return filler{rng, rng.IntN(4) == 0, rng.IntN(4) == 0}
}

// fill sets fields of m, which is depth messages below the request.
func (f filler) fill(m protoreflect.Message, depth int) {
	chosen := map[protoreflect.OneofDescriptor]protoreflect.FieldDescriptor{}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if o := field.ContainingOneof(); o != nil && !o.IsSynthetic() {
			if chosen[o] == nil {
				chosen[o] = o.Fields().Get(f.IntN(o.Fields().Len()))
			}
			if chosen[o] != field {
				continue
			}
		}
		// Values that nest themselves must come to an end.
		deep := depth > 9 && field.Kind() == protoreflect.MessageKind
		if deep || !f.every && !required(field) && f.IntN(3) == 0 {
			continue
		}
		if !field.IsList() {
			f.set(m, field, depth)
			continue
		}
		list := m.Mutable(field).List()
		for range f.elements(field) {
			if field.Kind() == protoreflect.MessageKind {
				f.fill(list.AppendMutable().Message(), depth+1)
			} else {
				list.Append(f.scalar(field))
			}
		}
	}
	if f.unknown && f.IntN(8) == 0 {
		m.SetUnknown(f.unknownField(m.GetUnknown()))
	}
}

// required reports whether an item without the field would be refused.
func required(field protoreflect.FieldDescriptor) bool {
	switch field.FullName() {
	case "opentelemetry.proto.trace.v1.Span.trace_id", "opentelemetry.proto.trace.v1.Span.span_id":
		return true
	}
	return field.Name() == "time_unix_nano" && field.ContainingMessage().ParentFile().Package() == "opentelemetry.proto.metrics.v1"
}

func (f filler) elements(field protoreflect.FieldDescriptor) int {
	switch field.Name() {
	case "log_records", "spans", "data_points":
		return 1 + f.IntN(12)
	}
	if f.every {
		return 1 + f.IntN(2)
	}
	return f.IntN(4)
}

func (f filler) set(m protoreflect.Message, field protoreflect.FieldDescriptor, depth int) {
	if field.Kind() == protoreflect.MessageKind {
		f.fill(m.Mutable(field).Message(), depth+1)
		return
	}
	m.Set(field, f.scalar(field))
}

func (f filler) scalar(field protoreflect.FieldDescriptor) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(f.text())
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(f.bytes(field))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(f.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(f.IntN(30) - 2))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(f.number())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind:
		return protoreflect.ValueOfInt32(int32(f.integer()))
	case protoreflect.Int64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(f.integer()))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(f.integer()))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(f.integer())
	case protoreflect.Fixed64Kind:
		if required(field) {
			return protoreflect.ValueOfUint64(f.time() | 1)
		}
		return protoreflect.ValueOfUint64(f.time())
	}
	panic("a kind of field that OTLP did not have: " + field.Kind().String())
}

func (f filler) text() string {
	return []string{"", "a", "checkout", "INFO", "grüße", "nul\x00text", "user.id", "http.route", "\u2028",
		"a much longer text that goes on for some time and then, after what seems an age, comes to its end, nearly"}[f.IntN(10)]
}

func (f filler) bytes(field protoreflect.FieldDescriptor) []byte {
	n := f.IntN(20)
	switch field.Name() {
	case "trace_id":
		n = 16
	case "span_id", "parent_span_id":
		n = 8
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(1 + f.IntN(3)) // few, so that ids repeat
	}
	return b
}

func (f filler) number() float64 {
	return []float64{0, math.Copysign(0, -1), 1, -2.5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, f.Float64()}[f.IntN(9)]
}

func (f filler) integer() uint64 {
	return []uint64{0, 1, 127, 128, math.MaxUint64, 1 << 63, 1 << 31, f.Uint64(), f.Uint64N(1000)}[f.IntN(9)]
}

// time is mostly within a minute, so that times repeat and do not ascend.
func (f filler) time() uint64 {
	if f.IntN(20) == 0 {
		return f.integer()
	}
	return 1_790_000_000_000_000_000 + f.Uint64N(600)*100_000_000
}

func (f filler) unknownField(b []byte) []byte {
	number := protowire.Number(15000 + f.IntN(3))
	switch f.IntN(4) {
	case 0:
		return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), f.Uint64())
	case 1:
		return protowire.AppendFixed32(protowire.AppendTag(b, number, protowire.Fixed32Type), f.Uint32())
	case 2:
		return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), f.text())
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), f.Uint64())
}

// data returns an empty message that is on the wire what an export request of
// the signal is.
func data(s otlp.Signal) proto.Message {
	switch s {
	case otlp.Logs:
		return &logspb.LogsData{}
	case otlp.Traces:
		return &tracepb.TracesData{}
	}
	return &metricspb.MetricsData{}
}

// request returns a random request, either as protobuf's own library writes it
// or as pdata does: the order of fields differs.
func (f filler) request(t testing.TB, s otlp.Signal) *otlp.Request {
	t.Helper()
	m := data(s)
	f.fill(m.ProtoReflect(), 0)
	payload, err := proto.Marshal(m)
	if err == nil && f.IntN(2) == 0 {
		payload, err = remarshal(s, payload)
	}
	if err != nil {
		t.Fatal(err)
	}
	return walk(t, s, payload)
}

func walk(t testing.TB, s otlp.Signal, payload []byte) *otlp.Request {
	t.Helper()
	r, err := otlp.Walk(s, payload, 1_790_000_000_000_000_000)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func remarshal(s otlp.Signal, payload []byte) ([]byte, error) {
	switch s {
	case otlp.Logs:
		v, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(payload)
		if err != nil {
			return nil, err
		}
		return (&plog.ProtoMarshaler{}).MarshalLogs(v)
	case otlp.Traces:
		v, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(payload)
		if err != nil {
			return nil, err
		}
		return (&ptrace.ProtoMarshaler{}).MarshalTraces(v)
	}
	v, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload)
	if err != nil {
		return nil, err
	}
	return (&pmetric.ProtoMarshaler{}).MarshalMetrics(v)
}

// requests returns n random requests.
func requests(t testing.TB, rng *rand.Rand, s otlp.Signal, n int) []*otlp.Request {
	t.Helper()
	var out []*otlp.Request
	for range n {
		out = append(out, random(rng).request(t, s))
	}
	return out
}
