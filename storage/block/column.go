package block

import (
	"slices"

	"sonde/storage/otlp"
)

// Column names a column. Its number is part of the file format and never reused.
type Column uint8

// The columns, each with the kind of its values: U uints, D dictionary, S
// strings.
const (
	Time          Column = 1 + iota // U, all signals: Item.TimeUnixNano
	Resource                        // D, all signals: resource envelopes
	Scope                           // D, all signals: scope envelopes
	Attributes                      // all signals: read by Attribute and AppendMessage
	Rest                            // S, all signals: every field without a column, raw
	EventTime                       // U, logs: time_unix_nano as sent (0 when it was absent)
	ObservedTime                    // U, logs
	Severity                        // U, logs: severity_number as sent
	SeverityText                    // D, logs
	Body                            // S, logs: text of a string body; raw AnyValue of another
	BodyKind                        // U, logs: BodyAbsent, BodyString, BodyOther
	TraceID                         // D, logs and spans: 16 bytes or none
	SpanID                          // S, logs and spans: 8 bytes or none
	ParentSpanID                    // S, spans
	Name                            // D, spans
	Kind                            // U, spans
	EndTime                         // U, spans: end_time_unix_nano as sent
	StatusCode                      // U, spans
	StatusMessage                   // D, spans
	Metric                          // D, data points: metric envelopes
	StartTime                       // U, data points
	ValueKind                       // U, data points: ValueAbsent, ValueDouble, ValueInt
	Value                           // U, data points: the double's bits or the integer, two's complement
	columnEnd
)

// Values of the column BodyKind.
const (
	BodyAbsent = iota
	BodyString
	BodyOther
)

// Values of the column ValueKind. Histograms and summaries have ValueAbsent;
// their fields are in Rest.
const (
	ValueAbsent = iota
	ValueDouble
	ValueInt
)

// kind is what the values of a column are.
type kind uint8

const (
	uints kind = 1 + iota
	dict
	strs
)

// commonColumns are those of every block beside Attributes, itemColumns those
// that are filled from fields of a signal's items.
var (
	commonColumns = []Column{Time, Resource, Scope, Rest}
	logColumns    = []Column{EventTime, ObservedTime, Severity, SeverityText, Body, BodyKind, TraceID, SpanID}
	spanColumns   = []Column{TraceID, SpanID, ParentSpanID, Name, Kind, EndTime, StatusCode, StatusMessage}
	pointColumns  = []Column{StartTime, ValueKind, Value}
)

func itemColumns(s otlp.Signal) []Column {
	switch s {
	case otlp.Logs:
		return logColumns
	case otlp.Traces:
		return spanColumns
	default:
		return pointColumns
	}
}

// allColumns lists, by signal, the columns that a block has beside Attributes.
var allColumns = [...][]Column{
	otlp.Logs:    slices.Concat(commonColumns, logColumns),
	otlp.Traces:  slices.Concat(commonColumns, spanColumns),
	otlp.Metrics: slices.Concat(commonColumns, pointColumns, []Column{Metric}),
}

func columnsOf(s otlp.Signal) []Column { return allColumns[s] }

func (c Column) kind() kind {
	switch c {
	case Resource, Scope, SeverityText, TraceID, Name, StatusMessage, Metric:
		return dict
	case Rest, Body, SpanID, ParentSpanID:
		return strs
	default:
		return uints
	}
}

// Dict is a column of few distinct values.
type Dict struct {
	Values [][]byte // distinct, in no promised order
	Index  []uint32 // row -> index into Values
}

// At returns the value of a row.
func (d *Dict) At(row int) []byte { return d.Values[d.Index[row]] }

// Strings is a column of byte strings.
type Strings struct {
	Data []byte
	Ends []uint32 // row -> end of its value in Data
}

// At returns the value of a row.
func (s *Strings) At(row int) []byte {
	start := uint32(0)
	if row > 0 {
		start = s.Ends[row-1]
	}
	return s.Data[start:s.Ends[row]]
}

func (s *Strings) add(v []byte) {
	s.Data = append(s.Data, v...)
	s.Ends = append(s.Ends, uint32(len(s.Data)))
}

// AttributeColumn holds the values of one attribute key.
type AttributeColumn struct {
	Key    string
	Rows   []uint32 // ascending; the rows that have the key (twice when they repeat it)
	Values Strings  // Values.At(i) is the raw AnyValue message of row Rows[i]
}

// first returns the index of the row's first value, len(Rows) when it has none.
func (a *AttributeColumn) first(row uint32) int {
	i, found := slices.BinarySearch(a.Rows, row)
	if !found {
		return len(a.Rows)
	}
	return i
}
