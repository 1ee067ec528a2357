package otlp

import "encoding/binary"

// rewrite returns a copy of the payload, which has been walked, in which the
// rules of Walk hold: without rejected items, invalid ids and groups, and with
// valid UTF-8.
func (w *walker) rewrite() []byte { return newRewriter(w, never).request() }

// rewriter copies a payload with changes. The payload has been walked, so
// nothing in it can be malformed.
type rewriter struct {
	judge    walker // walks items once more to tell which need a change
	cutDepth int    // values nested as deep as this are cut, see cutDeepValues
	depth    int    // of array and key-value-list values around the position
}

// never is a cutDepth that no value reaches.
const never = MaxDepth + 1

func newRewriter(w *walker, cutDepth int) *rewriter {
	return &rewriter{
		judge:    walker{buf: w.buf, req: &Request{Signal: w.req.Signal, Payload: w.buf}},
		cutDepth: cutDepth,
	}
}

func (r *rewriter) request() []byte {
	n := len(r.judge.buf)
	return r.message(make([]byte, 0, n), requestTypes[r.judge.req.Signal], 0, n)
}

// message appends the message at buf[pos:end].
func (r *rewriter) message(dst []byte, m *message, pos, end int) []byte {
	buf := r.judge.buf[:end]
	for pos < end {
		start := pos
		num, wire, value := r.judge.tag(buf, pos)
		pos = r.judge.skipAny(buf, value, num, wire)
		if wire == wireStart {
			continue
		}
		f := &m.fields[m.index(num)]
		if wire != wireLen || f.op == opUnknown {
			dst = append(dst, buf[start:pos]...)
			continue
		}
		n, content := r.judge.length(buf, value)
		dst = r.delimited(dst, f, span{start, value, content, content + n})
	}
	return dst
}

// span is where a length-delimited field lies in the payload: its tag in
// [tag:length), its length in [length:content), its content in [content:end).
type span struct{ tag, length, content, end int }

// delimited appends a length-delimited field of known meaning.
func (r *rewriter) delimited(dst []byte, f *field, at span) []byte {
	buf := r.judge.buf
	content := buf[at.content:at.end]
	switch f.op {
	case opTraceID, opSpanID:
		if len(content) > 0 && !validID(content, f.op.idWidth()) {
			return dst
		}
	case opString:
		if !validText(content) {
			dst = append(dst, buf[at.tag:at.length]...)
			from := len(dst)
			return prefixLength(appendString(dst, content), from)
		}
	case opBytes, opNested: // of an AnyValue
		if r.depth >= r.cutDepth {
			dst = appendTag(dst, AnyValueBytes, at.end-at.tag)
			break
		}
		if f.op == opNested {
			r.depth++
			dst = r.within(dst, f, at)
			r.depth--
			return dst
		}
	case opMessage, opAttribute, opValue, opChild:
		if f.sub.level != levelItem || r.cutDepth != never {
			return r.within(dst, f, at)
		}
		switch r.verdict(f.sub, at) {
		case itemDropped:
			return dst
		case itemChanged:
			return r.within(dst, f, at)
		}
	}
	return append(dst, buf[at.tag:at.end]...)
}

// within appends a field that holds a message to rewrite.
func (r *rewriter) within(dst []byte, f *field, at span) []byte {
	dst = append(dst, r.judge.buf[at.tag:at.length]...)
	from := len(dst)
	return prefixLength(r.message(dst, f.sub, at.content, at.end), from)
}

type itemVerdict uint8

const (
	itemSame itemVerdict = iota
	itemChanged
	itemDropped
)

func (r *rewriter) verdict(m *message, at span) itemVerdict {
	r.judge.item, r.judge.dirty = itemState{}, false
	switch {
	case !r.judge.message(m, at.content, at.end) || r.judge.verdict() != accepted:
		return itemDropped
	case r.judge.dirty:
		return itemChanged
	}
	return itemSame
}

// prefixLength puts the length of dst[from:] before it.
func prefixLength(dst []byte, from int) []byte {
	var prefix [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(prefix[:], uint64(len(dst)-from))
	dst = append(dst, prefix[:size]...)
	copy(dst[from+size:], dst[from:])
	copy(dst[from:], prefix[:size])
	return dst
}
