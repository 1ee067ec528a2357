package storage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"

	"sonde/storage/otlp"
)

// pending is a request on its way to the disk.
type pending struct {
	req      *otlp.Request
	body     []byte // what is stored: req.Payload as it is, or compressed
	encoding byte   // of body
	done     chan error
}

// maxPooledBody keeps the rare large request from pinning its buffer.
const maxPooledBody = 4 << 20

// bodies holds buffers for compressed requests.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// Append stores a request, whole or not at all. It returns nil only when the
// request is on disk and visible to Scan. The store owns r from then on. When
// ctx ends first the outcome is unknown, as with any lost acknowledgement. A
// request without items is acknowledged and leaves no trace.
func (s *Store) Append(ctx context.Context, r *otlp.Request) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.Signal < otlp.Logs || r.Signal > otlp.Metrics {
		return fmt.Errorf("cannot store a request of signal %d", r.Signal)
	}
	if len(r.Items) == 0 {
		return nil
	}
	if err := s.admit(ctx, int64(len(r.Payload))); err != nil {
		return err
	}
	buf := bodies.Get().(*[]byte)
	p := newPending(r, buf)
	select {
	case s.queue <- p:
	case <-ctx.Done():
		s.forget(int64(len(r.Payload)))
		return ctx.Err()
	}
	select {
	case err := <-p.done:
		// Only now is nobody reading the buffer.
		if cap(*buf) <= maxPooledBody {
			bodies.Put(buf)
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newPending compresses a request into buf: here, in the caller's goroutine,
// since the committer is one for all.
func newPending(r *otlp.Request, buf *[]byte) *pending {
	p := &pending{req: r, body: r.Payload, encoding: encodingRaw, done: make(chan error, 1)}
	if need := s2.MaxEncodedLen(len(r.Payload)); cap(*buf) < need {
		*buf = make([]byte, need)
	}
	if packed := s2.Encode((*buf)[:cap(*buf)], r.Payload); len(packed) < len(r.Payload) {
		p.body, p.encoding = packed, encodingS2
	}
	return p
}

// admit reserves n bytes of the head. While the head is full it waits for the
// compactors, but not long: a client that is slowed down to their speed loses
// nothing, one that is refused has to keep the request and come again.
func (s *Store) admit(ctx context.Context, n int64) error {
	var late <-chan time.Time
	for {
		room, swapped := s.reserve(n)
		if room {
			return nil
		}
		if late == nil {
			timer := time.NewTimer(s.tune.roomWait)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-swapped:
		case <-late:
			return ErrOverloaded
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return ErrClosed
		}
	}
}

// reserve is admit without the wait: swapped is closed when it is worth trying
// again. An empty head takes a request of any size, so that none is refused for
// ever. When the head is full the compactors are told not to wait for more.
func (s *Store) reserve(n int64) (room bool, swapped <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.headBytes == 0 || s.headBytes+n <= s.opts.MaxHeadBytes {
		s.headBytes += n
		return true, nil
	}
	for i := range s.signals {
		if st := &s.signals[i]; len(st.pieces) > 0 {
			st.flushTo = st.published
			poke(s.wake[i])
		}
	}
	return false, s.swapped
}

// forget gives back what admit reserved.
func (s *Store) forget(n int64) {
	s.mu.Lock()
	s.headBytes -= n
	s.mu.Unlock()
}
