package answer

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"sonde/query"
	"sonde/storage/otlp"
)

// envelope is what every JSON answer says around its items.
type envelope struct {
	Signal     string `json:"signal"`
	From       string `json:"from,omitempty"`
	To         string `json:"to,omitempty"`
	Total      int    `json:"total"`
	TotalExact bool   `json:"totalExact"`
	Next       string `json:"next,omitempty"`
}

func newEnvelope(signal otlp.Signal, h Head, p query.Page) envelope {
	e := envelope{Signal: signal.String(), To: FormatTime(h.to()), Total: p.Total, TotalExact: p.TotalExact}
	if h.Range.From != 0 {
		e.From = FormatTime(h.Range.From)
	}
	if p.Next != (query.Cursor{}) {
		e.Next = FormatCursor(p.Next)
	}
	return e
}

// encode writes v in the order of its fields. Characters that a reader can't
// see are escaped, so the text is safe to show and still exact.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeUnclean(bytes.ToValidUTF8(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\uFFFD"))), nil
}

// escapeUnclean escapes the characters that Clean would change. Outside of
// strings JSON has none of it.
func escapeUnclean(b []byte) []byte {
	if i := bytes.IndexFunc(b, unclean); i < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if !unclean(r) {
			out = append(out, b[:size]...)
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				const digits = "0123456789abcdef"
				out = append(out, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
			}
		}
		b = b[size:]
	}
	return out
}

// notes returns a copy that is never null in JSON.
func notes(h Head) []string { return append([]string{}, h.Notes...) }

// attributes is a map of attributes as a JSON object, in the order in which
// they were recorded. On a repeated key the first wins.
type attributes struct{ pcommon.Map }

// MarshalJSON implements json.Marshaler.
func (a attributes) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	seen := make(map[string]bool, a.Len())
	for k, v := range a.All() {
		if seen[k] {
			continue
		}
		if seen[k] = true; len(b) > 1 {
			b = append(b, ',')
		}
		key, err := encodeString(k)
		if err != nil {
			return nil, err
		}
		b = otlp.AppendJSON(append(append(b, key...), ':'), v)
	}
	return append(b, '}'), nil
}

func encodeString(s string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// attributesOrNil leaves out a map that is empty.
func attributesOrNil(m pcommon.Map) *attributes {
	if m.Len() == 0 {
		return nil
	}
	return &attributes{m}
}

// value is any recorded value as JSON.
type value struct{ pcommon.Value }

// MarshalJSON implements json.Marshaler.
func (v value) MarshalJSON() ([]byte, error) { return otlp.AppendJSON(nil, v.Value), nil }

// float is a number that JSON may not have: NaN and the infinities are strings.
type float float64

// MarshalJSON implements json.Marshaler.
func (f float) MarshalJSON() ([]byte, error) {
	if x := float64(f); math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.AppendQuote(nil, number(x)), nil
	}
	return json.Marshal(float64(f))
}

func floats(list []float64) []float {
	out := make([]float, len(list))
	for i, f := range list {
		out[i] = float(f)
	}
	return out
}

func optionalFloat(f *float64) *float { return (*float)(f) }

type jsonResource struct {
	Attributes             attributes `json:"attributes"`
	DroppedAttributesCount uint32     `json:"droppedAttributesCount,omitempty"`
	SchemaURL              string     `json:"schemaUrl,omitempty"`
}

type jsonScope struct {
	Name                   string      `json:"name"`
	Version                string      `json:"version,omitempty"`
	Attributes             *attributes `json:"attributes,omitempty"`
	DroppedAttributesCount uint32      `json:"droppedAttributesCount,omitempty"`
	SchemaURL              string      `json:"schemaUrl,omitempty"`
}

// origin is where an item came from.
type origin struct {
	Scope    *jsonScope   `json:"scope,omitempty"`
	Resource jsonResource `json:"resource"`
}

func originOf(s *query.Scope, r *query.Resource) origin {
	o := origin{Resource: jsonResource{attributes{r.Attributes()}, r.DroppedAttributesCount(), r.SchemaURL}}
	if s != nil {
		o.Scope = &jsonScope{s.Name(), s.Version(), attributesOrNil(s.Attributes()), s.DroppedAttributesCount(), s.SchemaURL}
	}
	return o
}

// timeOrNone leaves out a time that was not recorded.
func timeOrNone(unixNano uint64) string {
	if unixNano == 0 {
		return ""
	}
	return FormatTime(unixNano)
}

func traceHex(id pcommon.TraceID) string {
	if id.IsEmpty() {
		return ""
	}
	return hex.EncodeToString(id[:])
}

func spanHex(id pcommon.SpanID) string {
	if id.IsEmpty() {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// services returns the names as they are, never null.
func services(names []string) []string { return append([]string{}, names...) }
