package block

import (
	"errors"

	"sonde/storage/otlp"
)

// MaxRows is how many rows an encoded block holds at most. 8,192 is where the
// bytes a row stop falling and the time to decode a block starts to hurt.
const MaxRows = 8192

// ErrCorrupt: a checksum does not match or an encoding breaks its own rules.
var ErrCorrupt = errors.New("corrupt block")

// Column names a column. Its number is part of the file format.
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

// AttributeColumn holds the values of one attribute key.
type AttributeColumn struct {
	Key    string
	Rows   []uint32 // ascending; the rows that have the key (twice when they repeat it)
	Values Strings  // Values.At(i) is the raw AnyValue message of row Rows[i]
}

// Header says of a block what a query needs to skip it. All of it is kept in
// memory for every block of the store.
type Header struct {
	Signal           otlp.Signal
	Rows             int
	MinTime, MaxTime uint64     // of the column Time, both inclusive
	Severities       [25]uint32 // logs: rows by otlp.EffectiveSeverity; 0 for none of 1-24
	MaxDurationNano  uint64     // spans: longest end - start
	RawBytes         int        // protobuf bytes that came in for these rows
}

// Block is a set of rows in columns. A Block is not safe for concurrent use.
// What its methods return is valid as long as the bytes given to Open, must not
// be changed, and is the same slice on each call.
type Block struct {
	Header
}

// Times returns the column Time. Rows of an encoded block ascend by it; rows of
// a block from a Builder are in arrival order. Equal times are in arrival order
// in both.
func (b *Block) Times() ([]uint64, error) { panic("not built yet") }

// Uints returns a U column.
func (b *Block) Uints(c Column) ([]uint64, error) { panic("not built yet") }

// Dict returns a D column.
func (b *Block) Dict(c Column) (*Dict, error) { panic("not built yet") }

// Strings returns a B column.
func (b *Block) Strings(c Column) (*Strings, error) { panic("not built yet") }

// AttributeKeys returns the distinct attribute keys of the block's items, in no
// promised order.
func (b *Block) AttributeKeys() ([]string, error) { panic("not built yet") }

// Attribute returns the column of one key, nil when no row has it.
func (b *Block) Attribute(key string) (*AttributeColumn, error) { panic("not built yet") }

// AppendMessage appends the item's message (LogRecord, Span, *DataPoint) of a
// row: equal to the one that came in when read by protobuf's rules.
func (b *Block) AppendMessage(dst []byte, row int) ([]byte, error) { panic("not built yet") }

// Builder collects items into a Block.
type Builder struct{}

// NewBuilder returns an empty builder for one signal.
func NewBuilder(s otlp.Signal) *Builder { panic("not built yet") }

// Add appends all items of a request, which must be of the builder's signal.
// The bytes are copied.
func (b *Builder) Add(r *otlp.Request) { panic("not built yet") }

// Rows returns how many rows were added.
func (b *Builder) Rows() int { panic("not built yet") }

// Block returns what was added so far as a Block in arrival order. The builder
// must not be used for more than Encode afterwards.
func (b *Builder) Block() *Block { panic("not built yet") }

// Encode sorts the rows by time (stably), cuts them into blocks of at most
// MaxRows rows, also where neighbours lie more than an hour apart, and calls
// emit for each, oldest first. The slices are valid until emit returns.
func (b *Builder) Encode(emit func(h Header, encoded []byte) error) error { panic("not built yet") }

// Open reads the header of an encoded block and checks it; columns are checked
// and decoded when asked for. The block refers to encoded.
func Open(encoded []byte) (*Block, error) { panic("not built yet") }
