package otlp_test

import (
	"bytes"
	"slices"
	"testing"

	"sonde/storage/otlp"
)

// point is a NumberDataPoint with a time.
func point(fields ...wire) wire { return msg(fixed64(3, 5), msg(fields...)) }

// TestWalkRules has a line for each thing that a rule changes: the item that is
// sent and the one that is kept.
func TestWalkRules(t *testing.T) {
	zero16, zero8 := make([]byte, 16), make([]byte, 8)
	keyValue := func(key, value string) wire { return msg(field(1, key), field(2, field(1, value))) }
	for _, tt := range []struct {
		name       string
		signal     otlp.Signal
		sent, kept wire
	}{
		{"log, trace id of zeros", otlp.Logs, msg(fixed64(1, 5), field(9, zero16), field(10, spanID)), msg(fixed64(1, 5), field(10, spanID))},
		{"log, span id of zeros", otlp.Logs, msg(field(9, traceID), field(10, zero8)), field(9, traceID)},
		{"log, trace id of 15 bytes", otlp.Logs, msg(field(9, traceID[:15]), varint(2, 9)), varint(2, 9)},
		{"log, span id of 16 bytes", otlp.Logs, msg(field(10, traceID), varint(2, 9)), varint(2, 9)},
		{"log, both ids empty", otlp.Logs, msg(field(9, ""), field(10, "")), msg(field(9, ""), field(10, ""))},
		{"log, body not UTF-8", otlp.Logs, field(5, field(1, "a\xff\xfeb")), field(5, field(1, "a\ufffd\ufffdb"))},
		{"log, body cut in a rune", otlp.Logs, field(5, field(1, "\xe2\x82")), field(5, field(1, "\ufffd\ufffd"))},
		{"log, surrogate", otlp.Logs, field(3, "\xed\xa0\x80"), field(3, "\ufffd\ufffd\ufffd")},
		{"log, key not UTF-8", otlp.Logs, field(6, keyValue("k\x80", "v")), field(6, keyValue("k\ufffd", "v"))},
		{"log, nested value not UTF-8", otlp.Logs, field(5, field(6, field(1, keyValue("k", "\xc0")))), field(5, field(6, field(1, keyValue("k", "\ufffd"))))},
		{"log, bytes stay", otlp.Logs, msg(field(5, field(7, "\xff")), field(9, zero16)), field(5, field(7, "\xff"))},
		{"log, unknown fields stay", otlp.Logs, msg(field(99, "\xff"), field(9, zero16), fixed32(98, 1)), msg(field(99, "\xff"), fixed32(98, 1))},
		{"log, group goes", otlp.Logs, msg(varint(2, 1), group(99, varint(1, 1), group(98, field(3, "x"))), varint(7, 1)), msg(varint(2, 1), varint(7, 1))},
		{"log, NUL and U+2028 stay", otlp.Logs, field(3, "\x00\u2028\x1b"), field(3, "\x00\u2028\x1b")},

		{"span, parent of zeros", otlp.Traces, msg(goodIDs, field(4, zero8)), goodIDs},
		{"span, parent of 7 bytes", otlp.Traces, msg(goodIDs, field(4, spanID[:7])), goodIDs},
		{"span, parent empty", otlp.Traces, msg(goodIDs, field(4, "")), msg(goodIDs, field(4, ""))},
		{"span, link ids of a wrong width", otlp.Traces, msg(goodIDs, field(13, msg(field(1, spanID), field(2, traceID), field(3, "state")))), msg(goodIDs, field(13, field(3, "state")))},
		{"span, link good", otlp.Traces, msg(goodIDs, field(13, goodIDs)), msg(goodIDs, field(13, goodIDs))},
		{"span, event name not UTF-8", otlp.Traces, msg(goodIDs, field(11, field(2, "\xff"))), msg(goodIDs, field(11, field(2, "\ufffd")))},

		{"point, exemplar ids of a wrong width", otlp.Metrics, point(field(5, msg(field(4, traceID), field(5, spanID), fixed64(6, 1)))), point(field(5, fixed64(6, 1)))},
		{"point, no recorded value", otlp.Metrics, point(varint(8, 1)), point(varint(8, 1))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			request := map[otlp.Signal]func(wire) wire{
				otlp.Logs:    func(w wire) wire { return inScope(field(2, w)) },
				otlp.Traces:  func(w wire) wire { return inScope(field(2, w)) },
				otlp.Metrics: func(w wire) wire { return inMetric(5, field(1, w)) },
			}[tt.signal]
			sent, kept := request(tt.sent), request(tt.kept)
			before := slices.Clone(sent)
			r := mustWalk(t, tt.signal, sent)
			if !bytes.Equal(r.Payload, kept) {
				t.Errorf("Walk(%x) keeps %x, want %x", sent, r.Payload, kept)
			}
			if len(r.Items) != 1 || !bytes.Equal(r.Bytes(r.Items[0].Message), tt.kept) {
				t.Errorf("Walk(%x) finds %x, want %x", sent, messages(r), tt.kept)
			}
			if r.Rejected != 0 || r.RejectReason != "" {
				t.Errorf("Walk(%x) rejected %d (%q), want none", sent, r.Rejected, r.RejectReason)
			}
			if !bytes.Equal(sent, before) {
				t.Errorf("Walk wrote to the payload")
			}
			decodeItem(t, r, r.Items[0])
		})
	}
}

func TestWalkRejects(t *testing.T) {
	good := msg(goodIDs, field(5, "good"))
	spans := func(list ...wire) wire {
		var fields []wire
		for _, s := range list {
			fields = append(fields, field(2, s))
		}
		return inScope(fields...)
	}
	for _, tt := range []struct {
		name    string
		signal  otlp.Signal
		payload wire
		kept    int
		want    int
		reason  string
	}{
		{"span without ids", otlp.Traces, spans(field(5, "x"), good), 1, 1, "rejected spans: 1 without a valid trace id (16 bytes, not all zero)."},
		{"trace id of zeros", otlp.Traces, spans(msg(field(1, make([]byte, 16)), field(2, spanID)), good), 1, 1, "rejected spans: 1 without a valid trace id (16 bytes, not all zero)."},
		{"trace id of 8 bytes", otlp.Traces, spans(good, msg(field(1, spanID), field(2, spanID))), 1, 1, "rejected spans: 1 without a valid trace id (16 bytes, not all zero)."},
		{"trace id good, then bad", otlp.Traces, spans(msg(goodIDs, field(1, "x")), good), 1, 1, "rejected spans: 1 without a valid trace id (16 bytes, not all zero)."},
		{"span id of zeros", otlp.Traces, spans(good, msg(field(1, traceID), field(2, make([]byte, 8)))), 1, 1, "rejected spans: 1 without a valid span id (8 bytes, not all zero)."},
		{"span id empty", otlp.Traces, spans(good, msg(field(1, traceID), field(2, ""))), 1, 1, "rejected spans: 1 without a valid span id (8 bytes, not all zero)."},
		{"one of each", otlp.Traces, spans(good, field(1, traceID), good, field(2, spanID), nil), 2, 3,
			"rejected spans: 2 without a valid trace id (16 bytes, not all zero), 1 without a valid span id (8 bytes, not all zero)."},
		{"point without time", otlp.Metrics, inMetric(5, field(1, fixed64(6, 1)), field(1, point())), 1, 1, "rejected data points: 1 with a time of 0."},
		{"histogram of time 0", otlp.Metrics, inMetric(9, field(1, fixed64(3, 0))), 0, 1, "rejected data points: 1 with a time of 0."},
		{"exponential histogram without time", otlp.Metrics, inMetric(10, field(1, "")), 0, 1, "rejected data points: 1 with a time of 0."},
		{"summary without time", otlp.Metrics, inMetric(11, field(1, ""), field(1, "")), 0, 2, "rejected data points: 2 with a time of 0."},
		{"overwritten kind does not count", otlp.Metrics, inScope(field(2, msg(field(5, field(1, "")), field(7, field(1, point()))))), 1, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustWalk(t, tt.signal, tt.payload)
			if len(r.Items) != tt.kept || r.Rejected != tt.want || r.RejectReason != tt.reason {
				t.Errorf("Walk(%x) kept %d and rejected %d, %q; want %d and %d, %q",
					tt.payload, len(r.Items), r.Rejected, r.RejectReason, tt.kept, tt.want, tt.reason)
			}
			again := mustWalk(t, tt.signal, r.Payload)
			if again.Rejected != 0 || len(again.Items) != tt.kept {
				t.Errorf("Walk of what Walk kept rejects %d and keeps %d, want 0 and %d", again.Rejected, len(again.Items), tt.kept)
			}
			for _, item := range r.Items {
				decodeItem(t, r, item)
			}
		})
	}
}

func TestItemTime(t *testing.T) {
	for _, tt := range []struct {
		name    string
		signal  otlp.Signal
		payload wire
		want    uint64
	}{
		{"log time", otlp.Logs, inScope(field(2, msg(fixed64(11, 8), fixed64(1, 7)))), 7},
		{"log observed", otlp.Logs, inScope(field(2, msg(fixed64(11, 8), fixed64(1, 0)))), 8},
		{"log arrival", otlp.Logs, inScope(field(2, msg(fixed64(11, 0), field(3, "INFO")))), arrival},
		{"last of a repeated time", otlp.Logs, inScope(field(2, msg(fixed64(1, 7), fixed64(1, 9)))), 9},
		{"event time does not matter", otlp.Traces, inScope(field(2, msg(goodIDs, fixed64(7, 5), fixed64(8, 6), field(11, fixed64(1, 4))))), 5},
		{"span without start", otlp.Traces, inScope(field(2, goodIDs)), 0},
		{"exemplar time does not matter", otlp.Metrics, inMetric(5, field(1, msg(fixed64(2, 1), fixed64(3, 5), field(5, fixed64(2, 9))))), 5},
		{"far future", otlp.Metrics, inMetric(11, field(1, fixed64(3, 1<<64-1))), 1<<64 - 1},
	} {
		r := mustWalk(t, tt.signal, tt.payload)
		if len(r.Items) != 1 || r.Items[0].TimeUnixNano != tt.want {
			t.Errorf("%s: Walk = %+v, want one item at %d", tt.name, r.Items, tt.want)
		}
		if !bytes.Equal(r.Payload, tt.payload) {
			t.Errorf("%s: Walk changed the payload", tt.name)
		}
	}
}

func TestEnvelopes(t *testing.T) {
	resource, other := field(1, field(1, msg(field(1, "service.name"), field(2, field(1, "cart"))))), field(1, "")
	url := field(3, "https://example.com/schema")
	scope := field(1, field(1, "cart/http"))
	record := func(n uint64) wire { return field(2, fixed64(1, n)) }
	payload := msg(
		field(1, msg(resource, field(2, msg(scope, record(1), record(2), url)), url)), // parts on both sides
		field(1, msg(resource, url, field(2, msg(record(3))), field(2, scope))),       // equal resource, scope without items
		field(1, other), // resource without items
		field(1, field(2, msg(record(4), scope))), // nothing but scopes
	)
	r := mustWalk(t, otlp.Logs, payload)
	wantResources, wantScopes := []wire{msg(resource, url), nil}, []wire{msg(scope, url), nil, scope}
	wantItems := []struct{ resource, scope uint32 }{{0, 0}, {0, 0}, {0, 1}, {1, 2}}

	if !slices.EqualFunc(r.Resources, wantResources, func(a []byte, b wire) bool { return bytes.Equal(a, b) }) {
		t.Errorf("Resources = %x, want %x", r.Resources, wantResources)
	}
	if !slices.EqualFunc(r.Scopes, wantScopes, func(a []byte, b wire) bool { return bytes.Equal(a, b) }) {
		t.Errorf("Scopes = %x, want %x", r.Scopes, wantScopes)
	}
	for i, item := range r.Items {
		if item.Resource != wantItems[i].resource || item.Scope != wantItems[i].scope {
			t.Errorf("item %d is under resource %d and scope %d, want %+v", i, item.Resource, item.Scope, wantItems[i])
		}
	}
}

func TestMetricEnvelope(t *testing.T) {
	metadata := field(12, msg(field(1, "k"), field(2, field(1, "v"))))
	p := field(1, point())
	payload := inScope(
		field(2, msg(field(1, "a"), field(7, msg(varint(2, 2), p, p, varint(3, 1))), metadata)), // data not last
		field(2, msg(field(1, "b"), field(7, p), field(5, msg(p)))),                             // gauge overwrites sum
		field(2, field(1, "c")),            // no data
		field(2, field(5, "")),             // no points
		field(2, field(5, field(1, ""))),   // none that is kept
		field(2, msg(field(5, p))),         // no name
		field(2, msg(field(5, msg(p, p)))), // the same again
	)
	r := mustWalk(t, otlp.Metrics, payload)
	want := []wire{
		msg(field(1, "a"), metadata, field(7, msg(varint(2, 2), varint(3, 1)))),
		msg(field(1, "b"), field(5, "")),
		field(5, ""),
	}
	if !slices.EqualFunc(r.Metrics, want, func(a []byte, b wire) bool { return bytes.Equal(a, b) }) {
		t.Errorf("Metrics = %x, want %x", r.Metrics, want)
	}
	var of []uint32
	for _, item := range r.Items {
		of = append(of, item.Metric)
	}
	if wantOf := []uint32{0, 0, 1, 2, 2, 2}; !slices.Equal(of, wantOf) {
		t.Errorf("metrics of the items = %d, want %d", of, wantOf)
	}
	for i, kind := range []otlp.PointKind{otlp.Sum, otlp.Gauge, otlp.Gauge} {
		if got := otlp.MetricKind(r.Metrics[i]); got != kind {
			t.Errorf("MetricKind(%x) = %d, want %d", r.Metrics[i], got, kind)
		}
	}
}
