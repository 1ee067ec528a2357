package otlp_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/protobuf/encoding/protowire"

	"sonde/storage/otlp"
)

// The fuzz targets hold Walk against pdata: both accept or refuse a payload, up
// to what the comment of Walk says, both count the same items, and each item
// decodes to what pdata reads in the whole.

func FuzzWalkLogs(f *testing.F) {
	seed(f, otlp.Logs)
	f.Add([]byte(inScope(field(2, msg(fixed64(1, 7), field(5, nested(3, true)), field(9, traceID), field(10, spanID))))))
	f.Add([]byte(field(1, msg(field(1000, field(2, varint(2, 9))), field(3, "u")))))
	f.Add([]byte(inScope(field(2, msg(field(5, str("a\xff")), field(9, "short"), group(77, varint(1, 2)))))))
	f.Fuzz(func(t *testing.T, payload []byte) { checkWalk(t, otlp.Logs, payload) })
}

func FuzzWalkTraces(f *testing.F) {
	seed(f, otlp.Traces)
	f.Add([]byte(inScope(field(2, goodIDs), field(2, field(1, traceID)))))
	f.Add([]byte(inScope(field(2, msg(goodIDs, field(4, "short"), field(11, field(2, "e")), field(13, goodIDs), field(15, varint(3, 2)))))))
	f.Fuzz(func(t *testing.T, payload []byte) { checkWalk(t, otlp.Traces, payload) })
}

func FuzzWalkMetrics(f *testing.F) {
	seed(f, otlp.Metrics)
	f.Add([]byte(inMetric(7, varint(2, 2), field(1, point(fixed64(6, 3), field(5, fixed64(6, 1)))), varint(3, 1))))
	f.Add([]byte(inMetric(10, field(1, point(varint(6, 3), field(8, field(2, "\x01\x02")))))))
	f.Add([]byte(inScope(field(2, msg(field(5, field(1, point())), field(9, field(1, point(fixed64(6, 1)))))))))
	f.Fuzz(func(t *testing.T, payload []byte) { checkWalk(t, otlp.Metrics, payload) })
}

func seed(f *testing.F, s otlp.Signal) {
	f.Add([]byte(nil))
	f.Add(fullRequests(f, 1)[s])
}

// onlyWalkRefuses are the faults that pdata overlooks.
var onlyWalkRefuses = []string{"group", "field number", "varint of more than 64 bits"}

func checkWalk(t *testing.T, s otlp.Signal, payload []byte) {
	sent := slices.Clone(payload)
	r, err := otlp.Walk(s, payload, arrival)
	if !bytes.Equal(sent, payload) {
		t.Fatalf("Walk wrote to the payload")
	}
	items, pdataErr := pdataItems(s, payload)
	if err != nil {
		known := slices.ContainsFunc(onlyWalkRefuses, func(s string) bool { return strings.Contains(err.Error(), s) })
		if pdataErr == nil && !known {
			t.Fatalf("Walk(%x) = %v, and pdata accepts it", payload, err)
		}
		if !errors.Is(err, otlp.ErrMalformed) && !errors.Is(err, otlp.ErrTooDeep) {
			t.Fatalf("Walk(%x) = %v, want ErrMalformed or ErrTooDeep", payload, err)
		}
		return
	}
	if pdataErr == nil && len(items) != len(r.Items)+r.Rejected {
		t.Fatalf("Walk(%x) found %d items and rejected %d, want %d together", payload, len(r.Items), r.Rejected, len(items))
	}
	if bytes.Equal(r.Payload, payload) && pdataErr != nil && !deep(pdataErr) {
		t.Fatalf("Walk accepts %x, and pdata says %v", payload, pdataErr)
	}
	checkKept(t, r)
}

// TestWalkMutated does a little of what the fuzz targets do, on full requests.
func TestWalkMutated(t *testing.T) {
	number := rand.Uint64()
	t.Logf("seed %d", number)
	r := rand.New(rand.NewPCG(number, 0))
	for signal, payload := range fullRequests(t, 1) {
		for range 2000 {
			mutant := slices.Clone(payload)
			for range 1 + r.IntN(4) {
				i := r.IntN(len(mutant))
				switch r.IntN(4) {
				case 0:
					mutant[i] = byte(r.Uint32())
				case 1:
					mutant[i] ^= 1 << r.IntN(8)
				case 2:
					mutant[i] = payload[r.IntN(len(payload))]
				case 3:
					mutant[i]--
				}
			}
			checkWalk(t, signal, mutant)
		}
	}
}

// checkKept checks what Walk has made of a payload.
func checkKept(t *testing.T, r *otlp.Request) {
	again := mustWalk(t, r.Signal, r.Payload)
	if !bytes.Equal(again.Payload, r.Payload) || len(again.Items) != len(r.Items) || again.Rejected != 0 {
		t.Fatalf("Walk(%x), which Walk has made, rejects %d and keeps %d items of %d in %x",
			r.Payload, again.Rejected, len(again.Items), len(r.Items), again.Payload)
	}
	var used [3]map[uint32]bool
	for i := range used {
		used[i] = make(map[uint32]bool)
	}
	items, err := pdataItems(r.Signal, r.Payload)
	if err != nil && !deep(err) {
		t.Fatalf("pdata cannot read %x, which Walk has made: %v", r.Payload, err)
	}
	for i, item := range r.Items {
		got := decodeItem(t, r, item)
		if err == nil && !bytes.Equal(got, items[i]) {
			t.Fatalf("item %d of %x decodes to %x, want %x", i, r.Payload, got, items[i])
		}
		used[0][item.Resource], used[1][item.Scope], used[2][item.Metric] = true, true, true
	}
	if r.Signal != otlp.Metrics {
		clear(used[2])
	}
	for i, list := range [][][]byte{r.Resources, r.Scopes, r.Metrics} {
		if len(used[i]) != len(list) {
			t.Fatalf("%d of the envelopes %x of %x have items", len(used[i]), list, r.Payload)
		}
	}
}

// deep tells whether pdata refused a payload for its depth, which is less than
// what Walk allows.
func deep(err error) bool { return strings.Contains(err.Error(), "recursion depth") }

// pdataItems decodes a request with pdata and returns each item as a request of
// its own.
func pdataItems(s otlp.Signal, payload []byte) ([][]byte, error) {
	payload = renameDeprecated(payload)
	switch s {
	case otlp.Logs:
		return pdataLogs(payload)
	case otlp.Traces:
		return pdataSpans(payload)
	}
	return pdataPoints(payload)
}

func pdataLogs(payload []byte) (items [][]byte, err error) {
	request := plogotlp.NewExportRequest()
	if err := request.UnmarshalProto(payload); err != nil {
		return nil, err
	}
	for _, rl := range request.Logs().ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				one := plog.NewLogs()
				oneRL := one.ResourceLogs().AppendEmpty()
				rl.Resource().CopyTo(oneRL.Resource())
				oneRL.SetSchemaUrl(rl.SchemaUrl())
				oneSL := oneRL.ScopeLogs().AppendEmpty()
				sl.Scope().CopyTo(oneSL.Scope())
				oneSL.SetSchemaUrl(sl.SchemaUrl())
				record.CopyTo(oneSL.LogRecords().AppendEmpty())
				raw, err := (&plog.ProtoMarshaler{}).MarshalLogs(one)
				if err != nil {
					return nil, err
				}
				items = append(items, raw)
			}
		}
	}
	return items, nil
}

func pdataSpans(payload []byte) (items [][]byte, err error) {
	request := ptraceotlp.NewExportRequest()
	if err := request.UnmarshalProto(payload); err != nil {
		return nil, err
	}
	for _, rs := range request.Traces().ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				one := ptrace.NewTraces()
				oneRS := one.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(oneRS.Resource())
				oneRS.SetSchemaUrl(rs.SchemaUrl())
				oneSS := oneRS.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(oneSS.Scope())
				oneSS.SetSchemaUrl(ss.SchemaUrl())
				span.CopyTo(oneSS.Spans().AppendEmpty())
				raw, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(one)
				if err != nil {
					return nil, err
				}
				items = append(items, raw)
			}
		}
	}
	return items, nil
}

func pdataPoints(payload []byte) (items [][]byte, err error) {
	request := pmetricotlp.NewExportRequest()
	if err := request.UnmarshalProto(payload); err != nil {
		return nil, err
	}
	for _, rm := range request.Metrics().ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				for i := range pointCount(m) {
					one := pmetric.NewMetrics()
					oneRM := one.ResourceMetrics().AppendEmpty()
					rm.Resource().CopyTo(oneRM.Resource())
					oneRM.SetSchemaUrl(rm.SchemaUrl())
					oneSM := oneRM.ScopeMetrics().AppendEmpty()
					sm.Scope().CopyTo(oneSM.Scope())
					oneSM.SetSchemaUrl(sm.SchemaUrl())
					oneM := oneSM.Metrics().AppendEmpty()
					m.CopyTo(oneM)
					keepPoint(oneM, i)
					raw, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(one)
					if err != nil {
						return nil, err
					}
					items = append(items, raw)
				}
			}
		}
	}
	return items, nil
}

func pointCount(m pmetric.Metric) int {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return m.Gauge().DataPoints().Len()
	case pmetric.MetricTypeSum:
		return m.Sum().DataPoints().Len()
	case pmetric.MetricTypeHistogram:
		return m.Histogram().DataPoints().Len()
	case pmetric.MetricTypeExponentialHistogram:
		return m.ExponentialHistogram().DataPoints().Len()
	case pmetric.MetricTypeSummary:
		return m.Summary().DataPoints().Len()
	}
	return 0
}

// keepPoint removes all points of a metric but the one at index i.
func keepPoint(m pmetric.Metric, i int) {
	at := -1
	others := func() bool { at++; return at != i }
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		m.Gauge().DataPoints().RemoveIf(func(pmetric.NumberDataPoint) bool { return others() })
	case pmetric.MetricTypeSum:
		m.Sum().DataPoints().RemoveIf(func(pmetric.NumberDataPoint) bool { return others() })
	case pmetric.MetricTypeHistogram:
		m.Histogram().DataPoints().RemoveIf(func(pmetric.HistogramDataPoint) bool { return others() })
	case pmetric.MetricTypeExponentialHistogram:
		m.ExponentialHistogram().DataPoints().RemoveIf(func(pmetric.ExponentialHistogramDataPoint) bool { return others() })
	case pmetric.MetricTypeSummary:
		m.Summary().DataPoints().RemoveIf(func(pmetric.SummaryDataPoint) bool { return others() })
	}
}

// renameDeprecated gives scopes under the number of old their number of today.
// pdata reads the old ones only where there are no others; Walk reads both.
func renameDeprecated(payload []byte) []byte {
	return mapFields(payload, func(num protowire.Number, t protowire.Type, content []byte) []byte {
		if num != 1 || t != protowire.BytesType {
			return nil
		}
		resource, n := protowire.ConsumeBytes(content)
		if n < 0 {
			return nil
		}
		return field(1, mapFields(resource, func(num protowire.Number, t protowire.Type, content []byte) []byte {
			if num != 1000 || t != protowire.BytesType {
				return nil
			}
			return msg(tag(2, t), content)
		}))
	})
}

// mapFields replaces fields of a message by what f returns for them, where that
// is not nil. A malformed message stays as it is.
func mapFields(m []byte, f func(num protowire.Number, t protowire.Type, content []byte) []byte) []byte {
	var mapped []byte
	for rest := m; len(rest) > 0; {
		num, t, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return m
		}
		size := protowire.ConsumeFieldValue(num, t, rest[n:])
		if size < 0 {
			return m
		}
		if other := f(num, t, rest[n:n+size]); other != nil {
			mapped = append(mapped, other...)
		} else {
			mapped = append(mapped, rest[:n+size]...)
		}
		rest = rest[n+size:]
	}
	return mapped
}
