package receiver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	minBodyBuffer = 512
	// maxBodyBuffer bounds what is allocated on the word of a Content-Length.
	maxBodyBuffer = 1 << 20
	// inflation is a guess at how much larger bodies are once decompressed;
	// a wrong one costs a copy.
	inflation = 8
)

// maxExpanding is how many bodies may be decompressed or parsed from JSON at a
// time on one transport: each may take some hundred MiB. Neither waits for a
// client, so more would finish no sooner.
var maxExpanding = 2 * runtime.GOMAXPROCS(0)

// readBody reads and decompresses the body of a request. Who gets the bytes
// owns them.
func (r *Receiver) readBody(c echo.Context) ([]byte, error) {
	request, limit := c.Request(), r.options.MaxBodyBytes
	decode, err := r.decoders.find(request.Header.Values(echo.HeaderContentEncoding))
	if err != nil {
		return nil, err
	}
	if request.ContentLength > limit {
		return nil, r.tooLarge()
	}
	body := &stallReader{body: request.Body, control: http.NewResponseController(c.Response())}
	wire := &limitReader{from: body, left: limit}
	if decode == nil {
		text, err := readAll(wire, request.ContentLength)
		if err != nil {
			return nil, r.bodyFailure(wire, err)
		}
		return text, nil
	}
	// Read first: a slow client must not hold a place at the decompressors.
	packed, err := readAll(wire, request.ContentLength)
	if err != nil {
		return nil, r.bodyFailure(wire, err)
	}
	var text []byte
	if e := r.expand(request.Context(), func() {
		text, err = decode(bytes.NewReader(packed), limit, int64(len(packed))*inflation)
	}); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, r.bodyFailure(wire, err)
	}
	return text, nil
}

// expand runs f, which makes much memory out of few bytes, when fewer than
// maxExpanding others do. It fails when ctx ends first.
func (r *Receiver) expand(ctx context.Context, f func()) error {
	select {
	case r.expanding <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.expanding }()
	f()
	return nil
}

// bodyFailure tells apart why a body could not be read: what came over the wire
// comes first, since a decompressor only passes that on.
func (r *Receiver) bodyFailure(wire *limitReader, err error) error {
	if wire.err != nil && !errors.Is(wire.err, io.EOF) {
		err = wire.err
		if !errors.Is(err, errTooLarge) {
			return fmt.Errorf("%w: %w", errBodyCut, err)
		}
	}
	if errors.Is(err, errTooLarge) {
		return r.tooLarge()
	}
	return fmt.Errorf("%w: %w", errCompression, err)
}

// readAll reads to the end of from. The answer has little spare room, since it
// may be kept for long.
func readAll(from io.Reader, hint int64) ([]byte, error) {
	// One byte more than expected, so that the end is found without growing.
	buffer := make([]byte, 0, max(min(hint, maxBodyBuffer), minBodyBuffer)+1)
	for {
		n, err := from.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
	}
	if cap(buffer)-len(buffer) > len(buffer)/8 {
		return bytes.Clone(buffer), nil
	}
	return buffer, nil
}

// limitReader fails with errTooLarge where io.LimitReader would feign an end.
type limitReader struct {
	from io.Reader
	left int64
	err  error // what Read returned last; kept
}

func (l *limitReader) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.from.Read(p)
	if int64(n) > l.left {
		n, err = int(l.left), errTooLarge
	}
	l.left -= int64(n)
	l.err = err
	return n, err
}

// stallReader gives up when the client sends nothing for stallTimeout.
type stallReader struct {
	body    io.Reader
	control *http.ResponseController
}

func (s *stallReader) Read(p []byte) (int, error) {
	// Errors of the deadline itself don't matter: without one it only takes longer.
	_ = s.control.SetReadDeadline(time.Now().Add(stallTimeout))
	n, err := s.body.Read(p)
	if err != nil {
		_ = s.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
