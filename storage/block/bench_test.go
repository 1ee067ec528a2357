package block_test

import (
	"syscall"
	"testing"
	"time"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// benchItems is a run of the compactor: 64 requests of 1,000 items.
const benchItems = 64 * corpusBatch

// BenchmarkEncode builds blocks of a run and encodes them.
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
			start, cpu := time.Now(), cpuTime()
			for b.Loop() {
				encoded = 0
				err := build(rs).Encode(func(_ block.Header, e []byte) error {
					encoded += len(e)
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			records := float64(items) * float64(b.N)
			b.ReportMetric(records/time.Since(start).Seconds(), "records/s")
			b.ReportMetric((cpuTime()-cpu).Seconds()/records*1e6, "cpu-s/Mrecord")
			b.ReportMetric(float64(encoded)/float64(items), "bytes/record")
		})
	}
}

// BenchmarkDecode opens a full block and reads all of it, the one column that a
// substring search needs, one attribute, or a single item.
func BenchmarkDecode(b *testing.B) {
	for _, s := range otlp.Signals {
		encoded := encode(b, build(newCorpus(b, s, block.MaxRows)))[0]
		for name, read := range map[string]func(*block.Block) error{
			"all":     func(b *block.Block) error { _, err := readColumns(b); return err },
			"time":    func(b *block.Block) error { _, err := b.Times(); return err },
			"rest":    func(b *block.Block) error { _, err := b.Strings(block.Rest); return err },
			"one":     func(b *block.Block) error { _, err := b.AppendMessage(nil, b.Rows-1); return err },
			"header":  func(*block.Block) error { return nil },
			"attr":    func(b *block.Block) error { _, err := b.Attribute("http.route"); return err },
			"body":    func(b *block.Block) error { _, err := b.Strings(block.Body); return err },
			"message": appendMessages,
		} {
			if name == "body" && s != otlp.Logs {
				continue
			}
			b.Run(benchName(s)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				rows := 0
				for b.Loop() {
					opened, err := block.Open(encoded)
					if err == nil {
						err = read(opened)
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

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
