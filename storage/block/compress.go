package block

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// How the bytes of a section are stored.
const (
	codecRaw  = 0
	codecZstd = 1
)

// maxSection bounds the bytes of a section before compression, so that a
// wrong length can't make a reader allocate without end. Blocks are cut long
// before (see maxBlockBytes) but for those of one row: the largest is a request
// of 64 MiB, all of it bytes that otlp.Walk replaces by U+FFFD, of three.
const maxSection = 1 << 28

// minCompress is the least that is worth the frame of a compressor.
const minCompress = 48

// Compressors are costly to make and each works for one goroutine at a time.
var (
	zstdEncoders = sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithAllLitEntropyCompression(true))
		if err != nil {
			panic(err) // the options are constant
		}
		return e
	}}
	zstdDecoders = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(maxSection), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic(err) // the options are constant
		}
		return d
	}}
)

// appendCompressed appends raw, compressed where that is smaller.
func appendCompressed(dst, raw []byte, e *zstd.Encoder) (_ []byte, codec uint8) {
	if len(raw) < minCompress {
		return append(dst, raw...), codecRaw
	}
	start := len(dst)
	dst = e.EncodeAll(raw, dst)
	if len(dst)-start < len(raw) {
		return dst, codecZstd
	}
	return append(dst[:start], raw...), codecRaw
}

// decompress returns the rawLen bytes that were encoded. They may alias
// encoded.
func decompress(encoded []byte, codec uint8, rawLen int) ([]byte, error) {
	switch codec {
	case codecRaw:
		if len(encoded) != rawLen {
			return nil, fmt.Errorf("%w: %d raw bytes where %d are due", ErrCorrupt, len(encoded), rawLen)
		}
		return encoded, nil
	case codecZstd:
		if rawLen > maxSection {
			return nil, fmt.Errorf("%w: section of %d bytes", ErrCorrupt, rawLen)
		}
		d := zstdDecoders.Get().(*zstd.Decoder)
		defer zstdDecoders.Put(d)
		raw, err := d.DecodeAll(encoded, make([]byte, 0, rawLen))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if len(raw) != rawLen {
			return nil, fmt.Errorf("%w: decompressed %d bytes where %d are due", ErrCorrupt, len(raw), rawLen)
		}
		return raw, nil
	}
	return nil, fmt.Errorf("%w: unknown codec %d", ErrCorrupt, codec)
}
