package storage_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// benchPayloads makes requests of n records, half a million records in all where
// that is not too many requests.
func benchPayloads(b *testing.B, sig otlp.Signal, n int) (payloads [][]byte, bytes int) {
	tr := newTraffic()
	for range min(500_000/n, 5000) {
		p := tr.payload(b, sig, n)
		payloads = append(payloads, p)
		bytes += len(p)
	}
	return payloads, bytes / len(payloads)
}

// BenchmarkAppend has four writers export requests, the wire walk included,
// until all is in blocks. An overloaded store is waited for, as clients do.
func BenchmarkAppend(b *testing.B) {
	cases := []struct {
		sig otlp.Signal
		n   int
	}{{otlp.Logs, 1000}, {otlp.Traces, 1000}, {otlp.Metrics, 1000}, {otlp.Logs, 20}}
	for _, c := range cases {
		b.Run(fmt.Sprintf("signal=%v/records=%d", c.sig, c.n), func(b *testing.B) {
			payloads, size := benchPayloads(b, c.sig, c.n)
			s := open(b, b.TempDir(), storage.Options{}, storage.Tuning{})
			b.SetBytes(int64(size))
			b.ReportAllocs()
			b.SetParallelism(2) // four writers on two cores
			var next atomic.Int64
			cpu := cpuTime(b)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					payload := payloads[next.Add(1)%int64(len(payloads))]
					appendPatiently(b, s, c.sig, payload)
				}
			})
			acked := b.Elapsed()
			if err := s.WaitCompacted(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			b.ReportMetric((cpuTime(b)-cpu).Seconds()*1e6/float64(b.N*c.n), "cpu-s/Mrecord")
			b.ReportMetric(float64(size)/float64(c.n), "raw-B/record")
			reportAppend(b, s, c.sig, c.n, acked)
		})
	}
}

// BenchmarkFloor decodes the same requests with pdata and drops them: what a
// collector pays before it stores anything.
func BenchmarkFloor(b *testing.B) {
	for _, sig := range otlp.Signals {
		b.Run(fmt.Sprintf("signal=%v/records=1000", sig), func(b *testing.B) {
			payloads, size := benchPayloads(b, sig, 1000)
			b.SetBytes(int64(size))
			b.SetParallelism(2)
			var next atomic.Int64
			cpu := cpuTime(b)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := unmarshal(sig, payloads[next.Add(1)%int64(len(payloads))]); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric((cpuTime(b)-cpu).Seconds()*1e3/float64(b.N), "cpu-s/Mrecord")
			b.ReportMetric(float64(b.N*1000)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func unmarshal(sig otlp.Signal, payload []byte) (err error) {
	switch sig {
	case otlp.Logs:
		_, err = new(plog.ProtoUnmarshaler).UnmarshalLogs(payload)
	case otlp.Traces:
		_, err = new(ptrace.ProtoUnmarshaler).UnmarshalTraces(payload)
	default:
		_, err = new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(payload)
	}
	return err
}

func appendPatiently(b *testing.B, s *storage.Store, sig otlp.Signal, payload []byte) {
	for {
		r, err := otlp.Walk(sig, append([]byte(nil), payload...), uint64(time.Now().UnixNano()))
		if err != nil {
			b.Error(err)
			return
		}
		err = s.Append(context.Background(), r)
		if err == nil {
			return
		}
		if !errors.Is(err, storage.ErrOverloaded) {
			b.Error(err)
			return
		}
	}
}

func reportAppend(b *testing.B, s *storage.Store, sig otlp.Signal, n int, acked time.Duration) {
	records := float64(b.N * n)
	st := s.Stats()
	if got := st.Signals[sig].Records; got != uint64(records) {
		b.Fatalf("%d records held, want %v", got, records)
	}
	var parts, head int64
	for _, f := range st.Files {
		if f.Name == "head.db" {
			head += f.Bytes
		} else {
			parts += f.Bytes
		}
	}
	b.ReportMetric(records/acked.Seconds(), "acked-records/s")
	b.ReportMetric(records/b.Elapsed().Seconds(), "drained-records/s")
	b.ReportMetric(float64(parts)/records, "disk-B/record")
	b.ReportMetric(float64(head)/(1<<20), "head-MiB")
	b.ReportMetric(st.CommitSeconds/float64(st.Commits)*1000, "ms/commit")
}

// BenchmarkScan reads the newest block of a store of a million log records: in
// blocks, and with the head in front of them.
func BenchmarkScan(b *testing.B) {
	const requests = 1000
	payloads, _ := benchPayloads(b, otlp.Logs, 1000)
	s := open(b, b.TempDir(), storage.Options{}, storage.Tuning{})
	for i := range requests {
		appendPatiently(b, s, otlp.Logs, payloads[i%len(payloads)])
	}
	if err := s.WaitCompacted(b.Context()); err != nil {
		b.Fatal(err)
	}
	newest := func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			err := s.Scan(b.Context(), storage.ScanOptions{Signal: otlp.Logs}, func(blk *block.Block, _ storage.Position) (bool, error) {
				times, err := blk.Times()
				if len(times) == 0 {
					b.Error("an empty block")
				}
				return false, err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("newest/blocks", newest)
	b.Run("all/times", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rows := 0
			err := s.Scan(b.Context(), storage.ScanOptions{Signal: otlp.Logs}, func(blk *block.Block, _ storage.Position) (bool, error) {
				times, err := blk.Times()
				rows += len(times)
				return true, err
			})
			if err != nil || rows != requests*1000 {
				b.Fatalf("Scan saw %d rows, %v", rows, err)
			}
		}
		b.ReportMetric(float64(requests*1000*b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	for i := range 20 {
		appendPatiently(b, s, otlp.Logs, payloads[i])
	}
	b.Run("newest/head", newest)
}
