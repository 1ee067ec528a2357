package receiver_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// compressions are what HTTP takes, by name of the test. The value of
// Content-Encoding comes first.
var compressions = map[string]struct {
	header   string
	compress func(io.Writer) io.WriteCloser
}{
	"none":         {"", nil},
	"identity":     {"identity", nil},
	"gzip":         {"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	"GZIP":         {"GZIP", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	"zstd":         {"zstd", newZstdWriter},
	"deflate":      {"deflate", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }},
	"snappy":       {"snappy", func(w io.Writer) io.WriteCloser { return snappy.NewBufferedWriter(w) }},
	"snappy block": {"snappy", func(w io.Writer) io.WriteCloser { return &snappyBlock{to: w} }},
}

func newZstdWriter(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return z
}

// snappyBlock writes one block of snappy's unframed format.
type snappyBlock struct {
	bytes.Buffer
	to io.Writer
}

func (b *snappyBlock) Close() error {
	_, err := b.to.Write(snappy.Encode(nil, b.Bytes()))
	return err
}

// compressed returns body as the named compression makes it and the header
// that says so.
func compressed(t testing.TB, name string, body []byte) (out []byte, header string) {
	t.Helper()
	c, ok := compressions[name]
	if !ok {
		t.Fatalf("no compression %q", name)
	}
	if c.compress == nil {
		return body, c.header
	}
	var buffer bytes.Buffer
	w := c.compress(&buffer)
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes(), c.header
}
