package otlp_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"sonde/storage/otlp"
)

const arrival = 1796040000_000000007

func mustWalk(t testing.TB, s otlp.Signal, payload []byte) *otlp.Request {
	t.Helper()
	r, err := otlp.Walk(s, payload, arrival)
	if err != nil {
		t.Fatalf("Walk(%v, %x) = %v, want no error", s, payload, err)
	}
	return r
}

// messages returns the items of a request as bytes.
func messages(r *otlp.Request) [][]byte {
	var list [][]byte
	for _, item := range r.Items {
		list = append(list, r.Bytes(item.Message))
	}
	return list
}

func TestWalkWellFormed(t *testing.T) {
	record := fixed64(1, 7)
	for _, tt := range []struct {
		name    string
		signal  otlp.Signal
		payload wire
		want    []wire // the items
	}{
		{"nothing", otlp.Logs, nil, nil},
		{"empty resource", otlp.Logs, field(1, ""), nil},
		{"empty scope", otlp.Traces, inScope(), nil},
		{"empty record", otlp.Logs, inScope(field(2, "")), []wire{{}}},
		{"two records", otlp.Logs, inScope(field(2, record), field(2, "")), []wire{record, {}}},
		{"scope between records", otlp.Logs, inScope(field(2, record), field(1, field(1, "s")), field(2, "")), []wire{record, {}}},
		{"unknown fields at each level", otlp.Logs,
			msg(varint(7, 1), field(1, msg(fixed32(900, 5), field(2, msg(field(901, "x"), field(2, varint(4, 3))))))), []wire{varint(4, 3)}},
		{"tag of two bytes for a small number", otlp.Logs, inScope(field(2, wire{0x89, 0x00, 1, 2, 3, 4, 5, 6, 7, 8})), []wire{{0x89, 0x00, 1, 2, 3, 4, 5, 6, 7, 8}}},
		{"length in more bytes than needed", otlp.Logs, inScope(wire{0x12, 0x82, 0x00, 0x10, 0x01}), []wire{{0x10, 0x01}}},
		{"negative varint", otlp.Logs, inScope(field(2, varint(2, 1<<64-1))), []wire{varint(2, 1<<64-1)}},
		{"deprecated scope number", otlp.Logs, field(1, field(1000, field(2, record))), []wire{record}},
		{"gauge", otlp.Metrics, inMetric(5, field(1, fixed64(3, 1))), []wire{fixed64(3, 1)}},
		{"metric without data", otlp.Metrics, inScope(field(2, field(1, "m"))), nil},
		{"last data of a metric counts", otlp.Metrics,
			inScope(field(2, msg(field(5, field(1, fixed64(3, 1))), field(7, field(1, fixed64(3, 2)))))), []wire{fixed64(3, 2)}},
		{"packed counts", otlp.Metrics, inMetric(9, field(1, msg(fixed64(3, 1), field(6, make([]byte, 16))))),
			[]wire{msg(fixed64(3, 1), field(6, make([]byte, 16)))}},
		{"unpacked counts", otlp.Metrics, inMetric(9, field(1, msg(fixed64(3, 1), fixed64(6, 2), fixed64(6, 3), fixed64(7, 1)))),
			[]wire{msg(fixed64(3, 1), fixed64(6, 2), fixed64(6, 3), fixed64(7, 1))}},
		{"packed buckets", otlp.Metrics, inMetric(10, field(1, msg(fixed64(3, 1), field(8, field(2, "\x01\x80\x01"))))),
			[]wire{msg(fixed64(3, 1), field(8, field(2, "\x01\x80\x01")))}},
		{"unpacked buckets", otlp.Metrics, inMetric(10, field(1, msg(fixed64(3, 1), field(9, msg(varint(2, 1), varint(2, 300)))))),
			[]wire{msg(fixed64(3, 1), field(9, msg(varint(2, 1), varint(2, 300))))}},
		{"flags of a span", otlp.Traces, inScope(field(2, msg(goodIDs, fixed32(16, 257)))), []wire{msg(goodIDs, fixed32(16, 257))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustWalk(t, tt.signal, tt.payload)
			if len(tt.payload) > 0 && &r.Payload[0] != &tt.payload[0] {
				t.Errorf("Walk copied a payload that breaks no rule")
			}
			got := messages(r)
			if len(got) != len(tt.want) {
				t.Fatalf("Walk(%x) found %x, want %x", tt.payload, got, tt.want)
			}
			for i := range got {
				if !bytes.Equal(got[i], tt.want[i]) {
					t.Errorf("item %d of %x = %x, want %x", i, tt.payload, got[i], tt.want[i])
				}
			}
		})
	}
}

func TestWalkMalformed(t *testing.T) {
	for _, tt := range []struct {
		name    string
		signal  otlp.Signal
		payload wire
		want    string // in the error
	}{
		{"no such signal", 0, nil, "no such signal"},
		{"text", otlp.Logs, wire("{}"), "byte"},
		{"number for resource_logs", otlp.Logs, varint(1, 1), "resource_logs at byte 0: wrong wire type varint"},
		{"number for resource", otlp.Logs, field(1, varint(1, 1)), "resource_logs.resource at byte 2: wrong wire type varint"},
		{"number for log_records", otlp.Logs, inScope(fixed32(2, 1)), "resource_logs.scope_logs.log_records at byte 4: wrong wire type fixed32"},
		{"text for time", otlp.Logs, inScope(field(2, field(1, "x"))), "log_records.time_unix_nano at byte 6: wrong wire type length-delimited"},
		{"fixed64 for a string", otlp.Logs, inScope(field(2, fixed64(3, 1))), "log_records.severity_text at byte 6: wrong wire type fixed64"},
		{"varint for packed fixed64", otlp.Metrics, inMetric(9, field(1, varint(6, 1))), "histogram.data_points.bucket_counts"},
		{"fixed64 for packed varint", otlp.Metrics, inMetric(10, field(1, field(8, fixed64(2, 1)))), "positive.bucket_counts"},
		{"packed fixed64 of 7 bytes", otlp.Metrics, inMetric(9, field(1, field(6, "1234567"))), "not a multiple of 8"},
		{"packed varint cut off", otlp.Metrics, inMetric(10, field(1, field(8, field(2, "\x80")))), "cut off"},
		{"field number 0", otlp.Logs, wire{0x02, 0x00}, "invalid field number"},
		{"field number of 30 bits", otlp.Logs, msg(protowire.AppendVarint(nil, 1<<32|1), wire{0}), "invalid field number"},
		{"wire type 6", otlp.Logs, wire{0x2e}, "invalid wire type"},
		{"wire type 7 of a known field", otlp.Logs, inScope(field(2, wire{0x0f})), "log_records.time_unix_nano at byte 6: wrong wire type 7"},
		{"varint of 11 bytes", otlp.Logs, inScope(field(2, msg(tag(2, 0), wire("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")))), "varint of more than 64 bits"},
		{"varint of 65 bits", otlp.Logs, inScope(field(2, msg(tag(2, 0), wire("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02")))), "varint of more than 64 bits"},
		{"length of 2^63", otlp.Logs, msg(tag(1, 2), protowire.AppendVarint(nil, 1<<63)), "cut off"},
		{"length past its parent", otlp.Logs, msg(field(1, wire{0x0a, 0x05}), field(1, "")), "resource_logs.resource at byte 3: cut off"},
		{"end of no group", otlp.Logs, tag(9, protowire.EndGroupType), "end of a group that did not start"},
		{"group without end", otlp.Logs, tag(9, protowire.StartGroupType), "bad group: cut off"},
		{"group with another's end", otlp.Logs, msg(tag(9, protowire.StartGroupType), tag(8, protowire.EndGroupType)), "bad group: end of a group that did not start"},
		{"group for a known field", otlp.Logs, group(1), "resource_logs at byte 0: wrong wire type start of group"},
		{"malformed point of an overwritten kind", otlp.Metrics,
			inScope(field(2, msg(field(5, field(1, varint(3, 1))), field(7, "")))), "gauge.data_points.time_unix_nano"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := otlp.Walk(tt.signal, tt.payload, arrival)
			if !errors.Is(err, otlp.ErrMalformed) {
				t.Fatalf("Walk(%x) = %v, %v, want ErrMalformed", tt.payload, r, err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Walk(%x) = %q, want it to say %q", tt.payload, err, tt.want)
			}
		})
	}
}

// TestWalkMany has as many items and envelopes as there may be, and one more.
func TestWalkMany(t *testing.T) {
	times := func(n int, w wire) wire { return bytes.Repeat(w, n) }
	for name, within := range map[string]func(n int) wire{
		"records of a scope":    func(n int) wire { return inScope(times(n, field(2, ""))) },
		"records of two scopes": func(n int) wire { return msg(inScope(field(2, "")), inScope(times(n-1, field(2, "")))) },
		"scopes":                func(n int) wire { return field(1, times(n, field(2, ""))) },
		"resources":             func(n int) wire { return times(n, field(1, "")) },
	} {
		if _, err := otlp.Walk(otlp.Logs, within(otlp.MaxItems), arrival); err != nil {
			t.Errorf("Walk(%d %s) = %v, want no error", otlp.MaxItems, name, err)
		}
		if _, err := otlp.Walk(otlp.Logs, within(otlp.MaxItems+1), arrival); !errors.Is(err, otlp.ErrTooMany) {
			t.Errorf("Walk(%d %s) = %v, want ErrTooMany", otlp.MaxItems+1, name, err)
		}
	}
}

// TestWalkManyParts has as many messages in one place as there may be, and one
// more.
func TestWalkManyParts(t *testing.T) {
	times := func(n int, w wire) wire { return bytes.Repeat(w, n) }
	for name, within := range map[string]func(n int) wire{
		"attributes of a record":   func(n int) wire { return inScope(field(2, times(n, field(6, "")))) },
		"attributes of a resource": func(n int) wire { return field(1, msg(field(1, times(n-1, field(1, ""))), field(2, field(2, "")))) },
		"values of a body":         func(n int) wire { return inScope(field(2, field(5, field(5, times(n-1, field(1, "")))))) },
	} {
		if _, err := otlp.Walk(otlp.Logs, within(otlp.MaxParts), arrival); err != nil {
			t.Errorf("Walk(%d %s) = %v, want no error", otlp.MaxParts, name, err)
		}
		if _, err := otlp.Walk(otlp.Logs, within(otlp.MaxParts+1), arrival); !errors.Is(err, otlp.ErrTooMany) {
			t.Errorf("Walk(%d %s) = %v, want ErrTooMany", otlp.MaxParts+1, name, err)
		}
	}
}

// nested returns an AnyValue with depth arrays, or key-value lists, around a
// string.
func nested(depth int, array bool) wire {
	v := field(1, "core")
	for range depth {
		if array {
			v = field(5, field(1, v))
		} else {
			v = field(6, field(1, msg(field(1, "k"), field(2, v))))
		}
	}
	return v
}

func TestWalkDepth(t *testing.T) {
	for _, array := range []bool{true, false} {
		for name, within := range map[string]func(wire) wire{
			"body":      func(v wire) wire { return inScope(field(2, field(5, v))) },
			"attribute": func(v wire) wire { return inScope(field(2, field(6, msg(field(1, "k"), field(2, v))))) },
			"resource":  func(v wire) wire { return field(1, field(1, field(1, field(2, v)))) },
		} {
			if _, err := otlp.Walk(otlp.Logs, within(nested(otlp.MaxDepth, array)), arrival); err != nil {
				t.Errorf("Walk(%s nested %d deep) = %v, want no error", name, otlp.MaxDepth, err)
			}
			for _, depth := range []int{otlp.MaxDepth + 1, 2000} {
				_, err := otlp.Walk(otlp.Logs, within(nested(depth, array)), arrival)
				if !errors.Is(err, otlp.ErrTooDeep) {
					t.Errorf("Walk(%s nested %d deep) = %v, want ErrTooDeep", name, depth, err)
				}
				if err != nil && len(err.Error()) > 400 {
					t.Errorf("Walk(%s nested %d deep): error of %d bytes", name, depth, len(err.Error()))
				}
			}
		}
	}
}

// TestWalkTruncated cuts a request of each signal at every byte.
func TestWalkTruncated(t *testing.T) {
	for signal, payload := range fullRequests(t, 1) {
		mustWalk(t, signal, payload)
		for n := range len(payload) {
			cut := payload[:n:n]
			if n == 0 {
				continue // an empty request is one
			}
			if r, err := otlp.Walk(signal, cut, arrival); !errors.Is(err, otlp.ErrMalformed) {
				t.Fatalf("Walk(first %d of %d bytes of %v) = %v, %v, want ErrMalformed", n, len(payload), signal, r, err)
			}
		}
	}
}
