package otlp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"sonde/storage/otlp"
)

// decodedBody returns the value of an AnyValue message.
func decodedBody(t testing.TB, anyValue []byte) pcommon.Value {
	t.Helper()
	logs, err := otlp.DecodeLog(nil, nil, field(5, anyValue))
	if err != nil {
		t.Fatalf("DecodeLog with body %x = %v", anyValue, err)
	}
	return logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body()
}

// Values on the wire.
func str(s string) wire     { return field(1, s) }
func boolean(b uint64) wire { return varint(2, b) }
func integer(i int64) wire  { return varint(3, uint64(i)) }
func double(f float64) wire { return fixed64(4, math.Float64bits(f)) }
func octets(s string) wire  { return field(7, s) }

func array(values ...wire) wire {
	var list []wire
	for _, v := range values {
		list = append(list, field(1, v))
	}
	return field(5, msg(list...))
}

// kvlist takes keys and values in turn.
func kvlist(pairs ...any) wire {
	var list []wire
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, field(1, msg(field(1, pairs[i].(string)), field(2, pairs[i+1].(wire)))))
	}
	return field(6, msg(list...))
}

func TestValueText(t *testing.T) {
	for _, tt := range []struct {
		value      wire
		text, json string
	}{
		{nil, "", `null`},
		{str(""), "", `""`},
		{str("plain"), "plain", `"plain"`},
		{str("a\"b\\c\n\r\t\x00\x1b\x7f"), "a\"b\\c\n\r\t\x00\x1b\x7f", `"a\"b\\c\n\r\t\u0000\u001b` + "\x7f\""},
		{str("<a href=\"x\">&</a>"), `<a href="x">&</a>`, `"<a href=\"x\">&</a>"`},
		{str("grüße \u2028 😀"), "grüße \u2028 😀", "\"grüße \u2028 😀\""},
		{str("a\xff\xe2\x82b"), "a\ufffd\ufffd\ufffdb", "\"a\ufffd\ufffd\ufffdb\""},
		{boolean(1), "true", "true"},
		{boolean(0), "false", "false"},
		{integer(0), "0", "0"},
		{integer(math.MinInt64), "-9223372036854775808", "-9223372036854775808"},
		{integer(math.MaxInt64), "9223372036854775807", "9223372036854775807"},
		{double(0), "0", "0"},
		{double(math.Copysign(0, -1)), "-0", "-0"},
		{double(1.5), "1.5", "1.5"},
		{double(3), "3", "3"},
		{double(1e20), "100000000000000000000", "100000000000000000000"},
		{double(1e21), "1e+21", "1e+21"},
		{double(-1e-6), "-0.000001", "-0.000001"},
		{double(1e-9), "1e-9", "1e-9"},
		{double(1.5e-100), "1.5e-100", "1.5e-100"},
		{double(math.MaxFloat64), "1.7976931348623157e+308", "1.7976931348623157e+308"},
		{double(math.NaN()), "NaN", `"NaN"`},
		{double(math.Inf(1)), "Infinity", `"Infinity"`},
		{double(math.Inf(-1)), "-Infinity", `"-Infinity"`},
		{octets("\xde\xad\xbe\xef"), "3q2+7w==", `"3q2+7w=="`},
		{octets(""), "", `""`},
		{array(), "[]", "[]"},
		{array(str("x"), integer(1), nil, octets("\xff"), double(math.NaN())), `["x",1,null,"/w==","NaN"]`, `["x",1,null,"/w==","NaN"]`},
		{kvlist(), "{}", "{}"},
		{kvlist("a", kvlist("b", kvlist("c", str("deep"))), "n", integer(3)), `{"a":{"b":{"c":"deep"}},"n":3}`, `{"a":{"b":{"c":"deep"}},"n":3}`},
		{kvlist("x", double(math.NaN()), "y", str("kept")), `{"x":"NaN","y":"kept"}`, `{"x":"NaN","y":"kept"}`},
		{kvlist("k", integer(1), "<k>", wire(nil), "k", integer(2), "", boolean(1)), `{"k":1,"<k>":null,"":true}`, `{"k":1,"<k>":null,"":true}`},
		{field(6, field(1, field(2, str("no key")))), `{"":"no key"}`, `{"":"no key"}`},
		{field(6, field(1, field(1, "no value"))), `{"no value":null}`, `{"no value":null}`},
		{msg(str("first"), integer(2)), "2", "2"},
		{varint(8, 3), "", "null"},
		{msg(field(99, "unknown"), integer(7), fixed32(98, 1)), "7", "7"},
	} {
		v := decodedBody(t, tt.value)
		if got := string(otlp.AppendText([]byte("> "), v)); got != "> "+tt.text {
			t.Errorf("AppendText(%x) = %q, want %q", tt.value, got[2:], tt.text)
		}
		if got := string(otlp.AppendJSON([]byte("> "), v)); got != "> "+tt.json {
			t.Errorf("AppendJSON(%x) = %q, want %q", tt.value, got[2:], tt.json)
		}
		if got, err := otlp.AppendRawText([]byte("> "), tt.value); string(got) != "> "+tt.text || err != nil {
			t.Errorf("AppendRawText(%x) = %q, %v, want %q", tt.value, got[2:], err, tt.text)
		}
		if !json.Valid([]byte(tt.json)) {
			t.Errorf("the JSON wanted for %x is none: %s", tt.value, tt.json)
		}
	}
}

// TestManyKeys has more keys than are compared one by one.
func TestManyKeys(t *testing.T) {
	var pairs []any
	var want []string
	for i := range 100 {
		pairs = append(pairs, fmt.Sprint("k", i%70), integer(int64(i)))
		if i < 70 {
			want = append(want, fmt.Sprintf(`"k%d":%d`, i, i))
		}
	}
	v := kvlist(pairs...)
	wantText := "{" + strings.Join(want, ",") + "}"
	if got := string(otlp.AppendText(nil, decodedBody(t, v))); got != wantText {
		t.Errorf("AppendText of a map of 100 = %s, want %s", got, wantText)
	}
	if got, err := otlp.AppendRawText(nil, v); string(got) != wantText || err != nil {
		t.Errorf("AppendRawText of a map of 100 = %s, %v, want %s", got, err, wantText)
	}
}

func TestRawTextErrors(t *testing.T) {
	for _, raw := range []wire{
		{0x0a}, {0x0a, 5, 'x'}, {0x07}, {0x00, 0x00},
		varint(1, 1), fixed64(3, 1), field(4, "x"), varint(5, 1),
		field(5, varint(1, 1)), field(5, field(1, varint(1, 1))), field(5, wire{0x0a}),
		field(6, varint(1, 1)), field(6, field(1, varint(1, 1))), field(6, field(1, varint(2, 1))),
		field(6, field(1, field(2, varint(1, 1)))), field(6, field(1, wire{0x0a})), field(6, wire{0x0a}),
		nested(otlp.MaxDepth+1, true), nested(otlp.MaxDepth+1, false),
	} {
		got, err := otlp.AppendRawText([]byte("kept"), raw)
		if !errors.Is(err, otlp.ErrMalformed) || string(got) != "kept" {
			t.Errorf("AppendRawText(%x) = %q, %v, want %q and ErrMalformed", raw, got, err, "kept")
		}
	}
}

// randomValue builds a value of any kind on the wire.
func randomValue(r *rand.Rand, depth int) wire {
	texts := []string{"", "a", "ключ", "tab\t", "\xff", `"quoted"`, "<b>", strings.Repeat("long ", 40)}
	text := func() string { return texts[r.IntN(len(texts))] }
	kinds := 8
	if depth > 4 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return str(text())
	case 2:
		return boolean(r.Uint64N(2))
	case 3:
		return integer(int64(r.Uint64()) >> r.IntN(64))
	case 4:
		return double([]float64{r.NormFloat64(), math.Float64frombits(r.Uint64()), math.NaN(), float64(r.IntN(9))}[r.IntN(4)])
	case 5:
		return octets(text())
	case 6:
		var values []wire
		for range r.IntN(5) {
			values = append(values, randomValue(r, depth+1))
		}
		return array(values...)
	}
	var pairs []any
	for range r.IntN(6) {
		pairs = append(pairs, text(), randomValue(r, depth+1))
	}
	return kvlist(pairs...)
}

// TestRawTextAgrees holds AppendRawText against AppendText on random values.
func TestRawTextAgrees(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		raw := randomValue(r, 0)
		v := decodedBody(t, raw)
		want := string(otlp.AppendText(nil, v))
		if got, err := otlp.AppendRawText(nil, raw); string(got) != want || err != nil {
			t.Fatalf("seed %d: AppendRawText(%x) = %q, %v, want %q", seed, raw, got, err, want)
		}
		if j := otlp.AppendJSON(nil, v); !json.Valid(j) {
			t.Fatalf("seed %d: AppendJSON(%x) = %s, which is no JSON", seed, raw, j)
		}
	}
}

// TestDoubleAsEncodingJSON holds the form of doubles against encoding/json.
func TestDoubleAsEncodingJSON(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		v := pcommon.NewValueDouble(f)
		want, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := otlp.AppendJSON(nil, v); string(got) != string(want) {
			t.Fatalf("seed %d: AppendJSON(%v) = %s, want %s", seed, f, got, want)
		}
	}
}

func TestEffectiveSeverity(t *testing.T) {
	for _, tt := range []struct {
		number int32
		text   string
		want   uint8
	}{
		{9, "ERROR", 9},
		{1, "", 1},
		{24, "30", 24},
		{0, "", 0},
		{0, "30", 0},
		{0, "ok", 0},
		{25, "warn", 13},
		{-1, "Warning", 13},
		{0, "err", 17},
		{0, "critical", 21},
		{0, "INFO2", 10},
		{0, "Fatal4", 24},
		{0, "info5", 0},
		{0, "info0", 0},
		{0, "INFO ", 9},
		{0, "Informational", 9},
		{0, "informationals", 0},
		{0, "TRACE", 1},
		{0, "Debug", 5},
		{0, "emerg", 21},
		{0, strings.Repeat("x", 1000), 0},
		{0, "ınfo", 0},
		{math.MinInt32, "W", 13},
	} {
		if got := otlp.EffectiveSeverity(tt.number, tt.text); got != tt.want {
			t.Errorf("EffectiveSeverity(%d, %q) = %d, want %d", tt.number, tt.text, got, tt.want)
		}
	}
	for number := plog.SeverityNumberTrace; number <= plog.SeverityNumberFatal4; number++ {
		if got := otlp.EffectiveSeverity(0, number.String()); got != uint8(number) {
			t.Errorf("EffectiveSeverity(0, %q) = %d, want %d", number, got, number)
		}
	}
}

func BenchmarkRawText(b *testing.B) {
	for name, v := range map[string]wire{
		"string": str("request 17 to the product service finished in 250 ms"),
		"map":    kvlist("message", str("request finished"), "ms", integer(250), "tags", array(str("a"), str("b"))),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst, _ = otlp.AppendRawText(dst[:0], v)
			}
		})
	}
}
