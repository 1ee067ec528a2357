package block

import (
	"bytes"

	"sonde/storage/otlp"
)

// Builder collects items into a Block.
type Builder struct {
	header Header
	uints  [columnEnd][]uint64
	dicts  [columnEnd]*dictBuilder
	strs   [columnEnd]*Strings
	attrs  *attributes
	sizes  []uint32 // row -> bytes of its message
	item   shredded // reused from item to item
}

// NewBuilder returns an empty builder for one signal.
func NewBuilder(s otlp.Signal) *Builder {
	b := &Builder{header: Header{Signal: s, MinTime: ^uint64(0)}, attrs: newAttributes()}
	for _, c := range columnsOf(s) {
		switch c.kind() {
		case dict:
			b.dicts[c] = &dictBuilder{ids: map[string]uint32{}}
		case strs:
			b.strs[c] = &Strings{}
		case uints:
		}
	}
	return b
}

// Rows returns how many rows were added.
func (b *Builder) Rows() int { return b.header.Rows }

// Add appends all items of a request, which must be of the builder's signal.
// The bytes are copied.
func (b *Builder) Add(r *otlp.Request) {
	resources := b.dicts[Resource].addAll(r.Resources)
	scopes := b.dicts[Scope].addAll(r.Scopes)
	var metrics []uint32
	schemas := []*schema{schemaOf(r.Signal, nil)}
	if r.Signal == otlp.Metrics {
		metrics = b.dicts[Metric].addAll(r.Metrics)
		schemas = schemas[:0]
		for _, m := range r.Metrics {
			schemas = append(schemas, schemaOf(r.Signal, m))
		}
	}
	for i := range r.Items {
		item := &r.Items[i]
		b.dicts[Resource].index = append(b.dicts[Resource].index, resources[item.Resource])
		b.dicts[Scope].index = append(b.dicts[Scope].index, scopes[item.Scope])
		if metrics != nil {
			b.dicts[Metric].index = append(b.dicts[Metric].index, metrics[item.Metric])
		}
		b.add(schemas[item.Metric], item.TimeUnixNano, r.Bytes(item.Message))
	}
}

// add appends one row, all but its envelopes.
func (b *Builder) add(s *schema, time uint64, message []byte) {
	it := &b.item
	it.shred(s, message)
	for _, c := range itemColumns(b.header.Signal) {
		switch c.kind() {
		case uints:
			b.uints[c] = append(b.uints[c], it.uints[c])
		case dict:
			b.dicts[c].add(it.bytes[c])
		case strs:
			b.strs[c].add(it.bytes[c])
		}
	}
	b.uints[Time] = append(b.uints[Time], time)
	b.strs[Rest].add(it.rest)
	b.attrs.addRow(b.header.Rows, it.attributes)
	b.sizes = append(b.sizes, uint32(len(message)))
	b.header.note(it, time, len(message))
}

// note counts a row that was added.
func (h *Header) note(it *shredded, time uint64, size int) {
	h.Rows++
	h.RawBytes += size
	h.MinTime = min(h.MinTime, time)
	h.MaxTime = max(h.MaxTime, time)
	switch h.Signal {
	case otlp.Logs:
		h.Severities[otlp.EffectiveSeverity(int32(it.uints[Severity]), string(it.bytes[SeverityText]))]++
	case otlp.Traces:
		if end := it.uints[EndTime]; end > time {
			h.MaxDurationNano = max(h.MaxDurationNano, end-time)
		}
	case otlp.Metrics:
	}
}

// Block returns what was added so far as a Block in arrival order. The builder
// must not be used for more than Encode afterwards.
func (b *Builder) Block() *Block {
	out := &Block{Header: b.header, uints: b.uints, strs: b.strs, attrs: b.attrs}
	for c, d := range b.dicts {
		if d != nil {
			out.dicts[c] = &Dict{Values: d.values, Index: d.index}
		}
	}
	return out
}

// dictBuilder collects the distinct values of a column.
type dictBuilder struct {
	ids    map[string]uint32
	values [][]byte
	index  []uint32
}

// id returns the number of a value, a new one when it was not seen before.
func (d *dictBuilder) id(v []byte) uint32 {
	id, ok := d.ids[string(v)]
	if !ok {
		id = uint32(len(d.values))
		v = bytes.Clone(v)
		d.values = append(d.values, v)
		d.ids[string(v)] = id
	}
	return id
}

// add appends a row. Neighbours are often equal, which saves the look-up.
func (d *dictBuilder) add(v []byte) {
	if n := len(d.index); n > 0 && bytes.Equal(d.values[d.index[n-1]], v) {
		d.index = append(d.index, d.index[n-1])
		return
	}
	d.index = append(d.index, d.id(v))
}

// addAll numbers the envelopes of a request.
func (d *dictBuilder) addAll(envelopes [][]byte) []uint32 {
	ids := make([]uint32, len(envelopes))
	for i, e := range envelopes {
		ids[i] = d.id(e)
	}
	return ids
}
