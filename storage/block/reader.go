package block

import "encoding/binary"

// reader reads a section. After the first thing that can't be right it is bad
// and yields zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) check(ok bool) {
	if !ok {
		r.bad = true
	}
}

func (r *reader) byte() byte {
	if r.bad || len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// bytes returns the next n bytes, nil when there are fewer.
func (r *reader) bytes(n int) []byte {
	if r.bad || n < 0 || n > len(r.rest) {
		r.bad = true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) uvarint() uint64 {
	if r.bad {
		return 0
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// int reads a number that is at most limit.
func (r *reader) int(limit int) int {
	v := r.uvarint()
	if v > uint64(limit) {
		r.bad = true
		return 0
	}
	return int(v)
}

// uvarints reads len(dst) numbers.
func (r *reader) uvarints(dst []uint64) {
	rest := r.rest
	for i := range dst {
		if len(rest) > 0 && rest[0] < 0x80 {
			dst[i] = uint64(rest[0])
			rest = rest[1:]
			continue
		}
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			r.bad = true
			return
		}
		dst[i] = v
		rest = rest[n:]
	}
	r.rest = rest
}
