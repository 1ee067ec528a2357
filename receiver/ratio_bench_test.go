package receiver_test

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"

	"sonde/receiver"
	"sonde/storage"
	"sonde/storage/otlp"
	"sonde/storage/storagetest"
)

// ratioRequests is how many requests one server gets before it is the other's
// turn: enough for several runs of the compactor, few enough that both see the
// same moods of the machine.
const ratioRequests = 256

// BenchmarkRatio compares with the ceiling of a receiver that decodes with
// pdata: a null sink with the same gRPC settings that decodes requests and
// stores nothing. Both are loaded by turns in one run on the same connections'
// worth of clients. ratio is of acknowledged records, drained-ratio counts until
// everything is in blocks.
func BenchmarkRatio(b *testing.B) {
	items := map[otlp.Signal]string{otlp.Logs: "logs", otlp.Traces: "spans", otlp.Metrics: "points"}
	for _, signal := range otlp.Signals {
		b.Run(items[signal], func(b *testing.B) {
			corpus := newCorpus(signal, corpusRequests)
			store := storagetest.Open(b, storage.Options{})
			sonde := grpcSenders(b, start(b, store, receiver.Options{}).grpcAddr, signal)
			null := grpcSenders(b, startNullSink(b), signal)
			load(b, sonde, corpus, connections)
			load(b, null, corpus, connections)

			var nullTime, ackTime, drainTime time.Duration
			rounds := 0
			for b.Loop() {
				began := time.Now()
				load(b, null, corpus, ratioRequests)
				nullTime += time.Since(began)

				began = time.Now()
				load(b, sonde, corpus, ratioRequests)
				ackTime += time.Since(began)
				if err := store.WaitCompacted(b.Context()); err != nil {
					b.Fatal(err)
				}
				drainTime += time.Since(began)
				rounds++
			}
			records := float64(rounds * ratioRequests * batch)
			b.ReportMetric(0, "ns/op") // of a pair of rounds; says nothing
			b.ReportMetric(records/nullTime.Seconds(), "null-records/s")
			b.ReportMetric(records/ackTime.Seconds(), "records/s")
			b.ReportMetric(records/drainTime.Seconds(), "drained-records/s")
			b.ReportMetric(nullTime.Seconds()/ackTime.Seconds(), "ratio")
			b.ReportMetric(nullTime.Seconds()/drainTime.Seconds(), "drained-ratio")
		})
	}
}

type (
	nullLogs struct {
		plogotlp.UnimplementedGRPCServer
	}
	nullTraces struct {
		ptraceotlp.UnimplementedGRPCServer
	}
	nullMetrics struct {
		pmetricotlp.UnimplementedGRPCServer
	}
)

func (*nullLogs) Export(context.Context, plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	return plogotlp.NewExportResponse(), nil
}

func (*nullTraces) Export(context.Context, ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	return ptraceotlp.NewExportResponse(), nil
}

func (*nullMetrics) Export(context.Context, pmetricotlp.ExportRequest) (pmetricotlp.ExportResponse, error) {
	return pmetricotlp.NewExportResponse(), nil
}

// startNullSink serves the three services with pdata's stubs and returns the
// address.
func startNullSink(b *testing.B) string {
	b.Helper()
	sink := grpc.NewServer(receiver.ServerOptions(receiver.New(&fakeWriter{}, receiver.Options{}))...)
	plogotlp.RegisterGRPCServer(sink, &nullLogs{})
	ptraceotlp.RegisterGRPCServer(sink, &nullTraces{})
	pmetricotlp.RegisterGRPCServer(sink, &nullMetrics{})
	listener := listen(b)
	served := make(chan error, 1)
	go func() { served <- sink.Serve(listener) }()
	b.Cleanup(func() {
		sink.Stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	return listener.Addr().String()
}
