package otlp

import (
	"fmt"
	"slices"
	"strings"
)

// fault is what is wrong with a payload. It is put together while the walk
// unwinds, so that a sound payload pays nothing for it.
type fault struct {
	offset  int
	reason  string
	tooDeep bool
	tooMany int      // the bound that is exceeded, else 0
	path    []string // field names, innermost first
}

const (
	faultTruncated = "cut off"
	faultGroupEnd  = "end of a group that did not start"
)

// varintFault tells why the varint that ended at buf[next:] is wrong.
func varintFault(buf []byte, next int) string {
	if next >= len(buf) {
		return faultTruncated
	}
	return "varint of more than 64 bits"
}

var wireNames = [8]string{"varint", "fixed64", "length-delimited", "start of group", "end of group", "fixed32", "6", "7"}

func wrongWire(wire uint8) string { return "wrong wire type " + wireNames[wire] }

// fail notes a fault and returns the negative position that stands for it.
func (w *walker) fail(offset int, reason string) int {
	w.fault.offset, w.fault.reason = offset, reason
	return -1
}

// failIn notes that the fault lies in a field of m.
func (w *walker) failIn(m *message, index uint32) bool {
	if name := m.fields[index].name; name != "" {
		w.fault.path = append(w.fault.path, name)
	}
	return false
}

// failMany notes that there are more than most of something.
func (w *walker) failMany(most int) bool {
	w.fault.tooMany = most
	return false
}

// err returns the fault as an error.
func (f *fault) err() error {
	slices.Reverse(f.path)
	path := strings.Join(f.path, ".")
	if path == "" {
		path = "the request"
	}
	if f.tooMany > 0 {
		return fmt.Errorf("%w: more than %d in %s; send less at a time", ErrTooMany, f.tooMany, shorten(path))
	}
	if f.tooDeep {
		return fmt.Errorf("%w: more than %d levels in %s at byte %d", ErrTooDeep, MaxDepth, shorten(path), f.offset)
	}
	return fmt.Errorf("%w: %s at byte %d: %s", ErrMalformed, shorten(path), f.offset, f.reason)
}

// shorten keeps an error readable whose path goes through many nested values.
func shorten(path string) string {
	const most = 200
	if len(path) <= most {
		return path
	}
	return path[:most] + "…"
}
