package block

import (
	"hash/maphash"

	"sonde/storage/otlp"
)

// Builder collects items into a Block. It holds at most 4 GiB of items.
type Builder struct {
	signal  otlp.Signal
	uints   [numColumns][]uint64
	dicts   [numColumns]*dictBuilder
	strings [numColumns]*Strings
	own     [formStrings + 1][]Column // by form: the columns that items fill
	attrs   attributeBuilder
	// Protobuf bytes that came in for a row: of its message, and of its envelopes
	// where it is the first of its request to have them.
	messageSizes, envelopeSizes []uint32
	header                      Header // of all rows

	severities      []uint8 // logs: row -> effective severity
	severityOfText  []uint8 // index into SeverityText -> 1 + effective severity without a number, 0 is unknown
	row             row
	resources       translation
	scopes, metrics translation
	metricSchemas   []*schema // index into the dictionary Metric -> schema of its points
}

// row is the item being taken apart. Between items it is zero.
type row struct {
	uints [numColumns]uint64
	bytes [numColumns][]byte
	body  []byte // an AnyValue
}

// translation maps indexes into the envelopes of the request being added to
// those of a dictionary.
type translation []uint32

const untranslated = ^uint32(0)

func (t *translation) reset(n int) {
	*t = (*t)[:0]
	for range n {
		*t = append(*t, untranslated)
	}
}

// NewBuilder returns an empty builder for one signal.
func NewBuilder(s otlp.Signal) *Builder {
	b := &Builder{signal: s, header: Header{Signal: s}}
	seed := maphash.MakeSeed()
	for _, c := range signalColumns[s] {
		if c != Resource && c != Scope && c != Metric && c != shapes {
			b.own[forms[c]] = append(b.own[forms[c]], c)
		}
		switch forms[c] {
		case formDict:
			b.dicts[c] = &dictBuilder{seed: seed}
		case formStrings:
			b.strings[c] = &Strings{}
		}
	}
	b.attrs.init(b.dicts[shapes])
	return b
}

// Reset forgets all items and keeps the memory for the next ones. A builder that
// has given a Block must not be reset: they share that memory.
func (b *Builder) Reset() {
	for c := range b.uints {
		b.uints[c] = b.uints[c][:0]
	}
	for _, d := range b.dicts {
		if d != nil {
			d.reset()
		}
	}
	for _, s := range b.strings {
		if s != nil {
			s.reset()
		}
	}
	b.attrs.reset()
	b.messageSizes, b.envelopeSizes = b.messageSizes[:0], b.envelopeSizes[:0]
	b.header = Header{Signal: b.signal}
	b.severities, b.severityOfText = b.severities[:0], b.severityOfText[:0]
	b.metricSchemas = b.metricSchemas[:0]
}

// Rows returns how many rows were added.
func (b *Builder) Rows() int { return b.header.Rows }

// Add appends all items of a request, which must be of the builder's signal.
// The bytes are copied.
func (b *Builder) Add(r *otlp.Request) {
	b.reserve(len(r.Items))
	b.resources.reset(len(r.Resources))
	b.scopes.reset(len(r.Scopes))
	b.metrics.reset(len(r.Metrics))
	for i := range r.Items {
		item := &r.Items[i]
		message := r.Bytes(item.Message)
		size := b.addEnvelope(Resource, b.resources, r.Resources, item.Resource)
		size += b.addEnvelope(Scope, b.scopes, r.Scopes, item.Scope)

		var s *schema
		switch b.signal {
		case otlp.Logs:
			s = &logSchema
		case otlp.Traces:
			s = &spanSchema
		case otlp.Metrics:
			size += b.addEnvelope(Metric, b.metrics, r.Metrics, item.Metric)
			s = b.metricSchema()
		}
		b.envelopeSizes = append(b.envelopeSizes, uint32(size))
		b.messageSizes = append(b.messageSizes, uint32(bytesLen(1, len(message))))
		b.addItem(message, s, item.TimeUnixNano)
	}
}

// addEnvelope appends a row to a dictionary of envelopes. It returns the bytes
// that came in for it: those of the envelope when the request first uses it.
func (b *Builder) addEnvelope(c Column, t translation, envelopes [][]byte, i uint32) int {
	d := b.dicts[c]
	if t[i] != untranslated {
		d.Index = append(d.Index, t[i])
		return 0
	}
	t[i] = d.id(envelopes[i])
	d.Index = append(d.Index, t[i])
	return bytesLen(1, len(envelopes[i]))
}

// metricSchema returns the schema of the points of the last row's metric.
func (b *Builder) metricSchema() *schema {
	d := b.dicts[Metric]
	i := d.Index[len(d.Index)-1]
	for len(b.metricSchemas) < len(d.Values) {
		b.metricSchemas = append(b.metricSchemas, pointSchema(d.Values[len(b.metricSchemas)]))
	}
	return b.metricSchemas[i]
}

// reserve makes room for n more rows.
func (b *Builder) reserve(n int) {
	for _, c := range b.own[formUints] {
		b.uints[c] = room(b.uints[c], n)
	}
	for _, d := range b.dicts {
		if d != nil {
			d.Index = room(d.Index, n)
		}
	}
	for _, c := range b.own[formStrings] {
		b.strings[c].Ends = room(b.strings[c].Ends, n)
	}
	b.messageSizes, b.envelopeSizes = room(b.messageSizes, n), room(b.envelopeSizes, n)
	b.attrs.ends = room(b.attrs.ends, n)
	if b.signal == otlp.Logs {
		b.severities = room(b.severities, n)
	}
}

// addItem takes a message apart and appends its row to all columns but the
// envelopes.
func (b *Builder) addItem(message []byte, s *schema, timeUnixNano uint64) {
	b.shred(message, s)
	r := &b.row
	if s.time != 0 && r.uints[Time] != timeUnixNano {
		// The message keeps its own time in Rest, which is read last.
		rest := b.strings[Rest]
		rest.Data = appendFixed64(rest.Data, s.time, r.uints[Time])
	}
	r.uints[Time] = timeUnixNano
	if r.uints[BodyKind] == BodyOther {
		if text, ok := plainString(r.body); ok {
			r.uints[BodyKind], r.bytes[Body] = BodyString, text
		} else {
			r.bytes[Body] = r.body
		}
	}
	b.attrs.endRow()
	for _, c := range b.own[formUints] {
		b.uints[c] = append(b.uints[c], r.uints[c])
		r.uints[c] = 0
	}
	for _, c := range b.own[formDict] {
		b.dicts[c].add(r.bytes[c])
		r.bytes[c] = nil
	}
	for _, c := range b.own[formStrings] {
		b.strings[c].append(r.bytes[c]) // nothing for Rest: shred has filled it
		r.bytes[c] = nil
	}
	r.body = nil
	b.count(timeUnixNano)
}

// count adds the row just appended to the header.
func (b *Builder) count(timeUnixNano uint64) {
	h, row := &b.header, b.header.Rows
	if row == 0 {
		h.MinTime, h.MaxTime = timeUnixNano, timeUnixNano
	}
	h.MinTime, h.MaxTime = min(h.MinTime, timeUnixNano), max(h.MaxTime, timeUnixNano)
	h.Rows++
	h.RawBytes += b.rawSize(row)
	switch b.signal {
	case otlp.Logs:
		s := b.effectiveSeverity(row)
		b.severities = append(b.severities, s)
		h.Severities[s]++
	case otlp.Traces:
		h.MaxDurationNano = max(h.MaxDurationNano, b.duration(row))
	}
}

func (b *Builder) rawSize(row int) int { return int(b.messageSizes[row]) + int(b.envelopeSizes[row]) }

func (b *Builder) effectiveSeverity(row int) uint8 {
	number := b.uints[Severity][row]
	if number >= 1 && number <= 24 {
		return uint8(number)
	}
	text := b.dicts[SeverityText].Index[row]
	for int(text) >= len(b.severityOfText) {
		b.severityOfText = append(b.severityOfText, 0)
	}
	if b.severityOfText[text] == 0 {
		s := otlp.EffectiveSeverity(0, string(b.dicts[SeverityText].Values[text]))
		b.severityOfText[text] = 1 + s
	}
	return b.severityOfText[text] - 1
}

// duration returns how long a span lasted, 0 when it ended before it began.
func (b *Builder) duration(row int) uint64 {
	start, end := b.uints[Time][row], b.uints[EndTime][row]
	if end < start {
		return 0
	}
	return end - start
}

// Block returns what was added so far as a Block in arrival order. The builder
// must not be used for more than Encode afterwards. Nothing of such a block is
// left to be decoded, so unlike others it may be used concurrently.
func (b *Builder) Block() *Block {
	block := &Block{Header: b.header, uints: b.uints, strings: b.strings}
	for c, d := range b.dicts {
		if d != nil {
			block.dicts[c] = &d.Dict
		}
	}
	block.attrs = b.attrs.table()
	return block
}
