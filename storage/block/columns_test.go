package block_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// What the documentation of the columns says.
var (
	dictColumns = []block.Column{block.Resource, block.Scope, block.SeverityText, block.TraceID, block.Name,
		block.StatusMessage, block.Metric}
	stringColumns = []block.Column{block.Rest, block.Body, block.SpanID, block.ParentSpanID}
	columnsOf     = map[otlp.Signal][]block.Column{
		otlp.Logs: {block.Time, block.Resource, block.Scope, block.Rest, block.EventTime, block.ObservedTime, block.Severity,
			block.SeverityText, block.Body, block.BodyKind, block.TraceID, block.SpanID},
		otlp.Traces: {block.Time, block.Resource, block.Scope, block.Rest, block.TraceID, block.SpanID, block.ParentSpanID,
			block.Name, block.Kind, block.EndTime, block.StatusCode, block.StatusMessage},
		otlp.Metrics: {block.Time, block.Resource, block.Scope, block.Rest, block.Metric, block.StartTime, block.ValueKind,
			block.Value},
	}
)

// row is what the columns of a row say, all but Rest: a uint64 or a string each.
type row map[block.Column]any

// rowOf returns what the columns of an item must say.
func rowOf(w item, sent proto.Message) row {
	r := row{block.Time: w.time, block.Resource: string(w.resource), block.Scope: string(w.scope)}
	switch m := sent.(type) {
	case *logspb.LogRecord:
		r[block.EventTime] = m.TimeUnixNano
		r[block.ObservedTime] = m.ObservedTimeUnixNano
		r[block.Severity] = uint64(m.SeverityNumber)
		r[block.SeverityText] = m.SeverityText
		r[block.TraceID], r[block.SpanID] = string(m.TraceId), string(m.SpanId)
		r[block.BodyKind], r[block.Body] = bodyOf(m.Body)
	case *tracepb.Span:
		r[block.TraceID], r[block.SpanID], r[block.ParentSpanID] = string(m.TraceId), string(m.SpanId), string(m.ParentSpanId)
		r[block.Name], r[block.Kind], r[block.EndTime] = m.Name, uint64(m.Kind), m.EndTimeUnixNano
		r[block.StatusCode], r[block.StatusMessage] = uint64(m.GetStatus().GetCode()), m.GetStatus().GetMessage()
	case *metricspb.NumberDataPoint:
		r[block.ValueKind], r[block.Value] = uint64(block.ValueAbsent), uint64(0)
		switch v := m.Value.(type) {
		case *metricspb.NumberDataPoint_AsDouble:
			r[block.ValueKind], r[block.Value] = uint64(block.ValueDouble), math.Float64bits(v.AsDouble)
		case *metricspb.NumberDataPoint_AsInt:
			r[block.ValueKind], r[block.Value] = uint64(block.ValueInt), uint64(v.AsInt)
		}
	default:
		r[block.ValueKind], r[block.Value] = uint64(block.ValueAbsent), uint64(0)
	}
	if m, ok := sent.(interface{ GetStartTimeUnixNano() uint64 }); ok && w.metric != nil {
		r[block.Metric], r[block.StartTime] = string(w.metric), m.GetStartTimeUnixNano()
	}
	return r
}

func bodyOf(body *commonpb.AnyValue) (kind uint64, value string) {
	if body == nil {
		return block.BodyAbsent, ""
	}
	if v, ok := body.Value.(*commonpb.AnyValue_StringValue); ok && len(body.ProtoReflect().GetUnknown()) == 0 {
		return block.BodyString, v.StringValue
	}
	return block.BodyOther, body.String()
}

// attributesOf returns the values of an item's attributes by key, in order.
func attributesOf(t testing.TB, sent proto.Message) map[string][]string {
	t.Helper()
	m, ok := sent.(interface{ GetAttributes() []*commonpb.KeyValue })
	if !ok {
		t.Fatalf("%T has no attributes", sent)
	}
	out := map[string][]string{}
	for _, a := range m.GetAttributes() {
		out[a.Key] = append(out[a.Key], canonical(t, a.Value))
	}
	return out
}

// canonical is a text that equal values share; without a value it is that of
// an empty one.
func canonical(t testing.TB, v *commonpb.AnyValue) string {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// columnReader reads a block by its columns.
type columnReader struct {
	t testing.TB
	b *block.Block
}

func (c columnReader) value(column block.Column, row int) any {
	var v any
	var err error
	switch {
	case slices.Contains(dictColumns, column):
		var d *block.Dict
		if d, err = c.b.Dict(column); err == nil {
			v = string(d.At(row))
		}
	case slices.Contains(stringColumns, column):
		var s *block.Strings
		if s, err = c.b.Strings(column); err == nil {
			v = string(s.At(row))
		}
	default:
		var u []uint64
		if u, err = c.b.Uints(column); err == nil {
			v = u[row]
		}
	}
	if err != nil {
		c.t.Fatalf("column %d: %v", column, err)
	}
	return v
}

func (c columnReader) row(i int) row {
	r := row{}
	for _, column := range columnsOf[c.b.Signal] {
		if column != block.Rest {
			r[column] = c.value(column, i)
		}
	}
	if r[block.BodyKind] == uint64(block.BodyOther) {
		var v commonpb.AnyValue
		if err := proto.Unmarshal([]byte(r[block.Body].(string)), &v); err != nil {
			c.t.Fatal(err)
		}
		// A string with company is not BodyString, whatever its text.
		if kind, text := bodyOf(&v); kind == block.BodyString {
			r[block.BodyKind], r[block.Body] = kind, text
		} else {
			r[block.Body] = v.String()
		}
	}
	// Enums are 32 bits wide, whatever came over the wire.
	for _, column := range []block.Column{block.Severity, block.Kind, block.StatusCode} {
		if v, ok := r[column]; ok {
			r[column] = uint64(int32(v.(uint64)))
		}
	}
	return r
}

// attributes returns, for each row, its values by key.
func (c columnReader) attributes() []map[string][]string {
	rows := make([]map[string][]string, c.b.Rows)
	for i := range rows {
		rows[i] = map[string][]string{}
	}
	keys, err := c.b.AttributeKeys()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, key := range keys {
		column, err := c.b.Attribute(key)
		if err != nil {
			c.t.Fatal(err)
		}
		if column == nil || len(column.Rows) == 0 {
			c.t.Fatalf("no row has the key %q", key)
		}
		if column.Key != key || !slices.IsSorted(column.Rows) {
			c.t.Fatalf("Attribute(%q) = column of %q with rows %v", key, column.Key, column.Rows)
		}
		for i, at := range column.Rows {
			var v commonpb.AnyValue
			if err := proto.Unmarshal(column.Values.At(i), &v); err != nil {
				c.t.Fatal(err)
			}
			rows[at][key] = append(rows[at][key], canonical(c.t, &v))
		}
	}
	return rows
}

func stringAttribute(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

// readColumns reads every column of a block.
func readColumns(b *block.Block) (columns []any, err error) {
	for _, c := range columnsOf[b.Signal] {
		var v any
		switch {
		case slices.Contains(dictColumns, c):
			v, err = b.Dict(c)
		case slices.Contains(stringColumns, c):
			v, err = b.Strings(c)
		default:
			v, err = b.Uints(c)
		}
		if err != nil {
			return nil, err
		}
		columns = append(columns, v)
	}
	keys, err := b.AttributeKeys()
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	for _, key := range keys {
		column, err := b.Attribute(key)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
	}
	return columns, nil
}

// read returns all that a block says as one text, or the first error.
func read(b *block.Block) (string, error) {
	columns, err := readColumns(b)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%+v\n", b.Header)
	for _, column := range columns {
		fmt.Fprintf(&out, "%v\n", column)
	}
	for row := range b.Rows {
		message, err := b.AppendMessage(nil, row)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%x\n", message)
	}
	return out.String(), nil
}

// dump is read of a block that is sound.
func dump(t testing.TB, b *block.Block) string {
	t.Helper()
	text, err := read(b)
	if err != nil {
		t.Error(err)
	}
	return text
}
