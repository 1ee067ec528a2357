package block

import (
	"errors"
	"fmt"
	"slices"

	"sonde/storage/otlp"
)

// MaxRows is how many rows an encoded block holds at most. 8,192 is where the
// bytes a row stop falling and the time to decode a block starts to hurt.
const MaxRows = 8192

// ErrCorrupt is wrapped by every error that comes from a block's bytes: a
// checksum does not match, an encoding breaks its own rules, or the block is
// of a version that this build does not know.
var ErrCorrupt = errors.New("corrupt block")

// Header says of a block what a query needs to skip it. All of it is kept in
// memory for every block of the store.
type Header struct {
	Signal           otlp.Signal
	Rows             int
	MinTime, MaxTime uint64     // of the column Time, both inclusive
	Severities       [25]uint32 // logs: rows by otlp.EffectiveSeverity; 0 for none of 1-24
	MaxDurationNano  uint64     // spans: longest end - start
	RawBytes         int        // protobuf bytes that came in for these rows, envelopes at their first row of a request
}

// Block is a set of rows in columns. One from Open is not safe for concurrent
// use; one from a Builder is.
// What its methods return is valid as long as the bytes given to Open, must not
// be changed, and is the same slice on each call. Asking for a column that the
// signal lacks, or in another form than its own, is an error.
type Block struct {
	Header

	uints   [numColumns][]uint64
	dicts   [numColumns]*Dict
	strings [numColumns]*Strings
	attrs   *attributeTable

	// Of an encoded block:
	data       []byte // the bytes of the sections
	sections   [numColumns]section
	attrChunks []section // by id: where attributeValues has the column
}

// Times returns the column Time. Rows of an encoded block ascend by it; rows of
// a block from a Builder are in arrival order. Equal times are in arrival order
// in both.
func (b *Block) Times() ([]uint64, error) { return b.Uints(Time) }

// Uints returns a U column.
func (b *Block) Uints(c Column) ([]uint64, error) {
	if c < numColumns && b.uints[c] != nil {
		return b.uints[c], nil
	}
	raw, err := b.read(c, formUints)
	if err != nil {
		return nil, err
	}
	var times []uint64
	if c != Time {
		if times, err = b.Times(); err != nil {
			return nil, err
		}
	}
	column := make([]uint64, b.Rows)
	if raw != nil {
		if column, err = decodeUints(raw, b.Rows, times, b.base(c)); err != nil {
			return nil, fmt.Errorf("column %d: %w", c, err)
		}
	}
	if c == Time && !b.timesHold(column) {
		return nil, fmt.Errorf("column %d: %w: times and header disagree", c, ErrCorrupt)
	}
	b.uints[c] = column
	return column, nil
}

// base returns what stands for the number before the first of a column.
func (h *Header) base(c Column) uint64 {
	if c == Value {
		return 0
	}
	return h.MinTime
}

// timesHold reports whether times are those that the header promises.
func (h *Header) timesHold(times []uint64) bool {
	return len(times) > 0 && times[0] == h.MinTime && times[len(times)-1] == h.MaxTime && slices.IsSorted(times)
}

// Dict returns a D column.
func (b *Block) Dict(c Column) (*Dict, error) {
	if c < numColumns && b.dicts[c] != nil {
		return b.dicts[c], nil
	}
	raw, err := b.read(c, formDict)
	if err != nil {
		return nil, err
	}
	column := &Dict{Values: [][]byte{{}}, Index: make([]uint32, b.Rows)}
	if raw != nil {
		if column, err = decodeDict(raw, b.Rows); err != nil {
			return nil, fmt.Errorf("column %d: %w", c, err)
		}
	}
	b.dicts[c] = column
	return column, nil
}

// Strings returns a B column.
func (b *Block) Strings(c Column) (*Strings, error) {
	if c < numColumns && b.strings[c] != nil {
		return b.strings[c], nil
	}
	raw, err := b.read(c, formStrings)
	if err != nil {
		return nil, err
	}
	column := &Strings{Ends: make([]uint32, b.Rows)}
	if raw != nil {
		if column, err = decodeStrings(raw, b.Rows); err != nil {
			return nil, fmt.Errorf("column %d: %w", c, err)
		}
	}
	b.strings[c] = column
	return column, nil
}

// read returns the decompressed bytes of a column's section, nil when it has
// none because all its values are zero or empty.
func (b *Block) read(c Column, f form) ([]byte, error) {
	if c >= numColumns || forms[c] != f || !has(b.Signal, c) {
		return nil, fmt.Errorf("%v have no column %d of this form", b.Signal, c)
	}
	return b.readSection(c)
}

func (b *Block) readSection(c Column) ([]byte, error) {
	s := &b.sections[c]
	if s.id == 0 {
		return nil, nil
	}
	raw, err := s.read(b.data)
	if err != nil {
		return nil, fmt.Errorf("column %d: %w", c, err)
	}
	return raw, nil
}
