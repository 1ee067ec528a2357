package block

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"time"

	"sonde/storage/otlp"
)

// formatVersion is the first byte of an encoded block. A reader knows all
// versions up to its own.
const formatVersion = 1

// Cuts at gaps keep a stray timestamp from widening the bounds of a whole
// block; a run of nothing but strays is not cut into dust.
const (
	maxGap     = uint64(time.Hour)
	maxGapCuts = 64
)

// castagnoli is the polynomial of all checksums: the one processors have.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode sorts the rows by time (stably), cuts them into blocks of at most
// MaxRows rows, also where neighbours lie more than an hour apart, and calls
// emit for each, oldest first. The slices are valid until emit returns.
func (b *Builder) Encode(emit func(h Header, encoded []byte) error) error {
	order := b.order()
	var e encoder
	for _, rows := range b.cut(order) {
		h, encoded := e.block(b, rows)
		if err := emit(h, encoded); err != nil {
			return err
		}
	}
	return nil
}

// order returns the rows by time, equal ones in the order of arrival.
func (b *Builder) order() []uint32 {
	order := make([]uint32, b.Rows())
	for i := range order {
		order[i] = uint32(i)
	}
	times := b.uints[Time]
	if !slices.IsSorted(times) {
		slices.SortStableFunc(order, func(x, y uint32) int {
			switch {
			case times[x] < times[y]:
				return -1
			case times[x] > times[y]:
				return 1
			}
			return 0
		})
	}
	return order
}

// cut divides the ordered rows into blocks.
func (b *Builder) cut(order []uint32) (blocks [][]uint32) {
	times := b.uints[Time]
	gap := func(i int) bool { return times[order[i]]-times[order[i-1]] > maxGap }
	gaps := 0
	for i := 1; i < len(order); i++ {
		if gap(i) {
			gaps++
		}
	}
	start := 0
	for i := 1; i < len(order); i++ {
		if i-start == MaxRows || gaps <= maxGapCuts && gap(i) {
			blocks = append(blocks, order[start:i])
			start = i
		}
	}
	if start < len(order) {
		blocks = append(blocks, order[start:])
	}
	return blocks
}

// encoder writes blocks. Its buffers are reused from block to block.
type encoder struct {
	table      []byte // of parts, as it stands in the header
	count      int    // of parts
	parts      []byte // their bytes
	raw        []byte // of the part being written
	compressed []byte
	out        []byte
	remap      []uint32
}

// block encodes the rows, in the order given.
func (e *encoder) block(b *Builder, rows []uint32) (Header, []byte) {
	e.table, e.parts, e.count = e.table[:0], e.parts[:0], 0
	h := b.headerOf(rows)
	for _, c := range columnsOf(b.header.Signal) {
		switch c.kind() {
		case uints:
			e.encodeUints(b, c, rows)
		case dict:
			e.encodeDict(b.dicts[c], c, rows)
		case strs:
			e.encodeStrings(b.strs[c], c, rows)
		}
	}
	e.encodeAttributes(b.attrs, rows)
	head := h.append(nil)
	head = binary.AppendUvarint(head, uint64(e.count))
	head = append(head, e.table...)
	e.out = appendPrefix(e.out[:0], head)
	e.out = append(e.out, head...)
	e.out = append(e.out, e.parts...)
	return h, e.out
}

// prefixSize is the length of what stands before the header: version 1, length
// of the header 4, checksum of those five and the header 4.
const prefixSize = 9

func appendPrefix(dst, head []byte) []byte {
	dst = append(dst, formatVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(head)))
	sum := crc32.Update(crc32.Checksum(dst, castagnoli), castagnoli, head)
	return binary.LittleEndian.AppendUint32(dst, sum)
}

// headerOf counts what the header says of the rows.
func (b *Builder) headerOf(rows []uint32) Header {
	h := Header{Signal: b.header.Signal, MinTime: ^uint64(0)}
	times := b.uints[Time]
	for _, row := range rows {
		h.MinTime = min(h.MinTime, times[row])
		h.MaxTime = max(h.MaxTime, times[row])
	}
	h.Rows = len(rows)
	for _, row := range rows {
		h.RawBytes += int(b.sizes[row])
	}
	switch h.Signal {
	case otlp.Logs:
		texts := b.dicts[SeverityText]
		for _, row := range rows {
			h.Severities[otlp.EffectiveSeverity(int32(b.uints[Severity][row]), string(texts.values[texts.index[row]]))]++
		}
	case otlp.Traces:
		for _, row := range rows {
			if end := b.uints[EndTime][row]; end > times[row] {
				h.MaxDurationNano = max(h.MaxDurationNano, end-times[row])
			}
		}
	case otlp.Metrics:
	}
	return h
}

// append appends the header's own fields.
func (h *Header) append(dst []byte) []byte {
	dst = append(dst, byte(h.Signal))
	for _, v := range []uint64{uint64(h.Rows), h.MinTime, h.MaxTime, h.MaxDurationNano, uint64(h.RawBytes)} {
		dst = binary.AppendUvarint(dst, v)
	}
	for _, n := range h.Severities {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}
