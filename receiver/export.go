package receiver

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"sonde/storage"
	"sonde/storage/otlp"
)

// answer is what a successful export tells the client.
type answer struct {
	signal   otlp.Signal
	rejected int    // items refused for good; 0: full success
	reason   string // why, in English
}

// export is the one way of a request into the Writer. It owns body, an
// Export*ServiceRequest message.
func (r *Receiver) export(ctx context.Context, s otlp.Signal, t storage.Transport, body []byte) (answer, error) {
	request, err := otlp.Walk(s, body, uint64(time.Now().UnixNano()))
	if err != nil {
		return answer{}, err
	}
	// Append takes the request away, so read it first.
	items := len(request.Items)
	a := answer{signal: s, rejected: request.Rejected, reason: request.RejectReason}
	if items > 0 {
		if err := r.writer.Append(ctx, request); err != nil {
			r.writer.CountIntake(s, t, storage.Intake{Refused: uint64(items)})
			return answer{}, err
		}
	}
	r.writer.CountIntake(s, t, storage.Intake{Stored: uint64(items), Rejected: uint64(a.rejected)})
	return a, nil
}

// tooLarge says that a request is over the limit.
func (r *Receiver) tooLarge() error {
	return fmt.Errorf("%w: the limit is %d bytes, before and after decompression", errTooLarge, r.options.MaxBodyBytes)
}

// noteFailure counts a failed request and returns what the client is told.
func (r *Receiver) noteFailure(s otlp.Signal, t storage.Transport, err error) failure {
	f, known := failureOf(err)
	if f.rejected {
		r.writer.CountIntake(s, t, storage.Intake{Rejected: 1})
	}
	if !known && r.logged.ok(time.Now()) {
		r.options.Log.Error("cannot store OTLP request", "signal", s, "transport", t, "error", err)
	}
	return f
}

// seldom spaces out log lines about what may happen at a high rate.
type seldom struct{ last atomic.Int64 }

// ok reports whether a second has passed since it last did.
func (s *seldom) ok(now time.Time) bool {
	last := s.last.Load()
	return now.UnixNano()-last >= int64(time.Second) && s.last.CompareAndSwap(last, now.UnixNano())
}
