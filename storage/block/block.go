package block

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"sonde/storage/otlp"
)

// MaxRows is how many rows an encoded block holds at most. 8,192 is where the
// bytes a row stop falling and the time to decode a block starts to hurt.
const MaxRows = 8192

// ErrCorrupt is wrapped by every error that comes from a block's bytes: a
// checksum does not match, or an encoding breaks its own rules.
var ErrCorrupt = errors.New("corrupt block")

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
	uints    [columnEnd][]uint64
	dicts    [columnEnd]*Dict
	strs     [columnEnd]*Strings
	attrs    *attributes
	complete bool // every column is there

	// Of a block from Open: the encoded bytes and where the parts lie in them.
	src   []byte
	table []partInfo
}

// Open reads the header of an encoded block and checks it; columns are checked
// and decoded when asked for. The block refers to encoded.
func Open(encoded []byte) (*Block, error) {
	if len(encoded) < prefixSize {
		return nil, fmt.Errorf("%w: %d bytes are too few", ErrCorrupt, len(encoded))
	}
	if encoded[0] != formatVersion {
		return nil, fmt.Errorf("%w: format version %d, this program knows %d", ErrCorrupt, encoded[0], formatVersion)
	}
	r := reader{raw: encoded[1:]}
	size, sum := r.uint32(), r.uint32()
	if uint64(size) > uint64(len(r.raw)) {
		return nil, fmt.Errorf("%w: header of %d bytes in a block of %d", ErrCorrupt, size, len(encoded))
	}
	head := r.bytes(int(size))
	if crc32.Update(crc32.Checksum(encoded[:5], castagnoli), castagnoli, head) != sum {
		return nil, fmt.Errorf("%w: checksum of the header does not match", ErrCorrupt)
	}
	b := &Block{src: encoded}
	h := reader{raw: head}
	b.Header = h.header()
	b.table = h.partTable(prefixSize+len(head), len(encoded))
	if err := h.end(); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return b, nil
}

func (r *reader) header() Header {
	h := Header{
		Signal: otlp.Signal(r.byte()), Rows: int(r.uvarint()), MinTime: r.uvarint(), MaxTime: r.uvarint(),
		MaxDurationNano: r.uvarint(), RawBytes: int(r.uvarint()),
	}
	for i := range h.Severities {
		h.Severities[i] = uint32(r.uvarint())
	}
	if h.Signal < otlp.Logs || h.Signal > otlp.Metrics || h.Rows <= 0 || h.Rows > MaxRows {
		r.fail()
	}
	return h
}

// partTable reads where the parts lie, between offset and end of the block.
func (r *reader) partTable(offset, end int) []partInfo {
	const minLine = 9
	table := make([]partInfo, r.count(minLine))
	for i := range table {
		p := &table[i]
		p.column, p.number, p.codec = Column(r.byte()), int(r.uvarint()), r.byte()
		size, rawSize := r.uvarint(), r.uvarint()
		p.sum = r.uint32()
		if p.codec > codecZstd || size > uint64(end-offset) || rawSize > maxPartBytes {
			r.fail()
			return nil
		}
		p.offset, p.size, p.rawSize = offset, int(size), int(rawSize)
		offset += p.size
	}
	if offset != end {
		r.fail()
	}
	return table
}

// Times returns the column Time. Rows of an encoded block ascend by it; rows of
// a block from a Builder are in arrival order. Equal times are in arrival order
// in both.
func (b *Block) Times() ([]uint64, error) { return b.Uints(Time) }

// Uints returns a U column.
func (b *Block) Uints(c Column) (_ []uint64, err error) {
	if err := b.has(c, uints); err != nil {
		return nil, err
	}
	if b.uints[c] == nil {
		b.uints[c], err = b.decodeUints(c)
	}
	return b.uints[c], err
}

// Dict returns a D column.
func (b *Block) Dict(c Column) (_ *Dict, err error) {
	if err := b.has(c, dict); err != nil {
		return nil, err
	}
	if b.dicts[c] == nil {
		b.dicts[c], err = b.decodeDict(c)
	}
	return b.dicts[c], err
}

// Strings returns an S column.
func (b *Block) Strings(c Column) (_ *Strings, err error) {
	if err := b.has(c, strs); err != nil {
		return nil, err
	}
	if b.strs[c] == nil {
		b.strs[c], err = b.decodeStrings(c, 0, b.Rows)
	}
	return b.strs[c], err
}

// has checks that the caller asks for a column that the signal has, by its kind.
func (b *Block) has(c Column, k kind) error {
	if c.kind() == k && slices.Contains(columnsOf(b.Signal), c) {
		return nil
	}
	return fmt.Errorf("a block of %s has no such column %d", b.Signal, c)
}

// AttributeKeys returns the distinct attribute keys of the block's items, in no
// promised order.
func (b *Block) AttributeKeys() ([]string, error) {
	a, err := b.decodeShapes()
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(a.columns))
	for i, c := range a.columns {
		keys[i] = c.Key
	}
	return keys, nil
}

// Attribute returns the column of one key, nil when no row has it. Attributes
// that are not a plain key and value stand in Rest, with all others of their
// row.
func (b *Block) Attribute(key string) (*AttributeColumn, error) {
	a, err := b.decodeShapes()
	if err != nil {
		return nil, err
	}
	id, ok := a.keys[key]
	if !ok {
		return nil, nil //nolint:nilnil // as documented: no row has it
	}
	return b.decodeAttribute(a, id)
}
