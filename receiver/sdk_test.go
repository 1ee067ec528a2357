package receiver_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"sonde/receiver"
	"sonde/storage/otlp"
)

// sdkExporters are the exporters of the OpenTelemetry SDK for Go by one
// transport.
type sdkExporters struct {
	logs    sdklog.Exporter
	spans   sdktrace.SpanExporter
	metrics sdkmetric.Exporter
}

func grpcExporters(t *testing.T, s *server) (e sdkExporters) {
	t.Helper()
	var err error
	if e.logs, err = otlploggrpc.New(t.Context(), otlploggrpc.WithEndpoint(s.grpcAddr), otlploggrpc.WithInsecure(), otlploggrpc.WithCompressor("gzip")); err != nil {
		t.Fatal(err)
	}
	if e.spans, err = otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpoint(s.grpcAddr), otlptracegrpc.WithInsecure()); err != nil {
		t.Fatal(err)
	}
	if e.metrics, err = otlpmetricgrpc.New(t.Context(), otlpmetricgrpc.WithEndpoint(s.grpcAddr), otlpmetricgrpc.WithInsecure()); err != nil {
		t.Fatal(err)
	}
	return e
}

func httpExporters(t *testing.T, s *server) (e sdkExporters) {
	t.Helper()
	var err error
	if e.logs, err = otlploghttp.New(t.Context(), otlploghttp.WithEndpoint(s.httpAddr), otlploghttp.WithInsecure(), otlploghttp.WithCompression(otlploghttp.GzipCompression)); err != nil {
		t.Fatal(err)
	}
	if e.spans, err = otlptracehttp.New(t.Context(), otlptracehttp.WithEndpoint(s.httpAddr), otlptracehttp.WithInsecure()); err != nil {
		t.Fatal(err)
	}
	if e.metrics, err = otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpoint(s.httpAddr), otlpmetrichttp.WithInsecure()); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSDKExporters(t *testing.T) {
	for name, exporters := range map[string]func(*testing.T, *server) sdkExporters{"grpc": grpcExporters, "http": httpExporters} {
		t.Run(name, func(t *testing.T) {
			s, store := caseServer(t, receiver.Options{})
			trace := emit(t, exporters(t, s))

			logs := readBack(t, store, otlp.Logs)
			if len(logs) != 2 {
				t.Fatalf("%d log records, want 2", len(logs))
			}
			var bodies []string
			for _, item := range logs {
				item := item.(*logspb.ResourceLogs)
				record := item.ScopeLogs[0].LogRecords[0]
				bodies = append(bodies, record.Body.GetStringValue())
				if string(record.TraceId) != string(trace[:]) || item.Resource.Attributes[0].Value.GetStringValue() != "sdk" {
					t.Errorf("log record %v of %v, want trace %x of service sdk", record, item.Resource, trace)
				}
			}
			slices.Sort(bodies)
			if !slices.Equal(bodies, []string{"log 0", "log 1"}) {
				t.Errorf("bodies = %q", bodies)
			}

			spans := readBack(t, store, otlp.Traces)
			if len(spans) != 1 {
				t.Fatalf("%d spans, want 1", len(spans))
			}
			span := spans[0].(*tracepb.ResourceSpans).ScopeSpans[0].Spans[0]
			if span.Name != "work" || string(span.TraceId) != string(trace[:]) || len(span.Events) != 1 {
				t.Errorf("span = %v, want work of trace %x with an event", span, trace)
			}

			points := readBack(t, store, otlp.Metrics)
			if len(points) != 1 {
				t.Fatalf("%d points, want 1", len(points))
			}
			m := points[0].(*metricspb.ResourceMetrics).ScopeMetrics[0].Metrics[0]
			if m.Name != "jobs" || m.GetSum().GetDataPoints()[0].GetAsInt() != 3 {
				t.Errorf("metric = %v, want jobs of 3", m)
			}
		})
	}
}

// emit makes a span, two log records in it and a metric. It returns the trace
// id, once everything was exported.
func emit(t *testing.T, e sdkExporters) [16]byte {
	t.Helper()
	about := resource.NewSchemaless(attribute.String("service.name", "sdk"))
	spans := sdktrace.NewTracerProvider(sdktrace.WithBatcher(e.spans), sdktrace.WithResource(about))
	logs := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(e.logs)), sdklog.WithResource(about))
	metrics := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(e.metrics)), sdkmetric.WithResource(about))

	ctx, span := spans.Tracer("test").Start(t.Context(), "work")
	for _, body := range []string{"log 0", "log 1"} {
		var record log.Record
		record.SetTimestamp(time.Now())
		record.SetBody(attribute.StringValue(body))
		logs.Logger("test").Emit(ctx, record)
	}
	jobs, err := metrics.Meter("test").Int64Counter("jobs")
	if err != nil {
		t.Fatal(err)
	}
	jobs.Add(ctx, 3, metric.WithAttributes(attribute.String("queue", "mail")))
	span.AddEvent("done")
	span.End()

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for name, shutdown := range map[string]func(context.Context) error{"spans": spans.Shutdown, "logs": logs.Shutdown, "metrics": metrics.Shutdown} {
		if err := shutdown(ctx); err != nil {
			t.Errorf("shutdown of %s: %v", name, err)
		}
	}
	return span.SpanContext().TraceID()
}
