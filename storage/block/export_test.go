package block

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// WithColumn returns an encoded block with one more column.
func WithColumn(encoded []byte, id Column, data []byte) ([]byte, error) {
	b, err := Open(encoded)
	if err != nil {
		return nil, err
	}
	var sections []section
	for _, s := range b.sections {
		if s.id != 0 {
			sections = append(sections, s)
		}
	}
	// The table lists sections as their bytes lie.
	slices.SortStableFunc(sections, func(a, b section) int { return cmp.Compare(a.offset, b.offset) })
	sections = append(sections, section{id: id, encoded: len(data), raw: len(data), sum: crc32.Checksum(data, castagnoli)})
	out := appendHeader(nil, &b.Header, sections)
	return append(append(out, b.data...), data...), nil
}

// Reseal makes all checksums of an encoded block right but those of single
// attributes.
func Reseal(encoded []byte) {
	if len(encoded) < prefixLen {
		return
	}
	n := binary.LittleEndian.Uint32(encoded[1:])
	if uint64(n) > uint64(len(encoded)-prefixLen) {
		return
	}
	fields, data := encoded[prefixLen:prefixLen+int(n)], encoded[prefixLen+int(n):]
	r := reader{rest: fields}
	r.header(&Header{})
	for range r.uvarint() {
		r.byte()
		s := r.section(0)
		if r.bad || s.encoded > len(data) {
			break
		}
		sum := fields[len(fields)-len(r.rest)-4:]
		binary.LittleEndian.PutUint32(sum, crc32.Checksum(data[:s.encoded], castagnoli))
		data = data[s.encoded:]
	}
	binary.LittleEndian.PutUint32(encoded[5:], crc32.Checksum(fields, castagnoli))
}

// DecodeColumn decodes bytes as a column of each form. What decodes must have
// the right number of rows.
func DecodeColumn(raw []byte, rows int) error {
	times := make([]uint64, rows)
	u, err1 := decodeUints(raw, rows, times, 7)
	s, err2 := decodeStrings(raw, rows)
	d, err3 := decodeDict(raw, rows)
	if err1 == nil && len(u) != rows {
		return fmt.Errorf("%d numbers of %d rows", len(u), rows)
	}
	if err2 == nil {
		if len(s.Ends) != rows || int(s.Ends[rows-1]) != len(s.Data) {
			return fmt.Errorf("%d strings of %d rows, %d bytes", len(s.Ends), rows, len(s.Data))
		}
		for row := range rows {
			s.At(row)
		}
	}
	if err3 == nil {
		for row := range rows {
			d.At(row)
		}
	}
	return errors.Join(err1, err2, err3)
}

// MaxSection bounds a section that is read.
const MaxSection = maxSection
