package block

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A U column is stored as codes: its numbers after a transform, packed.
const (
	transformNone   = 0 // the number itself
	transformDelta  = 1 // less the number before, modulo 2^64
	transformZigzag = 2 // the same difference as a signed number, zigzag
	transformXOR    = 3 // exclusive or with the number before
	transformTime   = 4 // 0 for 0, else 1 + zigzag of the difference to the column Time
)

const (
	packConstant = 0 // one uvarint: all codes
	packVarint   = 1 // a uvarint each
	packFixed    = 2 // 8 bytes little-endian each
)

// transforms lists what is tried for a column; the shortest codes win.
func transforms(c Column) []uint8 {
	switch c {
	case Time:
		return []uint8{transformDelta}
	case EventTime, ObservedTime, EndTime, StartTime:
		return []uint8{transformTime, transformZigzag}
	case Value:
		return []uint8{transformNone, transformZigzag, transformXOR}
	}
	return []uint8{transformNone}
}

func zigzag(v uint64) uint64   { return v<<1 ^ uint64(int64(v)>>63) }
func unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }

// transformed fills codes with the codes of values. False: this transform
// can't hold them. The number before the first is base.
func transformed(codes, values, times []uint64, transform uint8, base uint64) bool {
	prev := base
	switch transform {
	case transformNone:
		copy(codes, values)
	case transformDelta:
		for i, v := range values {
			codes[i], prev = v-prev, v
		}
	case transformZigzag:
		for i, v := range values {
			codes[i], prev = zigzag(v-prev), v
		}
	case transformXOR:
		for i, v := range values {
			codes[i], prev = v^prev, v
		}
	case transformTime:
		for i, v := range values {
			code := uint64(0)
			if v != 0 {
				if code = zigzag(v - times[i]); code == math.MaxUint64 {
					return false
				}
				code++
			}
			codes[i] = code
		}
	}
	return true
}

// restore turns codes back into the values, in place.
func restore(codes, times []uint64, transform uint8, base uint64) bool {
	prev := base
	switch transform {
	case transformNone:
	case transformDelta:
		for i, code := range codes {
			prev += code
			codes[i] = prev
		}
	case transformZigzag:
		for i, code := range codes {
			prev += unzigzag(code)
			codes[i] = prev
		}
	case transformXOR:
		for i, code := range codes {
			prev ^= code
			codes[i] = prev
		}
	case transformTime:
		for i, code := range codes {
			if code != 0 {
				codes[i] = times[i] + unzigzag(code-1)
			}
		}
	default:
		return false
	}
	return true
}

// packedLen returns how the codes are packed best and the bytes that takes.
func packedLen(codes []uint64) (pack uint8, n int) {
	constant := true
	for _, code := range codes {
		n += varintLen(code)
		constant = constant && code == codes[0]
	}
	switch {
	case constant:
		return packConstant, varintLen(codes[0])
	case n > 8*len(codes):
		return packFixed, 8 * len(codes)
	}
	return packVarint, n
}

func appendPacked(dst []byte, codes []uint64, pack uint8) []byte {
	switch pack {
	case packConstant:
		dst = binary.AppendUvarint(dst, codes[0])
	case packVarint:
		for _, code := range codes {
			if code < 0x80 {
				dst = append(dst, byte(code))
			} else {
				dst = binary.AppendUvarint(dst, code)
			}
		}
	case packFixed:
		for _, code := range codes {
			dst = binary.LittleEndian.AppendUint64(dst, code)
		}
	}
	return dst
}

// decodeUints decodes a U column of n rows. times is needed for all but Time.
func decodeUints(raw []byte, n int, times []uint64, base uint64) ([]uint64, error) {
	r := reader{rest: raw}
	transform, pack := r.byte(), r.byte()
	values := make([]uint64, n)
	switch pack {
	case packConstant:
		code := r.uvarint()
		for i := range values {
			values[i] = code
		}
	case packVarint:
		r.uvarints(values)
	case packFixed:
		if fixed := r.bytes(8 * n); fixed != nil {
			for i := range values {
				values[i] = binary.LittleEndian.Uint64(fixed[8*i:])
			}
		}
	default:
		r.bad = true
	}
	if r.bad || len(r.rest) > 0 || transform == transformTime && times == nil || !restore(values, times, transform, base) {
		return nil, fmt.Errorf("%w: bad numbers", ErrCorrupt)
	}
	return values, nil
}
