package block

import (
	"bytes"
	"hash/crc32"
	"hash/maphash"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"sonde/storage/otlp"
)

const (
	// maxGap is how far neighbours of a block may lie apart: one stray time
	// must not widen the bounds of a whole block.
	maxGap = uint64(time.Hour)
	// maxGapBlocks is how many blocks gaps may cut a run into. Rows that are
	// more scattered are not worth a block each.
	maxGapBlocks = 64
	// maxBlockBytes bounds the protobuf bytes of a block of more than one row.
	maxBlockBytes = 16 << 20
)

// encoder writes blocks. Its buffers are used again.
type encoder struct {
	zstd *zstd.Encoder

	out      []byte // the block: header and sections
	data     []byte // the bytes of the sections
	sections []section
	raw      []byte // of the section being made

	times, values, codes, best []uint64
	index                      []uint32 // of a D column, for the rows of the block
	strings                    stringsEncoder
	attrs                      attributeEncoder
	trigram                    trigramEncoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.strings.distinct = dictBuilder{seed: maphash.MakeSeed(), alias: true}
	e.trigram.seed = maphash.MakeSeed()
	return e
}}

// Encode sorts the rows by time (stably), cuts them into blocks of at most
// MaxRows rows, also where neighbours lie more than an hour apart (unless that
// would make too many) and where a block would hold more than 16 MiB, and calls
// emit for each, oldest first, in the caller's goroutine. The blocks are encoded
// on all cores meanwhile. emit may keep the bytes; its error is returned at once.
func (b *Builder) Encode(emit func(h Header, encoded []byte) error) error {
	s := sorters.Get().(*sorter)
	defer sorters.Put(s)
	blocks := b.cutAll(s.order(b.uints[Time]))
	headers := make([]Header, len(blocks))
	encoded := make([]chan []byte, len(blocks))
	for i := range encoded {
		encoded[i] = make(chan []byte, 1)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(blocks)) {
		workers.Go(func() {
			e := encoders.Get().(*encoder)
			defer encoders.Put(e)
			e.zstd = zstdEncoders.Get().(*zstd.Encoder)
			defer zstdEncoders.Put(e.zstd)
			for i := int(next.Add(1)) - 1; i < len(blocks); i = int(next.Add(1)) - 1 {
				headers[i] = b.headerOf(blocks[i])
				encoded[i] <- bytes.Clone(e.block(b, &headers[i], blocks[i]))
			}
		})
	}
	defer workers.Wait()
	for i := range blocks {
		if err := emit(headers[i], <-encoded[i]); err != nil {
			next.Store(int64(len(blocks))) // no worker begins another
			return err
		}
	}
	return nil
}

// cutAll cuts rows in the order of their times into blocks.
func (b *Builder) cutAll(rows []uint32) (blocks [][]uint32) {
	gap := maxGap
	if b.gaps(rows) >= maxGapBlocks {
		gap = math.MaxUint64
	}
	for len(rows) > 0 {
		n := b.cut(rows, gap)
		blocks = append(blocks, rows[:n])
		rows = rows[n:]
	}
	return blocks
}

// gaps counts neighbours that lie more than maxGap apart.
func (b *Builder) gaps(rows []uint32) int {
	times, n := b.uints[Time], 0
	for i := 1; i < len(rows); i++ {
		if times[rows[i]]-times[rows[i-1]] > maxGap {
			n++
		}
	}
	return n
}

// cut returns how many of the rows go into the next block.
func (b *Builder) cut(rows []uint32, gap uint64) int {
	times := b.uints[Time]
	bytes := b.newByteCounter()
	size := bytes.add(rows[0])
	for n := 1; n < len(rows); n++ {
		size += bytes.add(rows[n])
		if n == MaxRows || times[rows[n]]-times[rows[n-1]] > gap || size > maxBlockBytes {
			return n
		}
	}
	return len(rows)
}

// byteCounter counts the bytes that rows add to a block, each envelope once.
type byteCounter struct {
	b    *Builder
	seen map[*byte]bool // first byte of large dictionary values
}

func (b *Builder) newByteCounter() *byteCounter { return &byteCounter{b: b} }

func (c *byteCounter) add(row uint32) int {
	n := int(c.b.messageSizes[row])
	for _, column := range [...]Column{Resource, Scope, Metric} {
		d := c.b.dicts[column]
		if d == nil {
			continue
		}
		// Small ones can't fill a block: 8,192 rows of them are 8 MiB.
		if v := d.At(int(row)); len(v) >= 1<<10 && !c.seen[&v[0]] {
			if c.seen == nil {
				c.seen = map[*byte]bool{}
			}
			c.seen[&v[0]] = true
			n += len(v)
		}
	}
	return n
}

// headerOf makes the header of a block of the given rows.
func (b *Builder) headerOf(rows []uint32) Header {
	times := b.uints[Time]
	h := Header{Signal: b.signal, Rows: len(rows), MinTime: times[rows[0]], MaxTime: times[rows[len(rows)-1]]}
	for _, row := range rows {
		h.RawBytes += b.rawSize(int(row))
		switch b.signal {
		case otlp.Logs:
			h.Severities[b.severities[row]]++
		case otlp.Traces:
			h.MaxDurationNano = max(h.MaxDurationNano, b.duration(int(row)))
		}
	}
	return h
}

// block encodes one block.
func (e *encoder) block(b *Builder, h *Header, rows []uint32) []byte {
	e.data, e.sections = e.data[:0], e.sections[:0]
	for _, c := range signalColumns[b.signal] {
		switch c {
		case shapes:
			e.attributes(b, rows)
			continue
		case trigrams:
			e.trigrams(b, rows)
			continue
		}
		switch forms[c] {
		case formUints:
			e.uintColumn(c, h.base(c), b.uints[c], rows)
		case formDict:
			e.dictColumn(c, &b.dicts[c].Dict, rows)
		case formStrings:
			if column := b.strings[c]; !allEmpty(column, rows) {
				e.raw = e.strings.append(e.raw[:0], column, rows)
				e.section(c)
			}
		}
	}
	e.out = appendHeader(e.out[:0], h, e.sections)
	e.out = append(e.out, e.data...)
	return e.out
}

func allEmpty(s *Strings, rows []uint32) bool {
	for _, row := range rows {
		if len(s.At(int(row))) != 0 {
			return false
		}
	}
	return true
}

// section makes a section of e.raw.
func (e *encoder) section(c Column) {
	s := section{id: c}
	e.data, s = e.chunk(e.data, s)
	e.sections = append(e.sections, s)
}

// chunk appends e.raw to dst, compressed, and fills in the rest of s.
func (e *encoder) chunk(dst []byte, s section) ([]byte, section) {
	start := len(dst)
	s.raw = len(e.raw)
	dst, s.codec = appendCompressed(dst, e.raw, e.zstd)
	s.encoded = len(dst) - start
	s.sum = crc32.Checksum(dst[start:], castagnoli)
	return dst, s
}

// uintColumn encodes a U column. It must be called for Time first.
func (e *encoder) uintColumn(c Column, base uint64, column []uint64, rows []uint32) {
	e.values = e.values[:0]
	zero := true
	for _, row := range rows {
		v := column[row]
		zero = zero && v == 0
		e.values = append(e.values, v)
	}
	if c == Time {
		e.times = append(e.times[:0], e.values...)
	}
	if zero {
		return
	}
	var transform, pack uint8
	length := math.MaxInt
	for _, t := range transforms(c) {
		e.codes = slices.Grow(e.codes[:0], len(rows))[:len(rows)]
		if !transformed(e.codes, e.values, e.times, t, base) {
			continue
		}
		if p, n := packedLen(e.codes); n < length {
			transform, pack, length = t, p, n
			e.codes, e.best = e.best, e.codes
		}
	}
	e.raw = append(e.raw[:0], transform, pack)
	e.raw = appendPacked(e.raw, e.best, pack)
	e.section(c)
}

// dictColumn encodes a D column.
func (e *encoder) dictColumn(c Column, column *Dict, rows []uint32) {
	empty := true
	e.index = e.index[:0]
	for _, row := range rows {
		i := column.Index[row]
		empty = empty && len(column.Values[i]) == 0
		e.index = append(e.index, i)
	}
	if !empty {
		e.raw = e.strings.appendDict(e.raw[:0], column.Values, e.index)
		e.section(c)
	}
}
