package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sonde/query"
)

const (
	maxRows = 1000 // the most rows of any answer
	// maxTextBytes bounds a string argument and maxListItems a list; accounts
	// has narrower rules for what it keeps.
	maxTextBytes = 4 << 10
	maxListItems = 64
)

// kind is the type of an argument.
type kind uint8

const (
	textKind   kind = iota
	wholeKind       // a whole number
	numberKind      // any number, in milliseconds so far
	listKind        // strings
)

// schemaTypes are the kinds in the words of JSON Schema.
var schemaTypes = [...]string{
	textKind: `"type":"string"`, wholeKind: `"type":"integer"`, numberKind: `"type":"number"`,
	listKind: `"type":"array","items":{"type":"string"}`,
}

// argument is one argument of a tool: what the schema shows and what is taken.
type argument struct {
	name         string
	kind         kind
	required     bool
	takesNumbers bool   // text that may come as a JSON number
	most         int    // whole numbers above it are taken as it
	hint         string // description in the schema
	example      string // JSON of a right value
	aliases      []string
}

// bare returns the argument without its hint, for a tool that is listed after
// one that has it: a model reads the list as a whole.
func (a argument) bare() argument {
	a.hint = ""
	return a
}

// appendProperty appends the argument as a property of a schema.
func (a argument) appendProperty(b []byte) []byte {
	b = appendString(b, a.name)
	b = append(b, ":{"...)
	b = append(b, schemaTypes[a.kind]...)
	if a.hint != "" {
		b = append(b, `,"description":`...)
		b = appendString(b, a.hint)
	}
	return append(b, '}')
}

// arguments are those of one call, checked and decoded.
type arguments struct {
	tool  *tool
	face  face
	sent  map[string]json.RawMessage // by canonical name, absent ones left out
	value map[string]any             // string, float64 or []string
	notes []string                   // what was taken otherwise than it was sent
}

func (a *arguments) has(name string) bool    { _, has := a.value[name]; return has }
func (a *arguments) text(name string) string { s, _ := a.value[name].(string); return s }

func (a *arguments) list(name string) []string { l, _ := a.value[name].([]string); return l }

// number returns a number, 0 when absent.
func (a *arguments) number(name string) float64 { n, _ := a.value[name].(float64); return n }

// limit returns the argument limit, otherwise when absent.
func (a *arguments) limit(otherwise int) int {
	if n, has := a.value["limit"].(float64); has {
		return int(n)
	}
	return otherwise
}

// argumentError says in one line what was wrong, what is accepted, and the
// nearest right call.
type argumentError struct{ text string }

func (e *argumentError) Error() string { return e.text }

// decodeArguments checks the arguments of a call against its tool. The error is
// an *argumentError.
func decodeArguments(t *tool, f face, raw json.RawMessage) (arguments, error) {
	a := arguments{tool: t, face: f}
	fields, err := a.fields(raw)
	if err != nil {
		return a, err
	}
	if err := a.place(fields); err != nil {
		return a, err
	}
	for i := range t.arguments {
		arg := &t.arguments[i]
		raw, has := a.sent[arg.name]
		if !has {
			if arg.required {
				return a, a.wrong(arg.name, "missing argument "+arg.name+"; "+t.takes(f))
			}
			continue
		}
		v, note, err := arg.decode(raw)
		if err != nil {
			return a, a.wrong(arg.name, err.Error())
		}
		if note != "" {
			a.notes = append(a.notes, note)
		}
		if a.value == nil {
			a.value = make(map[string]any, len(a.sent))
		}
		a.value[arg.name] = v
	}
	return a, nil
}

// fields takes the object of arguments apart. A string that holds the object is
// taken too: some models write it so.
func (a *arguments) fields(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if isAbsent(raw) {
		return nil, nil
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal(raw, &inner) == nil {
		raw = json.RawMessage(strings.TrimSpace(inner))
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil, a.wrong("", "arguments: want one JSON object")
	}
	return fields, nil
}

// place puts what was sent under its canonical name and refuses what has none:
// a filter that is dropped in silence gives an answer that looks right.
func (a *arguments) place(fields map[string]json.RawMessage) error {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if isAbsent(fields[name]) {
			continue
		}
		arg := a.tool.argument(name)
		if arg == nil {
			unknown = append(unknown, name)
			continue
		}
		if _, twice := a.sent[arg.name]; twice {
			return a.wrong("", arg.name+" is given twice, under another of its names too")
		}
		if a.sent == nil {
			a.sent = make(map[string]json.RawMessage, len(fields))
		}
		a.sent[arg.name] = fields[name]
	}
	if len(unknown) > 0 {
		return a.unknown(unknown[0], fields[unknown[0]])
	}
	return nil
}

// isAbsent reports whether a value says nothing: models fill in what they don't
// use with null or "".
func isAbsent(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || string(raw) == `""`
}

// argument finds an argument by its name or an alias of it.
func (t *tool) argument(name string) *argument {
	for i := range t.arguments {
		if a := &t.arguments[i]; a.name == name || slices.Contains(a.aliases, name) {
			return a
		}
	}
	return nil
}

// decode turns a value as sent into that of its kind. The note says what was
// taken otherwise.
func (a *argument) decode(raw json.RawMessage) (v any, note string, err error) {
	switch a.kind {
	case wholeKind:
		return a.decodeWhole(raw)
	case numberKind:
		n, err := a.decodeNumber(raw)
		return n, "", err
	case listKind:
		l, err := a.decodeList(raw)
		return l, "", err
	}
	s, err := a.decodeText(raw)
	return s, "", err
}

func (a *argument) decodeText(raw json.RawMessage) (string, error) {
	var s string
	switch {
	case raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
	case a.takesNumbers && isNumber(raw):
		s = plainNumber(string(raw))
	default:
		return "", a.mistyped("a string", raw)
	}
	if len(s) > maxTextBytes {
		return "", fmt.Errorf("%s: want at most %d bytes, got %d", a.name, maxTextBytes, len(s))
	}
	return s, nil
}

func (a *argument) decodeWhole(raw json.RawMessage) (v any, note string, err error) {
	n, err := strconv.ParseFloat(unquote(raw), 64)
	if err != nil || n != math.Trunc(n) {
		return nil, "", a.mistyped("a whole number", raw)
	}
	switch {
	case n < 1:
		return 1.0, fmt.Sprintf("%s %s taken as 1", a.name, cut(unquote(raw), 20)), nil
	case a.most > 0 && n > float64(a.most):
		return float64(a.most), fmt.Sprintf("%s %s taken as %d", a.name, cut(unquote(raw), 20), a.most), nil
	}
	return n, "", nil
}

// decodeNumber reads milliseconds: a number, or a duration with its unit.
func (a *argument) decodeNumber(raw json.RawMessage) (float64, error) {
	s := unquote(raw)
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		d, derr := time.ParseDuration(s)
		n, err = float64(d)/float64(time.Millisecond), derr
	}
	// Beyond that many milliseconds a time.Duration overflows.
	if err != nil || !(n >= 0 && n <= math.MaxInt64/float64(time.Millisecond)) {
		return 0, a.mistyped("a number from 0 up", raw)
	}
	return n, nil
}

// decodeList reads an array of strings, or one string that holds such an array
// or names separated by commas.
func (a *argument) decodeList(raw json.RawMessage) ([]string, error) {
	items := []string{}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		if raw = json.RawMessage(strings.TrimSpace(s)); !bytes.HasPrefix(raw, []byte("[")) {
			for item := range strings.SplitSeq(s, ",") {
				items = append(items, strings.TrimSpace(item))
			}
			return items, a.checkList(items)
		}
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return nil, a.mistyped("an array of strings", raw)
	}
	for _, part := range parts {
		if part[0] != '"' || json.Unmarshal(part, &s) != nil {
			return nil, a.mistyped("an array of strings", raw)
		}
		items = append(items, s)
	}
	return items, a.checkList(items)
}

func (a *argument) checkList(items []string) error {
	if len(items) > maxListItems {
		return fmt.Errorf("%s: want at most %d items, got %d", a.name, maxListItems, len(items))
	}
	for _, item := range items {
		if len(item) > maxTextBytes {
			return fmt.Errorf("%s: want items of at most %d bytes", a.name, maxTextBytes)
		}
	}
	return nil
}

// mistyped says what was wanted and what came instead.
func (a *argument) mistyped(want string, raw json.RawMessage) error {
	return fmt.Errorf("%s: want %s, got %s", a.name, want, cut(string(raw), 100))
}

// wrong returns the error about one argument ("" for none in particular), with
// the nearest right call.
func (a *arguments) wrong(name, what string) error {
	return &argumentError{what + "; try " + a.nearest(name, "")}
}

// unknown returns the error about a name that is no argument of the tool.
func (a *arguments) unknown(name string, raw json.RawMessage) error {
	what := "unknown argument " + quoted(name)
	if len(a.tool.arguments) == 0 {
		return a.wrong("", what+"; "+a.tool.takes(a.face))
	}
	near := a.tool.nearestArgument(name)
	value := near.example
	if _, _, err := near.decode(raw); err == nil && len(raw) <= maxEchoBytes {
		value = string(raw)
	}
	return &argumentError{fmt.Sprintf("%s, the nearest is %s; %s; try %s",
		what, near.name, a.tool.takes(a.face), a.nearest(near.name, value))}
}

// takes says which arguments a tool has.
func (t *tool) takes(f face) string {
	if len(t.arguments) == 0 {
		return f.spell(t.name) + " takes no arguments"
	}
	var b strings.Builder
	b.WriteString(f.spell(t.name) + " takes ")
	for i, a := range t.arguments {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.name)
		if a.required {
			b.WriteString(" (required)")
		}
	}
	return b.String()
}

// maxEchoBytes bounds one value that is given back in the nearest right call.
const maxEchoBytes = 100

// nearest returns the call that was made, mended: the argument at fault has the
// value given or its example, what else was right stays, what is required and
// missing has its example.
func (a *arguments) nearest(fault, value string) string {
	var b strings.Builder
	b.WriteString(a.face.spell(a.tool.name) + " {")
	first := true
	for i := range a.tool.arguments {
		arg := &a.tool.arguments[i]
		use := a.right(arg)
		if arg.name == fault {
			use = value
			if use == "" {
				use = arg.example
			}
		}
		if use == "" {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(strconv.Quote(arg.name) + ":" + use)
	}
	b.WriteByte('}')
	return b.String()
}

// right returns the value to show for an argument that is not at fault, "" for
// none.
func (a *arguments) right(arg *argument) string {
	if raw, sent := a.sent[arg.name]; sent {
		if _, _, err := arg.decode(raw); err == nil && len(raw) <= maxEchoBytes {
			return string(raw)
		}
	}
	if arg.required {
		return arg.example
	}
	return ""
}

// nearestArgument returns the argument whose name takes the fewest changes to
// reach, case aside; of equals the first.
func (t *tool) nearestArgument(name string) *argument {
	var near *argument
	best := math.MaxInt
	for i := range t.arguments {
		if d := query.Distance(name, t.arguments[i].name); d < best {
			near, best = &t.arguments[i], d
		}
	}
	return near
}

func isNumber(raw json.RawMessage) bool {
	return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
}

// plainNumber writes a JSON number without exponent, which the forms of time
// don't have.
func plainNumber(s string) string {
	if !strings.ContainsAny(s, "eE") {
		return s
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// unquote returns the text of a string or the digits of a number as they stand.
func unquote(raw json.RawMessage) string {
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	return string(raw)
}
