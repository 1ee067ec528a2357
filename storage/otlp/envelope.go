package otlp

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// child is a message of the next level inside an envelope.
type child struct {
	Ref
	index uint32 // into the fields of the envelope
}

// bounds returns where the message begins and ends.
func (c child) bounds() (pos, end int) { return int(c.Off), int(c.Off) + int(c.Len) }

// envelope walks the request, resource or scope message at buf[pos:end] and all
// that is below it. at names the envelopes around it.
func (w *walker) envelope(m *message, pos, end int, at Item) bool {
	firstChild, firstPart, firstItem := len(w.children), len(w.parts), len(w.req.Items)
	if !w.split(m, pos, end) {
		return false
	}
	frame := w.join(w.parts[firstPart:])
	w.parts = w.parts[:firstPart]

	var list *[][]byte
	known := 0
	switch m.level {
	case levelResource:
		list, known = &w.req.Resources, len(w.req.Resources)
		at.Resource = w.intern(list, frame)
	case levelScope:
		list, known = &w.req.Scopes, len(w.req.Scopes)
		at.Scope = w.intern(list, frame)
	}
	if !w.below(m, firstChild, at) {
		return false
	}
	if list != nil && len(w.req.Items) == firstItem {
		*list = (*list)[:known] // nothing is in it
	}
	return true
}

// metric is envelope for a Metric message, whose items lie a level deeper, in
// the message of its kind of data.
func (w *walker) metric(m *message, pos, end int, at Item) bool {
	firstChild, firstPart, firstItem := len(w.children), len(w.parts), len(w.req.Items)
	if !w.split(m, pos, end) {
		return false
	}
	if len(w.children) == firstChild {
		w.parts = w.parts[:firstPart]
		return true
	}
	last := len(w.children) - 1
	for _, overwritten := range w.children[firstChild:last] {
		pos, end := overwritten.bounds()
		if !w.message(m.fields[overwritten.index].sub, pos, end) {
			return w.failIn(m, overwritten.index)
		}
	}
	kind := w.children[last]
	w.children = w.children[:firstChild]

	data, firstDataPart := m.fields[kind.index].sub, len(w.parts)
	pos, end = kind.bounds()
	if !w.split(data, pos, end) {
		return w.failIn(m, kind.index)
	}
	known := len(w.req.Metrics)
	frame := w.wrap(w.parts[firstPart:firstDataPart], kind.index, w.parts[firstDataPart:])
	w.parts = w.parts[:firstPart]
	at.Metric = w.intern(&w.req.Metrics, frame)
	if !w.below(data, firstChild, at) {
		return w.failIn(m, kind.index)
	}
	if len(w.req.Items) == firstItem {
		w.req.Metrics = w.req.Metrics[:known]
	}
	return true
}

// below walks the children that split found, from the given one on, and takes
// them off the stack.
func (w *walker) below(m *message, firstChild int, at Item) bool {
	lastChild := len(w.children)
	for i := firstChild; i < lastChild; i++ {
		c := w.children[i]
		sub := m.fields[c.index].sub
		pos, end := c.bounds()
		var ok bool
		switch sub.level {
		case levelItem:
			if i == firstChild {
				w.req.Items = slices.Grow(w.req.Items, lastChild-firstChild)
			}
			ok = w.walkItem(sub, pos, end, at)
		case levelMetric:
			ok = w.metric(sub, pos, end, at)
		default:
			ok = w.envelope(sub, pos, end, at)
		}
		if !ok {
			return w.failIn(m, c.index)
		}
	}
	w.children = w.children[:firstChild]
	return true
}

// split puts the children of an envelope onto the stack of children and the
// stretches between them, validated, onto that of parts.
func (w *walker) split(m *message, pos, end int) bool {
	buf, part := w.buf[:end], pos
	first := len(w.children)
	for pos < len(buf) {
		start := pos
		num, wire, next := w.tag(buf, pos)
		if next < 0 {
			return false
		}
		index := m.index(num)
		switch {
		case m.fields[index].op != opChild:
			if pos = w.skipAny(buf, next, num, wire); pos < 0 {
				return w.failIn(m, index)
			}
			continue
		case wire != wireLen:
			w.fail(start, wrongWire(wire))
			return w.failIn(m, index)
		}
		n, from := w.length(buf, next)
		if from < 0 {
			return w.failIn(m, index)
		}
		if !w.part(m, part, start) {
			return false
		}
		if len(w.children)-first == MaxItems {
			w.failMany(MaxItems)
			return w.failIn(m, index)
		}
		w.children = append(w.children, child{Ref: Ref{Off: uint32(from), Len: uint32(n)}, index: index})
		pos = from + n
		part = pos
	}
	return w.part(m, part, end)
}

// part validates a stretch of an envelope's own fields and notes it.
func (w *walker) part(m *message, pos, end int) bool {
	if pos == end {
		return true
	}
	if !w.whole(m, pos, end) {
		return false
	}
	w.parts = append(w.parts, Ref{Off: uint32(pos), Len: uint32(end - pos)})
	return true
}

// join returns the parts as one message: the payload's own bytes when there is
// but one part.
func (w *walker) join(parts []Ref) []byte {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		start, end := parts[0].Off, parts[0].Off+parts[0].Len
		return w.buf[start:end:end]
	}
	return w.appendParts(w.alloc(total(parts)), parts)
}

// wrap returns the parts of a metric with its data as the last field.
func (w *walker) wrap(metric []Ref, number uint32, data []Ref) []byte {
	n := total(data)
	dst := w.alloc(total(metric) + 1 + binary.MaxVarintLen32 + n)
	dst = w.appendParts(dst, metric)
	dst = append(dst, byte(number<<3|wireLen))
	dst = binary.AppendUvarint(dst, uint64(n))
	return w.appendParts(dst, data)
}

func total(parts []Ref) int {
	n := 0
	for _, p := range parts {
		n += int(p.Len)
	}
	return n
}

func (w *walker) appendParts(dst []byte, parts []Ref) []byte {
	for _, p := range parts {
		dst = append(dst, w.req.Bytes(p)...)
	}
	return dst
}

// Envelopes are small and many, so those that are copied share chunks.
const (
	smallestChunk = 512
	largestChunk  = 64 << 10
)

// alloc returns an empty slice with room for n bytes.
func (w *walker) alloc(n int) []byte {
	if cap(w.arena)-len(w.arena) < n {
		w.arena = make([]byte, 0, max(n, min(max(2*cap(w.arena), smallestChunk), largestChunk)))
	}
	start := len(w.arena)
	w.arena = w.arena[:start+n]
	return w.arena[start : start : start+n]
}

// intern returns the index of an envelope, which is the last one's when they
// are equal: SDKs repeat the resource for each scope, and collectors both.
func (w *walker) intern(list *[][]byte, frame []byte) uint32 {
	if n := len(*list); n > 0 && bytes.Equal((*list)[n-1], frame) {
		return uint32(n - 1)
	}
	*list = append(*list, frame)
	return uint32(len(*list) - 1)
}
