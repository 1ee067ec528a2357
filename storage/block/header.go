package block

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"

	"sonde/storage/otlp"
)

// version is the first byte of an encoded block.
const version = 1

// prefixLen is the length of what comes before the header's fields: version,
// length of the fields (4 bytes) and their CRC-32C (4 bytes).
const prefixLen = 1 + 4 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// section is an entry of a table of contents: where a stretch of bytes lies,
// how long it is and how to check it.
type section struct {
	id      Column
	codec   uint8
	offset  int // from the end of the table's own bytes
	encoded int // bytes as they stand
	raw     int // bytes after decompression
	sum     uint32
}

// read checks the section and returns its decompressed bytes, which may alias
// data. data is what the offset counts from.
func (s *section) read(data []byte) ([]byte, error) {
	encoded := data[s.offset : s.offset+s.encoded]
	if crc32.Checksum(encoded, castagnoli) != s.sum {
		return nil, fmt.Errorf("%w: wrong checksum", ErrCorrupt)
	}
	return decompress(encoded, s.codec, s.raw)
}

func (s *section) append(dst []byte) []byte {
	dst = append(dst, s.codec)
	dst = binary.AppendUvarint(dst, uint64(s.encoded))
	dst = binary.AppendUvarint(dst, uint64(s.raw))
	return binary.LittleEndian.AppendUint32(dst, s.sum)
}

// section reads what append wrote. offset is where the section starts.
func (r *reader) section(offset int) section {
	s := section{offset: offset, codec: r.byte(), encoded: r.int(maxSection), raw: r.int(maxSection)}
	if sum := r.bytes(4); sum != nil {
		s.sum = binary.LittleEndian.Uint32(sum)
	}
	return s
}

// appendHeader appends the start of an encoded block, up to the sections'
// bytes.
func appendHeader(dst []byte, h *Header, sections []section) []byte {
	start := len(dst)
	dst = append(dst, version, 0, 0, 0, 0, 0, 0, 0, 0)
	dst = append(dst, byte(h.Signal))
	dst = binary.AppendUvarint(dst, uint64(h.Rows))
	dst = binary.AppendUvarint(dst, h.MinTime)
	dst = binary.AppendUvarint(dst, h.MaxTime-h.MinTime)
	dst = binary.AppendUvarint(dst, uint64(h.RawBytes))
	switch h.Signal {
	case otlp.Logs:
		dst = appendSeverities(dst, &h.Severities)
	case otlp.Traces:
		dst = binary.AppendUvarint(dst, h.MaxDurationNano)
	}
	dst = binary.AppendUvarint(dst, uint64(len(sections)))
	for i := range sections {
		dst = append(dst, byte(sections[i].id))
		dst = sections[i].append(dst)
	}
	fields := dst[start+prefixLen:]
	binary.LittleEndian.PutUint32(dst[start+1:], uint32(len(fields)))
	binary.LittleEndian.PutUint32(dst[start+5:], crc32.Checksum(fields, castagnoli))
	return dst
}

// appendSeverities appends a bitmap of the severities that occur and how often
// each does.
func appendSeverities(dst []byte, counts *[25]uint32) []byte {
	bitmap := uint64(0)
	for s, n := range counts {
		if n > 0 {
			bitmap |= 1 << s
		}
	}
	dst = binary.AppendUvarint(dst, bitmap)
	for _, n := range counts {
		if n > 0 {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	return dst
}

// Open reads the header of an encoded block and checks it; columns are checked
// and decoded when asked for. The block refers to encoded. The Header alone
// may be copied and kept when encoded is gone.
func Open(encoded []byte) (*Block, error) {
	if len(encoded) < prefixLen {
		return nil, fmt.Errorf("%w: %d bytes", ErrCorrupt, len(encoded))
	}
	if encoded[0] != version {
		return nil, fmt.Errorf("%w: version %d, can read %d", ErrCorrupt, encoded[0], version)
	}
	length := binary.LittleEndian.Uint32(encoded[1:])
	if uint64(length) > uint64(len(encoded)-prefixLen) {
		return nil, fmt.Errorf("%w: cut off in its header", ErrCorrupt)
	}
	fields, data := encoded[prefixLen:prefixLen+int(length)], encoded[prefixLen+int(length):]
	if crc32.Checksum(fields, castagnoli) != binary.LittleEndian.Uint32(encoded[5:]) {
		return nil, fmt.Errorf("%w: wrong checksum of its header", ErrCorrupt)
	}
	b := &Block{data: data}
	r := reader{rest: fields}
	r.header(&b.Header)
	r.sections(b, len(data))
	if r.bad || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: bad header", ErrCorrupt)
	}
	return b, nil
}

func (r *reader) header(h *Header) {
	h.Signal = otlp.Signal(r.byte())
	h.Rows = r.int(MaxRows)
	h.MinTime = r.uvarint()
	span := r.uvarint()
	h.MaxTime = h.MinTime + span
	h.RawBytes = r.int(math.MaxInt)
	r.check(h.Rows > 0 && h.MaxTime >= h.MinTime)
	switch h.Signal {
	case otlp.Logs:
		r.severities(h)
	case otlp.Traces:
		h.MaxDurationNano = r.uvarint()
	case otlp.Metrics:
	default:
		r.bad = true
	}
}

func (r *reader) severities(h *Header) {
	bitmap := r.uvarint()
	r.check(bits.Len64(bitmap) <= len(h.Severities))
	total := 0
	for s := range h.Severities {
		if bitmap&(1<<s) != 0 {
			n := r.int(MaxRows)
			h.Severities[s] = uint32(n)
			total += n
		}
	}
	r.check(total == h.Rows)
}

// sections reads the table of the block's sections, which fill dataLen bytes.
func (r *reader) sections(b *Block, dataLen int) {
	n := r.int(math.MaxUint8)
	offset := 0
	for range n {
		id := Column(r.byte())
		s := r.section(offset)
		s.id = id
		offset += s.encoded
		if r.bad || offset > dataLen {
			r.bad = true
			return
		}
		if id < numColumns { // others are of a later build
			r.check(b.sections[id].id == 0)
			b.sections[id] = s
		}
	}
	r.check(offset == dataLen)
}
