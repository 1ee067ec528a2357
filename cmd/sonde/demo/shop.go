package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// lag is how long before now a played request began: longer than the slowest
// one lasts, so that no span ends in the future.
const lag = 5 * time.Second

// shop is the six services.
type shop struct {
	gateway, catalogue, cart, checkout, payments, worker *service
	all                                                  []*service
	orders                                               metric.Int64Counter
	acquirers                                            map[string]*acquirer
	broken                                               bool
}

// openShop starts all services or none.
func openShop(ctx context.Context, o Options) (*shop, error) {
	s := &shop{acquirers: newAcquirers()}
	for _, sv := range []struct {
		at            **service
		name, version string
	}{
		{&s.gateway, "gateway", "3.2.0"},
		{&s.catalogue, "catalogue", "1.14.2"},
		{&s.cart, "cart", "2.0.7"},
		{&s.checkout, "checkout", "4.1.1"},
		{&s.payments, "payments", "2.9.0"},
		{&s.worker, "order-worker", "1.3.5"},
	} {
		started, err := startService(ctx, o, sv.name, sv.version)
		if err != nil {
			return nil, errors.Join(err, s.close(ctx))
		}
		*sv.at = started
		s.all = append(s.all, started)
	}
	if err := s.instruments(); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// instruments registers what is measured beside requests.
func (s *shop) instruments() (err error) {
	s.orders, err = s.checkout.meter.Int64Counter("shop.orders", metric.WithUnit("{order}"),
		metric.WithDescription("Orders by outcome."))
	if err != nil {
		return err
	}
	return s.measureAcquirers()
}

func (s *shop) close(ctx context.Context) error {
	var errs []error
	for _, sv := range s.all {
		errs = append(errs, sv.close(ctx))
	}
	return errors.Join(errs...)
}

// customer plays one request of one customer that began lag before now.
func (s *shop) customer(ctx context.Context, rng *rand.Rand, now time.Time) error {
	c := &clock{now.Add(-lag)}
	switch r := rng.IntN(10); {
	case r < 5:
		return s.browse(ctx, c, rng)
	case r < 8:
		return s.addToCart(ctx, c, rng)
	default:
		return s.buy(ctx, c, rng)
	}
}

func (s *shop) browse(ctx context.Context, c *clock, rng *rand.Rand) error {
	product := productID(rng)
	return s.gateway.serve(ctx, c, "GET", "/products/{id}", func(ctx context.Context) error {
		c.pass(ms(rng, 1, 3))
		return s.product(ctx, c, rng, product)
	})
}

// product asks the catalogue for a product.
func (s *shop) product(ctx context.Context, c *clock, rng *rand.Rand, id int) error {
	return s.catalogue.serve(ctx, c, "GET", "/internal/products/{id}", func(ctx context.Context) error {
		c.pass(ms(rng, 1, 2))
		if rng.IntN(4) > 0 {
			s.catalogue.log(ctx, c, slog.LevelDebug, "product served from cache", slog.Int("product.id", id))
			return nil
		}
		return s.catalogue.span(ctx, c, trace.SpanKindClient, "SELECT shop.products", []attribute.KeyValue{
			attribute.String("db.system.name", "postgresql"),
			attribute.String("db.query.text", "SELECT id, title, price FROM products WHERE id = $1"),
		}, func(context.Context) error {
			c.pass(ms(rng, 3, 25))
			return nil
		})
	})
}

func (s *shop) addToCart(ctx context.Context, c *clock, rng *rand.Rand) error {
	product, user := productID(rng), userID(rng)
	return s.gateway.serve(ctx, c, "POST", "/cart/items", func(ctx context.Context) error {
		c.pass(ms(rng, 1, 3))
		return s.cart.serve(ctx, c, "POST", "/internal/carts/{user}/items", func(ctx context.Context) error {
			if err := s.product(ctx, c, rng, product); err != nil {
				return err
			}
			s.cart.log(ctx, c, slog.LevelInfo, "item added to cart",
				slog.Int("product.id", product), slog.String("user.id", user), slog.Int("quantity", 1+rng.IntN(3)))
			return s.redis(ctx, c, rng, "HSET")
		})
	})
}

func (s *shop) redis(ctx context.Context, c *clock, rng *rand.Rand, command string) error {
	return s.cart.span(ctx, c, trace.SpanKindClient, command, []attribute.KeyValue{
		attribute.String("db.system.name", "redis"),
		attribute.String("server.address", "cart-redis-0"),
	}, func(context.Context) error {
		c.pass(ms(rng, 1, 2))
		return nil
	})
}

// buy plays a checkout: cart, payment, and the order handed to the worker.
func (s *shop) buy(ctx context.Context, c *clock, rng *rand.Rand) error {
	o := newOrder(rng)
	err := s.gateway.serve(ctx, c, "POST", "/checkout", func(ctx context.Context) error {
		c.pass(ms(rng, 1, 3))
		return s.checkout.serve(ctx, c, "POST", "/internal/orders", func(ctx context.Context) error {
			if err := s.redis(ctx, c, rng, "HGETALL"); err != nil {
				return err
			}
			if err := s.pay(ctx, c, rng, o); err != nil {
				s.checkout.log(ctx, c, slog.LevelError, fmt.Sprintf("order %s could not be placed: %v", o.id, err),
					slog.String("order.id", o.id), slog.String("user.id", o.user), slog.String("currency", o.currency))
				s.orders.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", "failed"), attribute.String("currency", o.currency)))
				return err
			}
			s.checkout.log(ctx, c, slog.LevelInfo, "order placed",
				slog.String("order.id", o.id), slog.String("currency", o.currency), slog.Float64("total", o.total))
			s.orders.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", "placed"), attribute.String("currency", o.currency)))
			return s.publish(ctx, c, rng, o)
		})
	})
	if err != nil {
		s.gateway.log(ctx, c, slog.LevelWarn, "answered 502 to a customer", slog.String("url.path", "/checkout"), slog.String("user.id", o.user))
	}
	return err
}

// publish hands the order to the worker, which works in a trace of its own that
// links back.
func (s *shop) publish(ctx context.Context, c *clock, rng *rand.Rand, o order) error {
	attrs := []attribute.KeyValue{
		attribute.String("messaging.system", "kafka"),
		attribute.String("messaging.destination.name", "orders.v2"),
	}
	var sent trace.SpanContext
	err := s.checkout.span(ctx, c, trace.SpanKindProducer, "send orders.v2", attrs, func(ctx context.Context) error {
		c.pass(ms(rng, 1, 4))
		sent = trace.SpanContextFromContext(ctx)
		return nil
	})
	if err != nil {
		return err
	}
	later := &clock{c.now.Add(ms(rng, 20, 200))}
	return s.worker.span(ctx, later, trace.SpanKindConsumer, "process orders.v2", attrs,
		func(ctx context.Context) error {
			later.pass(ms(rng, 5, 40))
			s.worker.log(ctx, later, slog.LevelInfo, "order packed and invoice sent", slog.String("order.id", o.id))
			return nil
		}, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: sent}))
}

// order is what a customer buys.
type order struct {
	id, user, currency string
	total              float64
}

func newOrder(rng *rand.Rand) order {
	currencies := [...]string{"EUR", "EUR", "USD", "SEK", "GBP"}
	return order{
		id:       fmt.Sprintf("o-%06d", rng.IntN(1_000_000)),
		user:     userID(rng),
		currency: currencies[rng.IntN(len(currencies))],
		total:    float64(500+rng.IntN(20_000)) / 100,
	}
}

func userID(rng *rand.Rand) string { return fmt.Sprintf("u-%04d", rng.IntN(2_000)) }

func productID(rng *rand.Rand) int { return 1 + rng.IntN(500) }

// ms is a duration between low and high milliseconds.
func ms(rng *rand.Rand, low, high int) time.Duration {
	return time.Duration(low)*time.Millisecond + time.Duration(rng.Int64N(int64(high-low+1)*int64(time.Millisecond)))
}
