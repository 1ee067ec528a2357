package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/s2"

	"sonde/storage/otlp"
)

// The value of a head entry, drawn in FORMAT.md.
const (
	entryVersion    = 1
	entryHeaderSize = 14 // version, signal, checksum, time

	encodingRaw = 0
	encodingS2  = 1
)

var (
	errDamaged = errors.New("damaged data")
	errNewer   = errors.New("written by a newer version of this program")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers a value but for the four bytes at 2 that hold it.
func checksum(v []byte) uint32 {
	return crc32.Update(crc32.Checksum(v[:2], castagnoli), castagnoli, v[6:])
}

// putChecksum writes the checksum of a value into it.
func putChecksum(v []byte) { binary.BigEndian.PutUint32(v[2:], checksum(v)) }

// checkValue tests the first bytes of a value that starts with a version, one
// byte of its own, and a checksum.
func checkValue(v []byte, version byte) error { //nolint:unparam // each kind of value has a version of its own
	if len(v) < 6 {
		return fmt.Errorf("%w: value of %d bytes", errDamaged, len(v))
	}
	if checksum(v) != binary.BigEndian.Uint32(v[2:]) {
		return fmt.Errorf("%w: checksum does not match", errDamaged)
	}
	if v[0] > version {
		return fmt.Errorf("%w: format version %d, known is %d", errNewer, v[0], version)
	}
	return nil
}

// appendEntry appends the value of one entry: requests of one signal.
func appendEntry(dst []byte, sig otlp.Signal, timeNano int64, reqs []*pending) []byte {
	start := len(dst)
	dst = append(dst, entryVersion, byte(sig), 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, uint64(timeNano))
	dst = binary.AppendUvarint(dst, uint64(len(reqs)))
	for _, p := range reqs {
		dst = binary.BigEndian.AppendUint64(dst, p.req.ArrivalUnixNano)
		dst = append(dst, p.encoding)
		dst = binary.AppendUvarint(dst, uint64(len(p.req.Payload)))
		dst = binary.AppendUvarint(dst, uint64(len(p.body)))
	}
	for _, p := range reqs {
		dst = append(dst, p.body...)
	}
	putChecksum(dst[start:])
	return dst
}

// entry is a head entry read back.
type entry struct {
	num      uint64
	sig      otlp.Signal
	timeNano int64 // when it was committed, by the store's clock
	reqs     []*otlp.Request
}

// decodeEntry reads the value of an entry and walks its requests again. The
// bytes are copied.
func decodeEntry(v []byte) (entry, error) {
	if err := checkValue(v, entryVersion); err != nil {
		return entry{}, err
	}
	if len(v) < entryHeaderSize {
		return entry{}, fmt.Errorf("%w: entry of %d bytes", errDamaged, len(v))
	}
	e := entry{sig: otlp.Signal(v[1]), timeNano: int64(binary.BigEndian.Uint64(v[6:]))}
	r := reader{b: v[entryHeaderSize:]}
	count := r.uvarint()
	type part struct {
		arrival     uint64
		encoding    byte
		raw, stored uint64
	}
	var parts []part
	for range count {
		parts = append(parts, part{r.uint64(), r.byte(), r.uvarint(), r.uvarint()})
		if r.failed {
			return entry{}, fmt.Errorf("%w: entry is cut short", errDamaged)
		}
	}
	for _, p := range parts {
		payload, err := unpack(r.take(p.stored), p.encoding, p.raw)
		if err != nil {
			return entry{}, err
		}
		req, err := otlp.Walk(e.sig, payload, p.arrival)
		if err != nil {
			return entry{}, fmt.Errorf("%w: %w", errDamaged, err)
		}
		if len(req.Items) > 0 {
			e.reqs = append(e.reqs, req)
		}
	}
	if r.failed || len(r.b) != 0 {
		return entry{}, fmt.Errorf("%w: entry has the wrong length", errDamaged)
	}
	return e, nil
}

// unpack returns a copy of a stored body as it came in.
func unpack(body []byte, encoding byte, size uint64) ([]byte, error) {
	switch encoding {
	case encodingRaw:
		return append([]byte(nil), body...), nil
	case encodingS2:
		n, err := s2.DecodedLen(body)
		if err != nil || uint64(n) != size {
			return nil, fmt.Errorf("%w: request of %d bytes says %d", errDamaged, size, n)
		}
		payload, err := s2.Decode(make([]byte, n), body)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		return payload, nil
	}
	return nil, fmt.Errorf("%w: unknown encoding %d", errDamaged, encoding)
}

// reader takes fields off the front of a value. After one that is not there,
// failed is set and all further ones are zero.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) take(n uint64) []byte {
	if r.failed || n > uint64(len(r.b)) {
		r.failed = true
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) byte() byte {
	if v := r.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if v := r.take(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if r.failed || n <= 0 {
		r.failed = true
		return 0
	}
	r.b = r.b[n:]
	return v
}
