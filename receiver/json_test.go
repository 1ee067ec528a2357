package receiver

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"sonde/storage/otlp"
)

func TestJSONDeeperThan(t *testing.T) {
	tests := []struct {
		text  string
		depth int // how deep it is
	}{
		{``, 0},
		{`1`, 0},
		{`{}`, 1},
		{`[{},{}]`, 2},
		{`{"a":[{"b":{}}]}`, 4},
		{`"[[[["`, 0},
		{`["[[[[", "\"[[[", "\\", [1]]`, 2},
		{`["[[`, 1},
		{`["\`, 1},
		{`}}}[[`, -1},
	}
	for _, test := range tests {
		if jsonDeeperThan([]byte(test.text), max(test.depth, 0)) {
			t.Errorf("jsonDeeperThan(%s, %d) = true", test.text, test.depth)
		}
		if test.depth > 0 && !jsonDeeperThan([]byte(test.text), test.depth-1) {
			t.Errorf("jsonDeeperThan(%s, %d) = false", test.text, test.depth-1)
		}
	}
}

// FuzzJSONDeeperThan compares with encoding/json on what that takes for JSON.
func FuzzJSONDeeperThan(f *testing.F) {
	for _, seed := range []string{`{"a":["\"\\",{"[":null}]}`, `[[],[[]]]`, `"\u005b"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		depth, deepest := 0, 0
		for decoder := json.NewDecoder(strings.NewReader(text)); ; {
			token, err := decoder.Token()
			if err != nil {
				break
			}
			switch token {
			case json.Delim('{'), json.Delim('['):
				depth++
				deepest = max(deepest, depth)
			case json.Delim('}'), json.Delim(']'):
				depth--
			}
		}
		if deepest > 0 && !jsonDeeperThan([]byte(text), deepest-1) || jsonDeeperThan([]byte(text), deepest) {
			t.Errorf("%s: depth is %d", text, deepest)
		}
	})
}

// nestedJSON is a log request whose body nests lists that deep.
func nestedJSON(depth int) []byte {
	var b strings.Builder
	b.WriteString(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":`)
	for range depth {
		b.WriteString(`{"kvlistValue":{"values":[{"key":"k","value":`)
	}
	b.WriteString(`{"stringValue":"x"}`)
	for range depth {
		b.WriteString(`}]}}`)
	}
	b.WriteString(`}]}]}]}`)
	return []byte(b.String())
}

// TestDecodeJSONDepth: the check before decoding may refuse nothing that Walk
// accepts, and what is far beyond must cost little.
func TestDecodeJSONDepth(t *testing.T) {
	if _, err := decodeJSON(otlp.Logs, nestedJSON(otlp.MaxDepth)); err != nil {
		t.Errorf("decodeJSON of depth %d = %v", otlp.MaxDepth, err)
	}
	deep := nestedJSON(1_000_000)
	allocations := testing.AllocsPerRun(1, func() {
		if _, err := decodeJSON(otlp.Logs, deep); !errors.Is(err, otlp.ErrTooDeep) {
			t.Errorf("decodeJSON of depth 1,000,000 = %v, want %v", err, otlp.ErrTooDeep)
		}
	})
	if allocations > 10 {
		t.Errorf("decodeJSON of depth 1,000,000 allocates %v times", allocations)
	}
}

// TestDecodeJSONMany: a body of empty objects must not fill the memory. Those
// in strings are text.
func TestDecodeJSONMany(t *testing.T) {
	records := func(record string, n int) []byte {
		return []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + strings.Repeat(record+",", n-1) + record + `]}]}]}`)
	}
	if _, err := decodeJSON(otlp.Logs, records("{}", maxJSONObjects-3)); err != nil {
		t.Errorf("decodeJSON of %d objects = %v", maxJSONObjects, err)
	}
	if _, err := decodeJSON(otlp.Logs, records("{}", maxJSONObjects-2)); !errors.Is(err, otlp.ErrTooMany) {
		t.Errorf("decodeJSON of %d objects = %v, want %v", maxJSONObjects+1, err, otlp.ErrTooMany)
	}
	text := `{"body":{"stringValue":"` + strings.Repeat("{", 2*maxJSONObjects) + `"}}`
	if _, err := decodeJSON(otlp.Logs, records(text, 2)); err != nil {
		t.Errorf("decodeJSON of braces in strings = %v", err)
	}
}
