// Package demo plays a small web shop through the real OpenTelemetry Go SDK:
// six services that trace, log and measure a stream of customers' requests, and
// one fault in them for the reader to find.
//
// Each service has providers of its own, as six processes would. The clock of a
// request is played: its spans carry the times of a request that ended just
// now, so nothing waits for a database that is not there.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
)

// Options say how much is played and where it goes.
type Options struct {
	Endpoint string        // HOST:PORT of an OTLP/gRPC receiver without TLS
	Token    string        // bearer token, "" for none
	For      time.Duration // how long requests are made
	Rate     float64       // customers' requests a second
	Seed     uint64        // same seed, same customers
	Progress io.Writer     // a line a second; nil for silence
}

// Summary says what was sent.
type Summary struct {
	Requests int // customers' requests
	Failed   int // of them, those that ended in an error
}

// faultAfter is the share of the run that passes before the fault begins, so
// that before and after can be compared.
const faultAfter = 1.0 / 3

// Run plays the shop until o.For has passed or ctx ends, and flushes. It fails
// when anything could not be delivered.
func Run(ctx context.Context, o Options) (Summary, error) {
	var failures exportFailures
	otel.SetErrorHandler(&failures)
	s, err := openShop(ctx, o)
	if err != nil {
		return Summary{}, err
	}
	sum := s.play(ctx, o)
	// What was played is delivered even when ctx has ended.
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return sum, errors.Join(s.close(flush), failures.err())
}

// play makes requests at the asked rate.
func (s *shop) play(ctx context.Context, o Options) Summary {
	rng := rand.New(rand.NewPCG(o.Seed, 1)) //nolint:gosec // a repeatable play, not a secret
	begin := time.Now()
	tick := time.NewTicker(time.Duration(float64(time.Second) / o.Rate))
	defer tick.Stop()
	var sum Summary
	reported := begin
	for {
		select {
		case <-ctx.Done():
			return sum
		case now := <-tick.C:
			elapsed := now.Sub(begin)
			if elapsed >= o.For {
				return sum
			}
			if elapsed >= time.Duration(faultAfter*float64(o.For)) {
				s.breakSomething(ctx, now)
			}
			sum.Requests++
			if err := s.customer(ctx, rng, now); err != nil {
				sum.Failed++
			}
			if o.Progress != nil && now.Sub(reported) >= time.Second {
				reported = now
				fmt.Fprintf(o.Progress, "\r%s of %s, %d requests ", elapsed.Round(time.Second), o.For, sum.Requests)
			}
		}
	}
}

// exportFailures counts what the SDK could not deliver; it reports such errors
// only to a global handler.
type exportFailures struct {
	count atomic.Int64
	first atomic.Pointer[error]
}

// Handle implements otel.ErrorHandler.
func (f *exportFailures) Handle(err error) {
	f.count.Add(1)
	f.first.CompareAndSwap(nil, &err)
}

func (f *exportFailures) err() error {
	if n := f.count.Load(); n > 0 {
		return fmt.Errorf("%d exports failed, the first: %w", n, *f.first.Load())
	}
	return nil
}
