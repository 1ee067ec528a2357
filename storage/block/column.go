package block

import "slices"

// Column names a column. Its number is part of the file format and never reused.
type Column uint8

// The columns. U: Uints, D: Dict, B: Bytes.
const (
	Time          Column = 1 + iota // U, all signals: Item.TimeUnixNano
	Resource                        // D, all signals: resource envelopes
	Scope                           // D, all signals: scope envelopes
	Attributes                      // all signals: read by Attribute and AppendMessage
	Rest                            // B, all signals: every field without a column, raw
	EventTime                       // U, logs: time_unix_nano as sent (0 when it was absent)
	ObservedTime                    // U, logs
	Severity                        // U, logs: severity_number as sent
	SeverityText                    // D, logs
	Body                            // B, logs: text of a string body; raw AnyValue of another
	BodyKind                        // U, logs: BodyAbsent, BodyString, BodyOther
	TraceID                         // D, logs and spans: 16 bytes or none
	SpanID                          // B, logs and spans: 8 bytes or none
	ParentSpanID                    // B, spans
	Name                            // D, spans
	Kind                            // U, spans
	EndTime                         // U, spans: end_time_unix_nano as sent
	StatusCode                      // U, spans
	StatusMessage                   // D, spans
	Metric                          // D, data points: metric envelopes
	StartTime                       // U, data points
	ValueKind                       // U, data points: ValueAbsent, ValueDouble, ValueInt
	Value                           // U, data points: the double's bits or the integer, two's complement
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

// reset forgets all values and keeps the memory.
func (s *Strings) reset() { s.Data, s.Ends = s.Data[:0], s.Ends[:0] }

func (s *Strings) append(v []byte) {
	s.Data = append(room(s.Data, len(v)), v...)
	s.Ends = append(room(s.Ends, 1), uint32(len(s.Data)))
}

// room makes room for n more elements, doubling what there is: append grows
// long slices by a quarter, which copies each byte of a column several times.
func room[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return slices.Grow(s, max(n, cap(s)))
}

// AttributeColumn holds the values of one attribute key.
type AttributeColumn struct {
	Key    string
	Rows   []uint32 // ascending; the rows that have the key (twice when they repeat it)
	Values Strings  // Values.At(i) is the raw AnyValue message of row Rows[i]
}
