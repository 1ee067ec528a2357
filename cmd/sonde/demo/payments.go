package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// acquirer is a bank that payments are authorised with, behind a pool of
// connections. The pool of one of them shrinks: that is the fault to find.
type acquirer struct {
	name  string
	limit atomic.Int64 // connections the pool may hold
	used  atomic.Int64 // connections in use when last asked
}

const (
	healthyLimit = 32
	brokenLimit  = 2
	poolTimeout  = 3 * time.Second
)

func newAcquirers() map[string]*acquirer {
	banks := map[string]*acquirer{}
	for currency, name := range map[string]string{"EUR": "eurobank", "USD": "firstunion", "GBP": "thames", "SEK": "nordbank"} {
		a := &acquirer{name: name}
		a.limit.Store(healthyLimit)
		banks[currency] = a
	}
	return banks
}

// measureAcquirers observes the pools.
func (s *shop) measureAcquirers() error {
	limit, err := s.payments.meter.Int64ObservableGauge("payments.acquirer.connections.limit", metric.WithUnit("{connection}"))
	if err != nil {
		return err
	}
	used, err := s.payments.meter.Int64ObservableGauge("payments.acquirer.connections.used", metric.WithUnit("{connection}"))
	if err != nil {
		return err
	}
	_, err = s.payments.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, a := range s.acquirers {
			by := metric.WithAttributes(attribute.String("acquirer", a.name))
			o.ObserveInt64(limit, a.limit.Load(), by)
			o.ObserveInt64(used, a.used.Load(), by)
		}
		return nil
	}, limit, used)
	return err
}

// breakSomething begins the fault, once.
func (s *shop) breakSomething(ctx context.Context, now time.Time) {
	if s.broken {
		return
	}
	s.broken = true
	a := s.acquirers["SEK"]
	a.limit.Store(brokenLimit)
	s.payments.log(ctx, &clock{now.Add(-lag)}, slog.LevelInfo, "configuration reloaded",
		slog.String("config.key", "acquirer."+a.name+".max_connections"),
		slog.Int("config.old", healthyLimit), slog.Int("config.new", brokenLimit))
}

// statusError is an error with the HTTP status it is answered with.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

func statusOf(err error) int {
	var e *statusError
	if errors.As(err, &e) {
		return e.status
	}
	return 500
}

// pay authorises an order's payment.
func (s *shop) pay(ctx context.Context, c *clock, rng *rand.Rand, o order) error {
	return s.payments.serve(ctx, c, "POST", "/internal/payments", func(ctx context.Context) error {
		a := s.acquirers[o.currency]
		attrs := []attribute.KeyValue{
			attribute.String("server.address", a.name+".example"),
			attribute.String("payment.acquirer", a.name),
			attribute.String("payment.currency", o.currency),
			attribute.Float64("payment.amount", o.total),
		}
		err := s.payments.span(ctx, c, trace.SpanKindClient, "POST /authorize", attrs, func(ctx context.Context) error {
			return s.authorize(ctx, c, rng, a)
		})
		if err != nil {
			s.payments.log(ctx, c, slog.LevelError, "payment authorization failed: "+err.Error(),
				slog.String("payment.acquirer", a.name), slog.String("order.id", o.id),
				slog.String("exception.type", "PoolTimeout"), slog.String("exception.message", err.Error()))
		}
		return err
	})
}

// authorize calls the bank: it needs a connection from the pool first.
func (s *shop) authorize(ctx context.Context, c *clock, rng *rand.Rand, a *acquirer) error {
	limit := a.limit.Load()
	wanted := 1 + rng.Int64N(6) // how many callers there are at this moment
	a.used.Store(min(wanted, limit))
	if wanted <= limit {
		c.pass(ms(rng, 40, 180))
		return nil
	}
	s.payments.log(ctx, c, slog.LevelWarn, "waiting for a free connection",
		slog.String("payment.acquirer", a.name), slog.Int64("pool.limit", limit), slog.Int64("pool.waiting", wanted-limit))
	c.pass(poolTimeout)
	return &statusError{502, fmt.Sprintf("no connection to %s within %s: pool exhausted (%d of %d in use)", a.name, poolTimeout, limit, limit)}
}
