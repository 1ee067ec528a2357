package block

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Codecs of a part's bytes.
const (
	codecRaw  = 0
	codecZstd = 1
)

// minCompress is the size below which a part is not worth compressing: zstd's
// own frame takes a dozen bytes.
const minCompress = 64

// maxPartBytes bounds what a part may unpack to. A run of the compactor is much
// smaller; a damaged length must not allocate gigabytes.
const maxPartBytes = 1 << 30

// zstdCodecs are shared: an encoder holds some megabytes of tables. Both are
// safe for concurrent use in their one-shot form.
var zstdCodecs = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are constants
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxPartBytes))
	if err != nil {
		panic(err)
	}
	return encoder, decoder
})

// part writes one part of a column: its bytes, and its line in the table.
func (e *encoder) part(c Column, number int, raw []byte) {
	encoded, codec := raw, byte(codecRaw)
	if len(raw) >= minCompress {
		encoder, _ := zstdCodecs()
		e.compressed = encoder.EncodeAll(raw, e.compressed[:0])
		if len(e.compressed) < len(raw) {
			encoded, codec = e.compressed, codecZstd
		}
	}
	e.count++
	e.table = append(e.table, byte(c))
	e.table = binary.AppendUvarint(e.table, uint64(number))
	e.table = append(e.table, codec)
	e.table = binary.AppendUvarint(e.table, uint64(len(encoded)))
	e.table = binary.AppendUvarint(e.table, uint64(len(raw)))
	e.table = binary.LittleEndian.AppendUint32(e.table, crc32.Checksum(encoded, castagnoli))
	e.parts = append(e.parts, encoded...)
}

// partInfo is a line of the table of parts.
type partInfo struct {
	column       Column
	number       int
	codec        byte
	offset, size int // in the block's parts
	rawSize      int
	sum          uint32
}

// part returns the unpacked bytes of a part.
func (b *Block) part(c Column, number int) ([]byte, error) {
	for i := range b.table {
		p := &b.table[i]
		if p.column == c && p.number == number {
			return p.unpack(b.src)
		}
	}
	return nil, fmt.Errorf("%w: column %d has no part %d", ErrCorrupt, c, number)
}

func (p *partInfo) unpack(src []byte) ([]byte, error) {
	encoded := src[p.offset : p.offset+p.size]
	if crc32.Checksum(encoded, castagnoli) != p.sum {
		return nil, fmt.Errorf("%w: checksum of column %d part %d does not match", ErrCorrupt, p.column, p.number)
	}
	if p.codec == codecRaw {
		return encoded, nil
	}
	_, decoder := zstdCodecs()
	raw, err := decoder.DecodeAll(encoded, make([]byte, 0, p.rawSize))
	if err != nil || len(raw) != p.rawSize {
		return nil, fmt.Errorf("%w: cannot unpack column %d part %d: %w", ErrCorrupt, p.column, p.number, err)
	}
	return raw, nil
}

// appendLengthed appends v with its length before it.
func appendLengthed(dst, v []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	return append(dst, v...)
}

// reader reads an unpacked part. After the first fault all it returns is zero;
// end tells.
type reader struct {
	raw    []byte
	failed bool
}

func (r *reader) uvarint() uint64 {
	if len(r.raw) > 0 && r.raw[0] < 0x80 {
		v := r.raw[0]
		r.raw = r.raw[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.raw)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.raw = r.raw[n:]
	return v
}

// count reads how many things follow that take at least size bytes each.
func (r *reader) count(size int) int {
	n := r.uvarint()
	if n > uint64(len(r.raw)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// index reads a number below n.
func (r *reader) index(n int) uint32 {
	v := r.uvarint()
	if v >= uint64(n) {
		r.fail()
		return 0
	}
	return uint32(v)
}

func (r *reader) lengthed() []byte { return r.bytes(r.count(1)) }

func (r *reader) bytes(n int) []byte {
	if n > len(r.raw) {
		r.fail()
		return nil
	}
	v := r.raw[:n:n]
	r.raw = r.raw[n:]
	return v
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) fail() { r.raw, r.failed = nil, true }

// end reports whether everything was read and nothing was missing.
func (r *reader) end() error {
	if r.failed || len(r.raw) > 0 {
		return fmt.Errorf("%w: a part does not hold what its column needs", ErrCorrupt)
	}
	return nil
}
