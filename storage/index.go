package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// Versions of the values of a partition file, drawn in FORMAT.md.
const (
	headerVersion = 1
	partVersion   = 1
	noteVersion   = 1
)

// encodeHeader returns the index's copy of a block header.
func encodeHeader(h *block.Header) []byte {
	dst := []byte{headerVersion, byte(h.Signal), 0, 0, 0, 0}
	dst = binary.BigEndian.AppendUint64(dst, h.MinTime)
	dst = binary.BigEndian.AppendUint64(dst, h.MaxTime)
	dst = binary.AppendUvarint(dst, uint64(h.Rows))
	dst = binary.AppendUvarint(dst, uint64(h.RawBytes))
	dst = binary.AppendUvarint(dst, h.MaxDurationNano)
	for i, n := range h.Severities {
		if n > 0 {
			dst = append(dst, byte(i))
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	putChecksum(dst)
	return dst
}

func decodeHeader(v []byte) (block.Header, error) {
	if err := checkValue(v, headerVersion); err != nil {
		return block.Header{}, err
	}
	r := reader{b: v[6:]}
	h := block.Header{
		Signal:          otlp.Signal(v[1]),
		MinTime:         r.uint64(),
		MaxTime:         r.uint64(),
		Rows:            int(r.uvarint()),
		RawBytes:        int(r.uvarint()),
		MaxDurationNano: r.uvarint(),
	}
	for len(r.b) > 0 && !r.failed {
		i := r.byte()
		if int(i) >= len(h.Severities) {
			return block.Header{}, fmt.Errorf("%w: severity %d", errDamaged, i)
		}
		h.Severities[i] = uint32(r.uvarint())
	}
	if r.failed {
		return block.Header{}, fmt.Errorf("%w: header of %d bytes", errDamaged, len(v))
	}
	return h, nil
}

// totals add up the blocks of one signal in one partition.
type totals struct {
	Blocks, Rows, RawBytes uint64
	times                  stretch
}

func (t *totals) add(h *block.Header) {
	t.Blocks++
	t.Rows += uint64(h.Rows)
	t.RawBytes += uint64(h.RawBytes)
	t.times.add(h.MinTime, h.MaxTime)
}

// partInfo is the value that says what a partition file is.
type partInfo struct {
	start     int64 // Unix hour
	spanHours int64
	totals    [numSignals]totals // without times
}

func encodePartInfo(p *partInfo) []byte {
	dst := []byte{partVersion, 0, 0, 0, 0, 0}
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.start))
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.spanHours))
	for _, t := range p.totals {
		dst = binary.BigEndian.AppendUint64(dst, t.Blocks)
		dst = binary.BigEndian.AppendUint64(dst, t.Rows)
		dst = binary.BigEndian.AppendUint64(dst, t.RawBytes)
	}
	putChecksum(dst)
	return dst
}

func decodePartInfo(v []byte) (partInfo, error) {
	if err := checkValue(v, partVersion); err != nil {
		return partInfo{}, err
	}
	r := reader{b: v[6:]}
	p := partInfo{start: int64(r.uint64()), spanHours: int64(r.uint64())}
	for i := range p.totals {
		p.totals[i] = totals{Blocks: r.uint64(), Rows: r.uint64(), RawBytes: r.uint64()}
	}
	if r.failed || p.spanHours < 1 {
		return partInfo{}, fmt.Errorf("%w: partition information of %d bytes", errDamaged, len(v))
	}
	return p, nil
}

// noteKey is the key of the note that a run is in blocks.
func noteKey(sig otlp.Signal, last uint64) []byte {
	return append([]byte{byte(sig)}, numberKey(last)...)
}

func encodeNote(sig otlp.Signal, n numberRange) []byte {
	dst := []byte{noteVersion, byte(sig), 0, 0, 0, 0}
	dst = binary.BigEndian.AppendUint64(dst, n.first)
	dst = binary.BigEndian.AppendUint64(dst, n.last)
	putChecksum(dst)
	return dst
}

// decodeNote reads a note under its key, which no checksum covers.
func decodeNote(k, v []byte) (otlp.Signal, numberRange, error) {
	if err := checkValue(v, noteVersion); err != nil {
		return 0, numberRange{}, err
	}
	r := reader{b: v[6:]}
	sig, n := otlp.Signal(v[1]), numberRange{first: r.uint64(), last: r.uint64()}
	if r.failed || !bytes.Equal(k, noteKey(sig, n.last)) {
		return 0, numberRange{}, fmt.Errorf("%w: note of %d bytes under the key %x", errDamaged, len(v), k)
	}
	return sig, n, nil
}
