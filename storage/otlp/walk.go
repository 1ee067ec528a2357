package otlp

import (
	"encoding/binary"
	"math"
)

// Walk validates an Export*ServiceRequest of the given signal and finds its
// items. It takes ownership of payload.
//
// The rules for single items are those of the OTLP data model: a span whose
// trace id or span id has the wrong width or is all zeros, and a data point
// with time 0, are rejected and counted; a log record with such an id is kept
// without it, and so are a span with such a parent, a link and an exemplar.
// Invalid UTF-8 is replaced by U+FFFD, byte for byte. Where such a rule changes
// something, Request.Payload is a rewritten copy; otherwise it is payload
// itself.
//
// Unknown fields are kept where they are. Groups, a wire type of old that OTLP
// never had, are skipped and left out of a rewritten copy, because no reader
// downstream knows them. Scopes under the field number of OTLP 0.15 and before
// are read like others. Of a metric with several kinds of data the last counts,
// as protobuf has it for a oneof.
func Walk(s Signal, payload []byte, arrivalUnixNano uint64) (*Request, error) {
	w, err := walk(s, payload, arrivalUnixNano)
	if err != nil {
		return nil, err
	}
	if !w.dirty {
		return w.req, nil
	}
	again, err := walk(s, w.rewrite(), arrivalUnixNano)
	if err != nil {
		return nil, err
	}
	again.req.Rejected, again.req.RejectReason = w.rejected.sum(s)
	return again.req, nil
}

// walk is one pass over the payload.
func walk(s Signal, payload []byte, arrivalUnixNano uint64) (*walker, error) {
	w := &walker{
		buf: payload,
		req: &Request{Signal: s, Payload: payload, ArrivalUnixNano: arrivalUnixNano},
	}
	if s < Logs || s > Metrics {
		w.fail(0, "no such signal")
		return nil, w.fault.err()
	}
	if uint64(len(payload)) > math.MaxUint32 {
		w.fail(0, "longer than 4 GiB")
		return nil, w.fault.err()
	}
	if !w.envelope(requestTypes[s], 0, len(payload), Item{}) {
		return nil, w.fault.err()
	}
	return w, nil
}

// walker is the state of a pass.
type walker struct {
	buf   []byte // the payload
	req   *Request
	arena []byte // holds the envelopes that are not contiguous in buf

	// Stacks: what split has found of the envelopes around the position.
	children []child
	parts    []Ref

	messages int  // so far, but for items and envelopes
	depth    int  // of array and key-value-list values around the position
	dirty    bool // the payload must be rewritten
	item     itemState
	rejected rejections
	fault    fault
}

// whole is message for what is decoded at once: an item, or what an envelope
// holds beside its children.
func (w *walker) whole(m *message, pos, end int) bool {
	before := w.messages
	if !w.message(m, pos, end) {
		return false
	}
	if w.messages-before > MaxParts {
		return w.failMany(MaxParts)
	}
	return true
}

// message validates the fields of a message at buf[pos:end]. All of a request
// goes through here, but for what holds its envelopes together.
func (w *walker) message(m *message, pos, end int) bool {
	buf := w.buf[:end]
	for pos < len(buf) {
		tag := buf[pos]
		o, index := m.ops[tag], uint32(tag>>3)
		pos++
		if o == opUnknown {
			if o, index, pos = w.rareTag(m, buf, pos-1); pos < 0 {
				return false
			}
			if o == opUnknown {
				continue // rareTag has skipped the value
			}
		}
		if o < firstLen {
			if pos = w.scalar(buf, pos, o); pos < 0 {
				return w.failIn(m, index)
			}
			continue
		}
		var n int
		if pos < len(buf) && buf[pos] < 0x80 {
			n, pos = int(buf[pos]), pos+1
		} else if n, pos = w.length(buf, pos); pos < 0 {
			return w.failIn(m, index)
		}
		next := pos + n
		if next > len(buf) {
			w.fail(pos, faultTruncated)
			return w.failIn(m, index)
		}
		ok := true
		switch o {
		case opString:
			if !validText(buf[pos:next]) {
				w.dirty = true
			}
		case opAttribute:
			w.messages++
			ok = plainAttribute(buf[pos:next]) || w.message(m.fields[index%numFields].sub, pos, next)
		case opValue:
			w.messages++
			ok = n > 1 && plainValue(buf[pos:next]) || w.message(m.fields[index%numFields].sub, pos, next)
		case opMessage, opChild:
			w.messages++
			ok = w.message(m.fields[index%numFields].sub, pos, next)
		case opBytes:
		default:
			ok = w.rareLen(m, index, o, pos, next)
		}
		if !ok {
			return w.failIn(m, index)
		}
		pos = next
	}
	return true
}

// scalar reads a value that is not length-delimited and returns the position
// behind it, negative when it failed.
func (w *walker) scalar(buf []byte, pos int, o op) int {
	switch o {
	case opVarint:
		if pos < len(buf) && buf[pos] < 0x80 {
			return pos + 1
		}
		return w.varint(buf, pos)
	case opFixed32:
		if len(buf)-pos < 4 {
			return w.fail(pos, faultTruncated)
		}
		return pos + 4
	}
	if len(buf)-pos < 8 {
		return w.fail(pos, faultTruncated)
	}
	switch o {
	case opTime:
		w.item.time = binary.LittleEndian.Uint64(buf[pos:])
	case opObserved:
		w.item.observed = binary.LittleEndian.Uint64(buf[pos:])
	}
	return pos + 8
}

func (w *walker) varint(buf []byte, pos int) int {
	_, next, ok := consumeVarint(buf, pos)
	if ok {
		return next
	}
	return w.fail(pos, varintFault(buf, next))
}

// length reads a length and returns it with the position behind it, negative
// when it failed.
func (w *walker) length(buf []byte, pos int) (int, int) {
	n, next, ok := consumeVarint(buf, pos)
	switch {
	case !ok:
		return 0, w.fail(pos, varintFault(buf, next))
	case n > uint64(len(buf)-next):
		return 0, w.fail(pos, faultTruncated)
	}
	return int(n), next
}

// rareLen handles the length-delimited values that most messages lack.
func (w *walker) rareLen(m *message, index uint32, o op, pos, end int) bool {
	switch o {
	case opNested:
		if w.depth++; w.depth > MaxDepth {
			w.fault.tooDeep = true
			w.fail(pos, "")
			return false
		}
		ok := w.message(m.fields[index].sub, pos, end)
		w.depth--
		return ok
	case opTraceID, opSpanID:
		if pos < end && !validID(w.buf[pos:end], o.idWidth()) {
			w.dirty = true
		}
	case opOwnTraceID:
		w.item.traceID = w.item.traceID.seen(validID(w.buf[pos:end], o.idWidth()))
	case opOwnSpanID:
		w.item.spanID = w.item.spanID.seen(validID(w.buf[pos:end], o.idWidth()))
	case opPackedFixed64:
		if (end-pos)%8 != 0 {
			w.fail(pos, "length is not a multiple of 8")
			return false
		}
	case opPackedVarint:
		for pos < end {
			if pos = w.varint(w.buf[:end], pos); pos < 0 {
				return false
			}
		}
	}
	return true
}

// rareTag reads a tag that is longer than a byte, does not belong to a known
// field, or is wrong. It skips the value of an unknown field and returns
// opUnknown. The position is negative when it failed.
func (w *walker) rareTag(m *message, buf []byte, start int) (op, uint32, int) {
	num, wire, pos := w.tag(buf, start)
	if pos < 0 {
		return opUnknown, 0, pos
	}
	index := m.index(num)
	f := &m.fields[index]
	if f.op == opUnknown {
		w.dirty = w.dirty || wire == wireStart
		return opUnknown, 0, w.skipAny(buf, pos, num, wire)
	}
	o := f.op
	if single, ok := o.unpacked(); ok && wire != wireLen {
		o = single
	}
	if wire != o.wire() {
		w.failIn(m, index)
		return opUnknown, 0, w.fail(start, wrongWire(wire))
	}
	return o, index, pos
}

func (w *walker) tag(buf []byte, pos int) (num uint32, wire uint8, next int) {
	v, next, ok := consumeVarint(buf, pos)
	switch {
	case !ok:
		return 0, 0, w.fail(pos, varintFault(buf, next))
	case v>>3 == 0 || v>>3 > maxField:
		return 0, 0, w.fail(pos, "invalid field number")
	}
	return uint32(v >> 3), uint8(v & 7), next
}

// skipAny returns the position behind a value of any wire type.
func (w *walker) skipAny(buf []byte, pos int, num uint32, wire uint8) int {
	if wire != wireStart {
		return w.skip(buf, pos, wire)
	}
	next := w.group(buf, pos, num, 0)
	if next < 0 {
		w.fault.reason = "bad group: " + w.fault.reason
	}
	return next
}

// skip returns the position behind a value that is no group.
func (w *walker) skip(buf []byte, pos int, wire uint8) int {
	switch wire {
	case wireVarint:
		return w.scalar(buf, pos, opVarint)
	case wireFixed32:
		return w.scalar(buf, pos, opFixed32)
	case wireFixed64:
		return w.scalar(buf, pos, opFixed64)
	case wireLen:
		n, next := w.length(buf, pos)
		return next + n // a failure has length 0
	case wireEnd:
		return w.fail(pos, faultGroupEnd)
	}
	return w.fail(pos, "invalid wire type")
}

// group skips the fields of a group up to and with its end tag.
func (w *walker) group(buf []byte, pos int, num uint32, depth int) int {
	if depth > MaxDepth {
		return w.fail(pos, "nested too deeply")
	}
	for pos >= 0 && pos < len(buf) {
		var inner uint32
		var wire uint8
		start := pos
		if inner, wire, pos = w.tag(buf, pos); pos < 0 {
			break
		}
		switch wire {
		case wireEnd:
			if inner != num {
				return w.fail(start, faultGroupEnd)
			}
			return pos
		case wireStart:
			pos = w.group(buf, pos, inner, depth+1)
		default:
			pos = w.skip(buf, pos, wire)
		}
	}
	if pos < 0 {
		return pos
	}
	return w.fail(pos, faultTruncated)
}
