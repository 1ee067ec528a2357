package receiver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"sonde/receiver"
	"sonde/storage/otlp"
)

// newRequest returns an empty Export*ServiceRequest.
func newRequest(s otlp.Signal) proto.Message {
	switch s {
	case otlp.Logs:
		return new(collectorlogs.ExportLogsServiceRequest)
	case otlp.Traces:
		return new(collectortrace.ExportTraceServiceRequest)
	default:
		return new(collectormetrics.ExportMetricsServiceRequest)
	}
}

// TestNoFieldIsLost fills every field of OTLP, with every arm of every oneof,
// exports that and compares what the store gives back, from the head and from
// blocks.
func TestNoFieldIsLost(t *testing.T) {
	variants := map[string]filler{
		"values":         {},
		"zeros":          {zeros: true},
		"unknown fields": {unknown: true},
	}
	for name, variant := range variants {
		for _, signal := range otlp.Signals {
			t.Run(fmt.Sprint(name, "/", signal), func(t *testing.T) {
				s, store := caseServer(t, receiver.Options{})
				f := variant
				f.seen = map[protoreflect.FullName]bool{}
				request := newRequest(signal)
				f.fill(request.ProtoReflect(), 0)
				f.wantAll(t, request)

				body, err := proto.Marshal(request)
				if err != nil {
					t.Fatal(err)
				}
				answer, err := invoke(t.Context(), s.dial(t), signal, body)
				if err != nil || len(answer) != 0 {
					t.Fatalf("Export = %x, %v, want success of the whole", answer, err)
				}
				want := split(t, signal, body)
				if len(want) < 8 {
					t.Fatalf("the request has only %d items", len(want))
				}
				wantItems(t, "head", readBack(t, store, signal), want)
				waitCompacted(t, store)
				wantItems(t, "blocks", readBack(t, store, signal), want)
			})
		}
	}
}

// filler fills messages by reflection.
type filler struct {
	zeros   bool // optional fields and arms of a oneof are set to zero
	unknown bool // messages get a field that OTLP doesn't have
	n       uint64
	seen    map[protoreflect.FullName]bool
}

// deepest is how far values nest in values; beyond, a value is a scalar.
const deepest = 3

// fill sets every field of a message. Where fields exclude each other the
// caller makes a message for each arm; alone, a message gets the next arm.
func (f *filler) fill(m protoreflect.Message, depth int) {
	f.n++
	f.fillArms(m, int(f.n), depth)
}

// fillArms is fill with the given arm, modulo their number, of each oneof.
func (f *filler) fillArms(m protoreflect.Message, arm, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if one := field.ContainingOneof(); one != nil && !one.IsSynthetic() && one.Fields().Get(f.arm(one, arm, depth)) != field {
			continue
		}
		f.seen[field.FullName()] = true
		switch {
		case field.IsList() && field.Message() != nil:
			f.fillList(m.Mutable(field).List(), field, depth)
		case field.IsList():
			list := m.Mutable(field).List()
			for range 3 {
				list.Append(f.scalar(field))
			}
		case field.Message() != nil:
			f.fill(m.Mutable(field).Message(), depth+f.step(m))
		case f.zeros && field.HasPresence():
			m.Set(field, field.Default())
		default:
			m.Set(field, f.scalar(field))
		}
	}
	if f.unknown {
		unknown := protowire.AppendTag(nil, 9999, protowire.BytesType)
		m.SetUnknown(protowire.AppendString(unknown, fmt.Sprint("new ", f.n)))
	}
}

// fillList appends a message for each arm, at least two.
func (f *filler) fillList(list protoreflect.List, field protoreflect.FieldDescriptor, depth int) {
	n := 2
	for i := range field.Message().Oneofs().Len() {
		n = max(n, field.Message().Oneofs().Get(i).Fields().Len())
	}
	// Key-values have no oneof, their values do; log records likewise.
	if inner := field.Message().Fields().ByName("value"); inner != nil && inner.Message() != nil || field.Name() == "log_records" {
		n = 8
	}
	if depth >= deepest-1 {
		n = min(n, 2)
	}
	for i := range n {
		f.fillArms(list.AppendMutable().Message(), i, depth)
	}
}

// arm picks one of a oneof; where values nest deep enough a scalar.
func (f *filler) arm(one protoreflect.OneofDescriptor, arm, depth int) int {
	n := one.Fields().Len()
	for i := range n {
		pick := (arm + i) % n
		if depth < deepest || one.Fields().Get(pick).Message() == nil {
			return pick
		}
	}
	panic("no scalar in " + one.FullName())
}

// step is 1 where a message is one level of nested values.
func (f *filler) step(m protoreflect.Message) int {
	if m.Descriptor().Name() == "AnyValue" {
		return 1
	}
	return 0
}

// scalar returns a value that no other field has, as far as its type allows.
func (f *filler) scalar(field protoreflect.FieldDescriptor) protoreflect.Value {
	f.n++
	n := f.n
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(1 + n%4))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(-int32(n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(1<<31 + uint32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(-1<<62 + int64(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(1<<60 + n)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(n) + 0.5)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n) + 0.5)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprintf("text %d ä€😀", n))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(f.bytes(string(field.Name())))
	}
	panic("no value for " + field.FullName())
}

// bytes returns a valid id where a field is one.
func (f *filler) bytes(name string) []byte {
	b := []byte(fmt.Sprintf("%016x", f.n))
	if strings.HasSuffix(name, "span_id") {
		return b[8:]
	}
	return b
}

// wantAll fails when a field that can be reached from a request was not filled,
// such as one that a new version of OTLP brings in a way that filler doesn't
// know.
func (f *filler) wantAll(t *testing.T, request proto.Message) {
	t.Helper()
	var missing []string
	visited := map[protoreflect.FullName]bool{}
	var visit func(protoreflect.MessageDescriptor)
	visit = func(m protoreflect.MessageDescriptor) {
		if visited[m.FullName()] {
			return
		}
		visited[m.FullName()] = true
		for i := range m.Fields().Len() {
			field := m.Fields().Get(i)
			if !f.seen[field.FullName()] {
				missing = append(missing, string(field.FullName()))
			}
			if field.Message() != nil {
				visit(field.Message())
			}
		}
	}
	visit(request.ProtoReflect().Descriptor())
	if len(missing) > 0 {
		slices.Sort(missing)
		t.Fatalf("fields not filled: %v", missing)
	}
	if len(visited) < 8 {
		t.Fatalf("only %d messages visited", len(visited))
	}
}
