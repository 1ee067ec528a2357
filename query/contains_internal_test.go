package query

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// containsFold is contains as it is promised, letter by letter.
func containsFold(text, part string) bool {
	runes, n := []rune(text), utf8.RuneCountInString(part)
	for i := 0; i+n <= len(runes); i++ {
		if strings.EqualFold(string(runes[i:i+n]), part) {
			return true
		}
	}
	return false
}

// letters that fold in the ways there are: within ASCII, from and to ASCII, to
// other lengths, in threes, not at all.
var letters = []string{"a", "A", "k", "K", "\u212a", "s", "S", "ſ", "ß", "ẞ", "σ", "ς", "Σ", "ä", "Ä", "Ⱥ", "ⱥ", "İ", "ı", "é", "0", "1", "-", "\n", "\x02", "世", "😀"}

func randomText(r *rand.Rand, max int) string {
	var b strings.Builder
	alphabet := letters
	if r.IntN(2) == 0 { // ASCII alone takes other ways
		alphabet = []string{"a", "A", "k", "K", "s", "S", "0", "-", "\n", "\x02", "z", "Z", "@", "["}
	}
	for range r.IntN(max + 1) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// randomValue returns a value as attributes have them.
func randomValue(r *rand.Rand) pcommon.Value {
	v := pcommon.NewValueEmpty()
	switch r.IntN(10) {
	case 0:
		v.SetInt((r.Int64() - math.MaxInt64/2) >> r.IntN(63))
	case 1:
		v.SetDouble([]float64{0, 1.5, -2, 1e30, 1e-9, math.NaN(), math.Inf(-1)}[r.IntN(7)])
	case 2:
		v.SetBool(r.IntN(2) == 0)
	case 3:
		v.SetEmptyBytes().FromRaw([]byte(randomText(r, 4)))
	case 4:
		v.SetEmptyMap().PutStr("k", randomText(r, 3))
	case 5: // long, so that its length takes two bytes
		v.SetStr(strings.Repeat("-", 200) + randomText(r, 5))
	default:
		v.SetStr(randomText(r, 12))
	}
	return v
}

// rawValue returns the message AnyValue of v.
func rawValue(t testing.TB, v pcommon.Value) []byte {
	t.Helper()
	logs := plog.NewLogs()
	v.CopyTo(logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body())
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
	if err != nil {
		t.Fatal(err)
	}
	request, err := otlp.Walk(otlp.Logs, payload, 1)
	if err != nil {
		t.Fatal(err)
	}
	return field(request.Bytes(request.Items[0].Message), otlp.LogRecordBody)
}

func randomNeedle(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return []string{"TRUE", "1", "-2", "1.5", "nan", "Infinity", "e", `{"K":`, "-", "e+30", "AA=="}[r.IntN(11)]
	}
	for {
		if text := randomText(r, 3); text != "" {
			return text
		}
	}
}

func TestNeedleInAttributes(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		var column block.AttributeColumn
		var texts []string
		for row := range 1 + r.IntN(20) {
			v := randomValue(r)
			column.Rows = append(column.Rows, uint32(row))
			column.Values.Data = append(column.Values.Data, rawValue(t, v)...)
			column.Values.Ends = append(column.Values.Ends, uint32(len(column.Values.Data)))
			texts = append(texts, string(otlp.AppendText(nil, v)))
		}
		part := randomNeedle(r)
		if text := texts[0]; r.IntN(3) == 0 && text != "" {
			part = text // all of a value, to the last digit
		}
		var all, found rows
		all.fill(len(texts))
		found.reset(len(texts))
		newNeedle(part).searchAttribute(&column, &all, &found)
		for row, text := range texts {
			if got, want := found.has(row), containsFold(text, part); got != want {
				t.Fatalf("seed %d: %q of %q contains %q = %v, want %v", seed, text, texts, part, got, want)
			}
		}
	}
}

func TestNeedleInTexts(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		var column block.Strings
		var texts []string
		for range 1 + r.IntN(20) {
			texts = append(texts, randomText(r, 12))
			column.Data = append(column.Data, texts[len(texts)-1]...)
			column.Ends = append(column.Ends, uint32(len(column.Data)))
		}
		part := randomNeedle(r)
		var got, want []int
		isText := func(i int) (int, bool) { return 0, i%5 != 4 }
		newNeedle(part).search(&column, isText, func(i int) { got = append(got, i) })
		for i, text := range texts {
			if i%5 != 4 && containsFold(text, part) {
				want = append(want, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: search(%q, %q) = %v, want %v", seed, texts, part, got, want)
		}
	}
}

func FuzzNeedle(f *testing.F) {
	f.Add("Connection timeout at 10.0.0.1", "TIMEOUT")
	f.Add("5 \u212a is not 5 k", "K i")
	f.Add("Straße", "STRAẞE")
	f.Fuzz(func(t *testing.T, text, part string) {
		if part == "" || !utf8.ValidString(text) || !utf8.ValidString(part) {
			return
		}
		want := containsFold(text, part)
		if got := newNeedle(part).in([]byte(text)); got != want {
			t.Errorf("%q contains %q = %v, want %v", text, part, got, want)
		}
		column := block.Strings{Data: []byte(text), Ends: []uint32{uint32(len(text))}}
		got := false
		newNeedle(part).search(&column, func(int) (int, bool) { return 0, true }, func(int) { got = true })
		if got != want {
			t.Errorf("search of %q for %q = %v, want %v", text, part, got, want)
		}
	})
}
