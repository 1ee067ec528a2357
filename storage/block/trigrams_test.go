package block_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// textLogs returns an encoded block of log records with words in their bodies
// and attributes.
func textLogs(t *testing.T, rows int, fill func(row int, r plog.LogRecord)) *block.Block {
	t.Helper()
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for row := range rows {
		r := records.AppendEmpty()
		r.SetTimestamp(1000)
		fill(row, r)
	}
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	if err != nil {
		t.Fatal(err)
	}
	r, err := otlp.Walk(otlp.Logs, payload, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := block.Open(encode(t, build([]*otlp.Request{r}))[0])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mayContain(t *testing.T, b *block.Block, text string) bool {
	t.Helper()
	var f otlp.Folder
	may, err := b.MayContain(f.AppendFold(nil, []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return may
}

func TestMayContain(t *testing.T) {
	b := textLogs(t, 200, func(row int, r plog.LogRecord) {
		r.Body().SetStr(fmt.Sprintf("Request %d timed out", row))
		if row == 7 {
			r.Body().SetEmptyMap().PutStr("Nested", "Kelvin \u212a and ſharp")
		}
		r.Attributes().PutStr("user.agent", "Mozilla/5.0")
		r.Attributes().PutInt("size", 987654)
		r.Attributes().PutDouble("ratio", 0.125)
		r.Attributes().PutBool("cached", true)
		r.Attributes().PutEmptyBytes("raw").FromRaw([]byte{0xde, 0xad, 0xbe, 0xef})
	})
	for _, text := range []string{
		"", "t", "ti", "timed out", "REQUEST 199", "quest 1", "mozilla/", "987654", "8765", "0.125", "true",
		"3q2+7w", `{"nested":"kelvin k`, "AND SHARP", "ſharp",
	} {
		if !mayContain(t, b, text) {
			t.Errorf("MayContain(%q) = false for a text that is there", text)
		}
	}
	for _, text := range []string{"zorblatt", "timed  out", "request 1 timed in", "firefox", "987655432", "false"} {
		if mayContain(t, b, text) {
			t.Errorf("MayContain(%q) = true for a text that is not there", text)
		}
	}
}

// Blocks without a filter promise nothing: built ones and small ones.
func TestMayContainWithoutFilter(t *testing.T) {
	small := textLogs(t, 3, func(_ int, r plog.LogRecord) { r.Body().SetStr("text") })
	if !mayContain(t, small, "zorblatt") {
		t.Error("MayContain of a small block = false, want true")
	}
	built := build(newCorpus(t, otlp.Logs, 100)).Block()
	if !mayContain(t, built, "zorblatt") {
		t.Error("MayContain of a built block = false, want true")
	}
}

// Every stretch of every text of random records passes the filter.
func TestMayContainMissesNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var texts []string
	note := func(text []byte) { texts = append(texts, string(text)) }
	b := textLogs(t, 300, func(_ int, r plog.LogRecord) {
		randomValue(rng, r.Body(), 0)
		for i := range rng.IntN(4) {
			randomValue(rng, r.Attributes().PutEmpty(fmt.Sprintf("key.%d", i)), 0)
		}
		note(otlp.AppendText(nil, r.Body()))
		for _, v := range r.Attributes().All() {
			note(otlp.AppendText(nil, v))
		}
	})
	for _, text := range texts {
		runes := []rune(text)
		for range 5 {
			from := rng.IntN(len(runes) + 1)
			part := string(runes[from : from+rng.IntN(len(runes)-from+1)])
			if !mayContain(t, b, part) {
				t.Errorf("MayContain(%q) = false, it is part of %q", part, text)
			}
		}
	}
}

// randomValue fills v with a value of any kind, its texts of letters that fold
// in the ways there are.
func randomValue(rng *rand.Rand, v pcommon.Value, depth int) {
	letters := []rune("aAkK\u212asSſßẞσςΣäÄȺⱥİı09-\n\x02世😀")
	text := func() string {
		word := make([]rune, rng.IntN(12))
		for i := range word {
			word[i] = letters[rng.IntN(len(letters))]
		}
		return string(word)
	}
	switch kind := rng.IntN(8); {
	case kind == 0:
		v.SetInt(rng.Int64())
	case kind == 1:
		v.SetDouble(rng.NormFloat64())
	case kind == 2:
		v.SetBool(rng.IntN(2) == 0)
	case kind == 3:
		v.SetEmptyBytes().FromRaw([]byte(text()))
	case kind == 4 && depth < 3:
		randomValue(rng, v.SetEmptySlice().AppendEmpty(), depth+1)
	case kind == 5 && depth < 3:
		randomValue(rng, v.SetEmptyMap().PutEmpty(text()), depth+1)
	default:
		v.SetStr(text())
	}
}
