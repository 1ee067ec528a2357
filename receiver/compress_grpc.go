package receiver

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // registers gzip, which OTLP demands
)

// grpc keeps compressors in a table of the process that may only be written
// while packages initialize.
func init() { encoding.RegisterCompressor(new(zstdCompressor)) }

// zstdCompressor is grpc's compressor "zstd". grpc itself bounds what comes out.
type zstdCompressor struct{ readers, writers sync.Pool }

func (c *zstdCompressor) Name() string { return "zstd" }

func (c *zstdCompressor) Decompress(from io.Reader) (io.Reader, error) {
	z, ok := c.readers.Get().(*zstd.Decoder)
	if !ok {
		z = newZstdReader(defaultMaxBodyBytes)
	}
	if err := z.Reset(from); err != nil {
		return nil, err
	}
	return &pooledReader{z, &c.readers}, nil
}

// pooledReader gives its decoder back when grpc closes it.
type pooledReader struct {
	*zstd.Decoder
	pool *sync.Pool
}

func (r *pooledReader) Close() error {
	_ = r.Reset(nil) // let go of the message; always nil
	r.pool.Put(r.Decoder)
	return nil
}

func (c *zstdCompressor) Compress(to io.Writer) (io.WriteCloser, error) {
	z, ok := c.writers.Get().(*zstd.Encoder)
	if !ok {
		var err error
		// Concurrency 1 starts no goroutines. Answers are a few bytes.
		z, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(512<<10))
		if err != nil {
			return nil, err
		}
	}
	z.Reset(to)
	return &pooledWriter{z, &c.writers}, nil
}

// pooledWriter gives its encoder back when grpc closes it.
type pooledWriter struct {
	*zstd.Encoder
	pool *sync.Pool
}

func (w *pooledWriter) Close() error {
	err := w.Encoder.Close()
	w.Encoder.Reset(nil)
	w.pool.Put(w.Encoder)
	return err
}
