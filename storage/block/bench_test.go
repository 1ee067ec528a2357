//go:build unix

package block_test

import (
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// benchItems is a run of the compactor: 64 requests of 1,000 items.
const benchItems = 64 * corpusBatch

// BenchmarkEncode builds the blocks of a run and encodes them: cpu/pdata is what
// that takes of the CPU against unmarshalling the same requests with pdata.
func BenchmarkEncode(b *testing.B) {
	for _, s := range otlp.Signals {
		b.Run(benchName(s), func(b *testing.B) {
			rs := newCorpus(b, s, benchItems)
			items, raw, encoded := 0, 0, 0
			for _, r := range rs {
				items += len(r.Items)
				raw += len(r.Payload)
			}
			b.SetBytes(int64(raw))
			b.ReportAllocs()
			builder := build(rs)
			start, cpu := time.Now(), cpuTime()
			for b.Loop() {
				encoded = 0
				builder.Reset()
				for _, r := range rs {
					builder.Add(r)
				}
				err := builder.Encode(func(_ block.Header, e []byte) error {
					encoded += len(e)
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			wall, used := time.Since(start), cpuTime()-cpu
			records := float64(items) * float64(b.N)
			b.ReportMetric(records/wall.Seconds(), "records/s")
			b.ReportMetric(used.Seconds()/records*1e6, "cpu-s/Mrecord")
			b.ReportMetric(used.Seconds()/float64(b.N)/unmarshalTime(b, s, rs).Seconds(), "cpu/pdata")
			b.ReportMetric(float64(encoded)/float64(items), "bytes/record")
		})
	}
}

// BenchmarkDecode opens a full block and reads all columns, one of them, a
// single item or all.
func BenchmarkDecode(b *testing.B) {
	for _, s := range otlp.Signals {
		encoded := encode(b, build(newCorpus(b, s, block.MaxRows)))[0]
		for _, c := range []struct {
			name string
			read func(*block.Block) error
		}{
			{"header", func(*block.Block) error { return nil }},
			{"time", func(b *block.Block) error { _, err := b.Times(); return err }},
			{"resource", func(b *block.Block) error { _, err := b.Dict(block.Resource); return err }},
			{"attribute", func(b *block.Block) error { _, err := b.Attribute("http.route"); return err }},
			{"rest", func(b *block.Block) error { _, err := b.Strings(block.Rest); return err }},
			{"body", func(b *block.Block) error { _, err := b.Strings(block.Body); return err }},
			{"columns", func(b *block.Block) error { _, err := readColumns(b); return err }},
			{"item", func(b *block.Block) error { _, err := b.AppendMessage(nil, b.Rows-1); return err }},
			{"items", appendMessages},
		} {
			if c.name == "body" && s != otlp.Logs {
				continue
			}
			b.Run(benchName(s)+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				rows := 0
				for b.Loop() {
					opened, err := block.Open(encoded)
					if err == nil {
						err = c.read(opened)
					}
					if err != nil {
						b.Fatal(err)
					}
					rows += opened.Rows
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
	}
}

func appendMessages(b *block.Block) (err error) {
	var message []byte
	for row := range b.Rows {
		if message, err = b.AppendMessage(message[:0], row); err != nil {
			return err
		}
	}
	return nil
}

func benchName(s otlp.Signal) string {
	switch s {
	case otlp.Logs:
		return "logs"
	case otlp.Traces:
		return "spans"
	}
	return "points"
}

// unmarshalTime is the CPU time that pdata takes to unmarshal the requests: a
// measure that holds on a busy machine too.
func unmarshalTime(b *testing.B, s otlp.Signal, rs []*otlp.Request) time.Duration {
	const rounds = 5
	start := cpuTime()
	for range rounds {
		for _, r := range rs {
			var err error
			switch s {
			case otlp.Logs:
				_, err = (&plog.ProtoUnmarshaler{}).UnmarshalLogs(r.Payload)
			case otlp.Traces:
				_, err = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(r.Payload)
			default:
				_, err = (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(r.Payload)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	return (cpuTime() - start) / rounds
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
