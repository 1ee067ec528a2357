package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const scope = "sonde/demo"

// clock is the played time of one request.
type clock struct{ now time.Time }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

// service is one program of the shop, instrumented as a real one would be.
type service struct {
	name     string
	tracer   trace.Tracer
	handler  slog.Handler
	meter    metric.Meter
	duration metric.Float64Histogram // of the requests it serves
	shutdown []func(context.Context) error
}

// startService builds the providers of one service. Close what it returns.
func startService(ctx context.Context, o Options, name, version string) (*service, error) {
	res, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", name),
		attribute.String("service.namespace", "shop"),
		attribute.String("service.version", version),
		attribute.String("service.instance.id", name+"-5d8f7"),
		attribute.String("deployment.environment.name", "demo"),
	))
	if err != nil {
		return nil, fmt.Errorf("cannot describe service %q: %w", name, err)
	}
	headers := map[string]string{}
	if o.Token != "" {
		headers["authorization"] = "Bearer " + o.Token
	}
	spans, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(o.Endpoint), otlptracegrpc.WithInsecure(), otlptracegrpc.WithHeaders(headers))
	if err != nil {
		return nil, fmt.Errorf("cannot export spans of %q: %w", name, err)
	}
	logs, err := otlploggrpc.New(ctx, otlploggrpc.WithEndpoint(o.Endpoint), otlploggrpc.WithInsecure(), otlploggrpc.WithHeaders(headers))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot export logs of %q: %w", name, err), spans.Shutdown(ctx))
	}
	points, err := otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpoint(o.Endpoint), otlpmetricgrpc.WithInsecure(), otlpmetricgrpc.WithHeaders(headers))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot export metrics of %q: %w", name, err), spans.Shutdown(ctx), logs.Shutdown(ctx))
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithBatcher(spans, sdktrace.WithBatchTimeout(time.Second)))
	lp := sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithProcessor(sdklog.NewBatchProcessor(logs)))
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(
		sdkmetric.NewPeriodicReader(points, sdkmetric.WithInterval(5*time.Second))))
	s := &service{
		name:     name,
		tracer:   tp.Tracer(scope, trace.WithInstrumentationVersion(version)),
		handler:  otelslog.NewHandler(scope, otelslog.WithLoggerProvider(lp)),
		meter:    mp.Meter(scope),
		shutdown: []func(context.Context) error{tp.Shutdown, lp.Shutdown, mp.Shutdown},
	}
	s.duration, err = s.meter.Float64Histogram("http.server.request.duration",
		metric.WithUnit("s"), metric.WithDescription("Duration of HTTP server requests."))
	if err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// close flushes and stops the providers.
func (s *service) close(ctx context.Context) error {
	var errs []error
	for _, f := range s.shutdown {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}

// span plays one operation: work runs under a span of the service, whose times
// are read from the clock before and after.
func (s *service) span(ctx context.Context, c *clock, kind trace.SpanKind, name string, attrs []attribute.KeyValue, work func(context.Context) error, opts ...trace.SpanStartOption) error {
	opts = append(opts, trace.WithTimestamp(c.now), trace.WithSpanKind(kind), trace.WithAttributes(attrs...))
	ctx, span := s.tracer.Start(ctx, name, opts...)
	err := work(ctx)
	if err != nil {
		span.RecordError(err, trace.WithTimestamp(c.now))
		span.SetStatus(codes.Error, err.Error())
	}
	span.End(trace.WithTimestamp(c.now))
	return err
}

// serve is span for an HTTP request that the service answers; it measures it too.
func (s *service) serve(ctx context.Context, c *clock, method, route string, work func(context.Context) error) error {
	begin := c.now
	attrs := []attribute.KeyValue{attribute.String("http.request.method", method), attribute.String("http.route", route)}
	return s.span(ctx, c, trace.SpanKindServer, method+" "+route, attrs, func(ctx context.Context) error {
		err := work(ctx)
		status := 200
		if err != nil {
			status = statusOf(err)
		}
		code := attribute.Int("http.response.status_code", status)
		trace.SpanFromContext(ctx).SetAttributes(code)
		s.duration.Record(ctx, c.now.Sub(begin).Seconds(), metric.WithAttributes(append(attrs, code)...))
		return err
	})
}

// log writes a record at the played time, linked to the span in ctx.
func (s *service) log(ctx context.Context, c *clock, level slog.Level, message string, attrs ...slog.Attr) {
	r := slog.NewRecord(c.now, level, message, 0)
	r.AddAttrs(attrs...)
	_ = s.handler.Handle(ctx, r) // the bridge only hands the record to its processor and never fails
}
