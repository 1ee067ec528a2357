package block_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// readEncoded returns all that encoded bytes say, or the first error.
func readEncoded(encoded []byte) (string, error) {
	b, err := block.Open(encoded)
	if err != nil {
		return "", err
	}
	return read(b)
}

// small returns an encoded block of a few rows that have all fields.
func small(t testing.TB, s otlp.Signal, seed uint64) []byte {
	t.Helper()
	f := filler{rand.New(rand.NewPCG(seed, uint64(s))), true, true}
	var r *otlp.Request
	for r == nil || len(r.Payload) > 2<<10 {
		r = f.request(t, s)
	}
	return encode(t, build([]*otlp.Request{r}))[0]
}

// TestDamageIsFound flips every bit of an encoded block, and cuts it at every
// byte: what comes back is the truth or ErrCorrupt.
func TestDamageIsFound(t *testing.T) {
	for _, s := range otlp.Signals {
		t.Run(s.String(), func(t *testing.T) {
			encoded := small(t, s, 7)
			want, err := readEncoded(encoded)
			if err != nil {
				t.Fatal(err)
			}
			for bit := range len(encoded) * 8 {
				damaged := slices.Clone(encoded)
				damaged[bit/8] ^= 1 << (bit % 8)
				got, err := readEncoded(damaged)
				if err == nil && got != want {
					t.Errorf("bit %d of %d bytes flipped: other data without an error", bit, len(encoded))
				}
				if err != nil && !errors.Is(err, block.ErrCorrupt) {
					t.Errorf("bit %d flipped: %v, want ErrCorrupt", bit, err)
				}
			}
			for size := range encoded {
				if _, err := readEncoded(encoded[:size]); !errors.Is(err, block.ErrCorrupt) {
					t.Errorf("cut to %d of %d bytes: %v, want ErrCorrupt", size, len(encoded), err)
				}
			}
			if _, err := readEncoded(append(slices.Clone(encoded), 0)); !errors.Is(err, block.ErrCorrupt) {
				t.Errorf("a byte appended: %v, want ErrCorrupt", err)
			}
		})
	}
}

func TestOpenOfAnotherVersion(t *testing.T) {
	encoded := small(t, otlp.Logs, 1)
	encoded[0] = 9
	if _, err := block.Open(encoded); !errors.Is(err, block.ErrCorrupt) || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("Open = %v, want ErrCorrupt that names version 9", err)
	}
}

// TestUnknownColumnIsSkipped: a later build may add columns.
func TestUnknownColumnIsSkipped(t *testing.T) {
	for _, s := range otlp.Signals {
		encoded := small(t, s, 3)
		want, err := readEncoded(encoded)
		if err != nil {
			t.Fatal(err)
		}
		more, err := block.WithColumn(encoded, 201, []byte("what a later build knows"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readEncoded(more); err != nil || got != want {
			t.Errorf("%v: a block with an unknown column reads otherwise, %v", s, err)
		}
	}
}

// FuzzOpen: whatever the bytes, and be all checksums right, reading ends in
// rows or in ErrCorrupt.
func FuzzOpen(f *testing.F) {
	for _, s := range otlp.Signals {
		for seed := range uint64(3) {
			f.Add(small(f, s, seed), false)
			f.Add(small(f, s, seed), true)
		}
	}
	f.Fuzz(func(t *testing.T, encoded []byte, reseal bool) {
		if reseal {
			block.Reseal(encoded)
		}
		b, err := block.Open(encoded)
		if err == nil {
			var first, second string
			if first, err = read(b); err == nil {
				if second, err = readEncoded(encoded); err != nil || first != second {
					t.Errorf("a second reading says %v, or other than the first", err)
				}
			}
		}
		if err != nil && !errors.Is(err, block.ErrCorrupt) {
			t.Errorf("reading gives %v, want ErrCorrupt", err)
		}
	})
}

// FuzzColumn: the decoders of all forms of columns take any bytes.
func FuzzColumn(f *testing.F) {
	for _, seed := range []string{"\x00\x00\x05", "\x04\x01\x00\x01\x02", "\x02\x01\x03", "\x00abc", "\x02\x02\x03abcd", "\x03\x01\x02ab\x01\x02\x00"} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, raw []byte, rows int) {
		if rows <= 0 || rows > block.MaxRows {
			return
		}
		if err := block.DecodeColumn(raw, rows); err != nil && !errors.Is(err, block.ErrCorrupt) {
			t.Errorf("decoding gives %v, want ErrCorrupt", err)
		}
	})
}
