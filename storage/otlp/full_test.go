package otlp_test

import (
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"sonde/storage/otlp"
)

// filler sets every field of a message, by reflection, each to another value.
type filler struct {
	lists  int // how long lists are, at the upper levels
	n      uint64
	oneofs map[protoreflect.FullName]int // how often each was filled
}

func (f *filler) next() uint64 { f.n++; return f.n }

func (f *filler) fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() && !f.takesTurn(o, fd, depth) {
			continue
		}
		if !fd.IsList() {
			m.Set(fd, f.value(fd, m.NewField(fd), depth))
			continue
		}
		list := m.Mutable(fd).List()
		for range f.length(fd, depth) {
			list.Append(f.value(fd, list.NewElement(), depth))
		}
	}
}

// takesTurn tells whether fd is the member of its oneof to set this time. Each
// gets its turn; deep inside values only those that end the nesting.
func (f *filler) takesTurn(o protoreflect.OneofDescriptor, fd protoreflect.FieldDescriptor, depth int) bool {
	turn := f.oneofs[o.FullName()] % o.Fields().Len()
	if fd.Index() == o.Fields().Get(o.Fields().Len()-1).Index() {
		f.oneofs[o.FullName()]++
	}
	if depth > 9 && o.Fields().Get(turn).Message() != nil {
		turn = 0
	}
	return o.Fields().Get(turn) == fd
}

func (f *filler) length(fd protoreflect.FieldDescriptor, depth int) int {
	switch {
	case fd.Name() == "metrics":
		return 5 * f.lists // each kind
	case depth > 7:
		return 1
	}
	return f.lists
}

func (f *filler) value(fd protoreflect.FieldDescriptor, v protoreflect.Value, depth int) protoreflect.Value {
	n := f.next()
	switch fd.Kind() {
	case protoreflect.MessageKind:
		f.fill(v.Message(), depth+1)
		return v
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(string(fd.Name()) + " é " + string(rune('a'+n%26)))
	case protoreflect.BytesKind:
		size := map[protoreflect.Name]int{"trace_id": 16, "span_id": 8, "parent_span_id": 8}[fd.Name()]
		b := make([]byte, max(size, 5))
		b[0], b[len(b)-1] = byte(n), byte(n>>8)|1
		return protoreflect.ValueOfBytes(b)
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n) + 0.25)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(1 + n%2))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind:
		return protoreflect.ValueOfInt32(-int32(n))
	case protoreflect.Int64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(-int64(n) << 32)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(n << 33)
	}
	panic("no value for " + fd.FullName())
}

// full returns m with every field of every message in it set, and lists of the
// given length.
func full[M proto.Message](m M, lists int) M {
	f := &filler{lists: lists, oneofs: make(map[protoreflect.FullName]int)}
	f.fill(m.ProtoReflect(), 0)
	values := (&commonpb.AnyValue{}).ProtoReflect().Descriptor().Oneofs().ByName("value")
	if turns := f.oneofs[values.FullName()]; lists >= fullLists && turns < values.Fields().Len() {
		panic("not every kind of value had its turn")
	}
	return m
}

// fullLists is a length of lists that gives every kind of value its turn.
const fullLists = 3

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// fullRequests returns a request of each signal with all that OTLP has, in one
// resource.
func fullRequests(t testing.TB, lists int) map[otlp.Signal][]byte {
	return map[otlp.Signal][]byte{
		otlp.Logs: marshal(t, &logspb.LogsData{
			ResourceLogs: []*logspb.ResourceLogs{full(&logspb.ResourceLogs{}, lists)}}),
		otlp.Traces: marshal(t, &tracepb.TracesData{
			ResourceSpans: []*tracepb.ResourceSpans{full(&tracepb.ResourceSpans{}, lists)}}),
		otlp.Metrics: marshal(t, &metricspb.MetricsData{
			ResourceMetrics: []*metricspb.ResourceMetrics{full(&metricspb.ResourceMetrics{}, lists)}}),
	}
}

// decodeItem decodes an item of a request and returns it as a request again.
func decodeItem(t testing.TB, r *otlp.Request, item otlp.Item) []byte {
	t.Helper()
	resource, scope, message := r.Resources[item.Resource], r.Scopes[item.Scope], r.Bytes(item.Message)
	var raw []byte
	var err error
	switch r.Signal {
	case otlp.Logs:
		var logs plog.Logs
		if logs, err = otlp.DecodeLog(resource, scope, message); err == nil {
			raw, err = (&plog.ProtoMarshaler{}).MarshalLogs(logs)
		}
	case otlp.Traces:
		var traces ptrace.Traces
		if traces, err = otlp.DecodeSpan(resource, scope, message); err == nil {
			raw, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
		}
	case otlp.Metrics:
		var metrics pmetric.Metrics
		if metrics, err = otlp.DecodePoint(resource, scope, r.Metrics[item.Metric], message); err == nil {
			raw, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(metrics)
		}
	}
	if err != nil {
		t.Fatalf("cannot decode item %+v of %v: %v", item, r.Signal, err)
	}
	return raw
}

// checkItems walks a request and compares each item, decoded under its
// envelopes, with the one of want at the same place.
func checkItems(t *testing.T, s otlp.Signal, payload []byte, want []proto.Message) {
	t.Helper()
	r := mustWalk(t, s, payload)
	if len(r.Items) != len(want) || r.Rejected != 0 {
		t.Fatalf("Walk found %d items and rejected %d, want %d and 0", len(r.Items), r.Rejected, len(want))
	}
	for i, item := range r.Items {
		got := want[i].ProtoReflect().New().Interface()
		if err := proto.Unmarshal(decodeItem(t, r, item), got); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(want[i], got) { // not cmp.Diff: values nested deeply take it forever
			t.Errorf("item %d of %v = %s, want %s", i, s, got, want[i])
		}
	}
}

func TestNothingIsLostLogs(t *testing.T) {
	rl := full(&logspb.ResourceLogs{}, fullLists)
	var want []proto.Message
	for _, sl := range rl.ScopeLogs {
		for _, record := range sl.LogRecords {
			want = append(want, &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
				Resource: rl.Resource, SchemaUrl: rl.SchemaUrl,
				ScopeLogs: []*logspb.ScopeLogs{{
					Scope: sl.Scope, SchemaUrl: sl.SchemaUrl, LogRecords: []*logspb.LogRecord{record},
				}},
			}}})
		}
	}
	checkItems(t, otlp.Logs, fullRequests(t, fullLists)[otlp.Logs], want)
}

func TestNothingIsLostTraces(t *testing.T) {
	rs := full(&tracepb.ResourceSpans{}, fullLists)
	var want []proto.Message
	for _, ss := range rs.ScopeSpans {
		for _, span := range ss.Spans {
			want = append(want, &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
				Resource: rs.Resource, SchemaUrl: rs.SchemaUrl,
				ScopeSpans: []*tracepb.ScopeSpans{{
					Scope: ss.Scope, SchemaUrl: ss.SchemaUrl, Spans: []*tracepb.Span{span},
				}},
			}}})
		}
	}
	checkItems(t, otlp.Traces, fullRequests(t, fullLists)[otlp.Traces], want)
}

func TestNothingIsLostMetrics(t *testing.T) {
	rm := full(&metricspb.ResourceMetrics{}, fullLists)
	var want []proto.Message
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			for i := range countPoints(m) {
				want = append(want, &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
					Resource: rm.Resource, SchemaUrl: rm.SchemaUrl,
					ScopeMetrics: []*metricspb.ScopeMetrics{{
						Scope: sm.Scope, SchemaUrl: sm.SchemaUrl, Metrics: []*metricspb.Metric{withPoint(m, i)},
					}},
				}}})
			}
		}
	}
	checkItems(t, otlp.Metrics, fullRequests(t, fullLists)[otlp.Metrics], want)
}

// points returns the list of data points of a metric.
func points(m *metricspb.Metric) protoreflect.List {
	r := m.ProtoReflect()
	data := r.Get(r.WhichOneof(r.Descriptor().Oneofs().ByName("data"))).Message()
	return data.Mutable(data.Descriptor().Fields().ByName("data_points")).List()
}

func countPoints(m *metricspb.Metric) int { return points(m).Len() }

// withPoint returns a copy of a metric with only its point i.
func withPoint(m *metricspb.Metric, i int) *metricspb.Metric {
	c := proto.Clone(m).(*metricspb.Metric)
	list := points(c)
	list.Set(0, list.Get(i))
	list.Truncate(1)
	return c
}
