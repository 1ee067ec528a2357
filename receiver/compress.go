package receiver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// minWindowBytes is the zstd window that every decoder should support (RFC
// 8878, section 3.1.1.1.2).
const minWindowBytes = 8 << 20

// decodeFunc decompresses a body, at most limit bytes of it; beyond that it
// fails with errTooLarge. hint is a guess at how much will come out.
type decodeFunc func(from io.Reader, limit, hint int64) ([]byte, error)

// decoders are what HTTP's Content-Encoding may name.
type decoders struct {
	byName map[string]decodeFunc
	gzips  sync.Pool
	zlibs  sync.Pool
	zstds  sync.Pool
}

func newDecoders(limit int64) *decoders {
	d := &decoders{}
	d.zstds.New = func() any { return newZstdReader(max(limit, minWindowBytes)) }
	d.byName = map[string]decodeFunc{
		"gzip":    d.gzip,
		"x-gzip":  d.gzip, // the same (RFC 9110, section 8.4.1.3)
		"zstd":    d.zstd,
		"deflate": d.zlib, // zlib's format in spite of the name (RFC 9110, section 8.4.1.2)
		"zlib":    d.zlib,
		"snappy":  decodeSnappy,
	}
	return d
}

// find returns the decoder that the Content-Encoding headers name, nil when the
// body is as it is.
func (d *decoders) find(headers []string) (decodeFunc, error) {
	var decode decodeFunc
	for name := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" || name == "identity" {
			continue
		}
		found, ok := d.byName[name]
		if !ok {
			return nil, fmt.Errorf("%w %q: use gzip, zstd, deflate, snappy or identity", errUnknownEncoding, name)
		}
		if decode != nil {
			return nil, fmt.Errorf("%w %q: one encoding at a time", errUnknownEncoding, strings.Join(headers, ","))
		}
		decode = found
	}
	return decode, nil
}

func (d *decoders) gzip(from io.Reader, limit, hint int64) ([]byte, error) {
	z, ok := d.gzips.Get().(*gzip.Reader)
	if !ok {
		z = new(gzip.Reader)
	}
	defer d.gzips.Put(z)
	if err := z.Reset(from); err != nil {
		return nil, unexpectedEnd(err)
	}
	return readAll(&limitReader{from: z, left: limit}, hint)
}

func (d *decoders) zlib(from io.Reader, limit, hint int64) ([]byte, error) {
	z, ok := d.zlibs.Get().(zlib.Resetter)
	if !ok {
		fresh, err := zlib.NewReader(from)
		if err != nil {
			return nil, unexpectedEnd(err)
		}
		z = fresh.(zlib.Resetter)
	} else if err := z.Reset(from, nil); err != nil {
		d.zlibs.Put(z)
		return nil, unexpectedEnd(err)
	}
	defer d.zlibs.Put(z)
	return readAll(&limitReader{from: z.(io.Reader), left: limit}, hint)
}

// unexpectedEnd is for bodies that end before the compressor's header does:
// they are cut, not empty.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (d *decoders) zstd(from io.Reader, limit, hint int64) ([]byte, error) {
	z := d.zstds.Get().(*zstd.Decoder)
	defer d.zstds.Put(z)
	if err := z.Reset(from); err != nil {
		return nil, err
	}
	text, err := readAll(&limitReader{from: z, left: limit}, hint)
	_ = z.Reset(nil) // let go of the body; always nil
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, errTooLarge
	}
	return text, err
}

// newZstdReader returns a decoder that starts no goroutines, so it need not be
// closed, and refuses a window above maxWindow before allocating it.
func newZstdReader(maxWindow int64) *zstd.Decoder {
	z, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(maxWindow)),
		zstd.WithDecodeBuffersBelow(0), // else small bodies bypass the limit on what comes out
	)
	if err != nil {
		panic(err) // the options are constants
	}
	return z
}

// snappyMagic begins snappy's framed format; anything else is one block.
var snappyMagic = []byte("\xff\x06\x00\x00sNaPpY")

func decodeSnappy(from io.Reader, limit, hint int64) ([]byte, error) {
	buffered := bufio.NewReader(from)
	if start, _ := buffered.Peek(len(snappyMagic)); bytes.Equal(start, snappyMagic) {
		return readAll(&limitReader{from: snappy.NewReader(buffered), left: limit}, hint)
	}
	block, err := readAll(buffered, hint/inflation)
	if err != nil {
		return nil, err
	}
	// A block says how large it will be; believe it only within the limit.
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return nil, err
	}
	if int64(n) > limit {
		return nil, errTooLarge
	}
	return snappy.Decode(nil, block)
}
