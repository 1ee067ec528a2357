package otlp

import (
	"fmt"
	"strings"
)

// itemState is what message notes of the item that it walks.
type itemState struct {
	time, observed  uint64
	traceID, spanID idState // the span's own
}

// idState tells of an id that an item must have.
type idState uint8

const (
	idAbsent idState = iota
	idGood
	idBad // once bad is bad: pdata refuses every id of a wrong width
)

// seen returns the state after one more id.
func (s idState) seen(valid bool) idState {
	if s == idBad || !valid {
		return idBad
	}
	return idGood
}

// validID tells whether an id has the right width and is not all zeros.
func validID(id []byte, width int) bool {
	if len(id) != width {
		return false
	}
	for _, b := range id {
		if b != 0 {
			return true
		}
	}
	return false
}

// walkItem validates the item at buf[pos:end] and adds or rejects it.
func (w *walker) walkItem(m *message, pos, end int, at Item) bool {
	w.item = itemState{}
	if !w.whole(m, pos, end) {
		return false
	}
	if len(w.req.Items) == MaxItems {
		return w.failMany(MaxItems)
	}
	if why := w.verdict(); why != accepted {
		w.rejected[why]++
		w.dirty = true
		return true
	}
	at.TimeUnixNano = w.item.time
	if w.req.Signal == Logs && at.TimeUnixNano == 0 {
		if at.TimeUnixNano = w.item.observed; at.TimeUnixNano == 0 {
			at.TimeUnixNano = w.req.ArrivalUnixNano
		}
	}
	at.Message = Ref{Off: uint32(pos), Len: uint32(end - pos)}
	w.req.Items = append(w.req.Items, at)
	return true
}

// rejection is why an item is refused.
type rejection uint8

const (
	accepted rejection = iota
	invalidTraceID
	invalidSpanID
	noTime
	numRejections
)

var rejectionTexts = [numRejections]string{
	invalidTraceID: "without a valid trace id (16 bytes, not all zero)",
	invalidSpanID:  "without a valid span id (8 bytes, not all zero)",
	noTime:         "with a time of 0",
}

// verdict judges the item that message has walked last.
func (w *walker) verdict() rejection {
	switch w.req.Signal {
	case Traces:
		if w.item.traceID != idGood {
			return invalidTraceID
		}
		if w.item.spanID != idGood {
			return invalidSpanID
		}
	case Metrics:
		if w.item.time == 0 {
			return noTime
		}
	}
	return accepted
}

// rejections counts refused items by reason.
type rejections [numRejections]int

// sum returns how many items were refused and a sentence that says why, empty
// for none.
func (r *rejections) sum(s Signal) (int, string) {
	sum := 0
	var parts []string
	for why, n := range r {
		if n > 0 {
			sum += n
			parts = append(parts, fmt.Sprintf("%d %s", n, rejectionTexts[why]))
		}
	}
	if sum == 0 {
		return 0, ""
	}
	noun := "data points"
	if s == Traces {
		noun = "spans"
	}
	return sum, fmt.Sprintf("rejected %s: %s.", noun, strings.Join(parts, ", "))
}
