package block

import (
	"hash/maphash"

	"sonde/storage/otlp"
)

const (
	// trigramBytes is the size of a filter. Distinct trigrams level off near ten
	// thousand whatever the size of a block, which fills 2^16 bits to a seventh:
	// a word of five letters that is nowhere passes one block in some hundreds.
	trigramBytes = 1 << 16 / 8
	// A block of fewer rows is searched faster than a filter pays for its bytes.
	minTrigramRows = 64
)

// trigramSet is a filter over texts: a bit for the hash of each three bytes that
// follow one another in a text, folded.
type trigramSet [trigramBytes]byte

func (s *trigramSet) add(folded []byte) {
	if len(folded) < 3 {
		return
	}
	w := uint32(folded[0])<<8 | uint32(folded[1])
	for _, c := range folded[2:] {
		w = w<<8 | uint32(c)
		h := trigramHash(w)
		s[h>>3] |= 1 << (h & 7)
	}
}

// trigramHash hashes the low three bytes of w to 16 bits.
func trigramHash(w uint32) uint32 { return w << 8 * 0x9E3779B1 >> 16 }

// mayContain reports whether a text that contains folded can be in the filter.
func mayContain(filter, folded []byte) bool {
	if len(folded) < 3 {
		return true
	}
	w := uint32(folded[0])<<8 | uint32(folded[1])
	for _, c := range folded[2:] {
		w = w<<8 | uint32(c)
		if h := trigramHash(w); filter[h>>3]&(1<<(h&7)) == 0 {
			return false
		}
	}
	return true
}

// MayContain reports whether the text of a body or of an attribute value in a
// block of logs can contain a text, given folded by otlp.Folder. False is
// certain.
func (b *Block) MayContain(folded []byte) (bool, error) {
	filter, err := b.readSection(trigrams)
	if err != nil {
		return false, err
	}
	if len(filter) != trigramBytes {
		return true, nil // there is none
	}
	return mayContain(filter, folded), nil
}

// trigramEncoder is what an encoder needs for the filter.
type trigramEncoder struct {
	set    trigramSet
	seed   maphash.Seed
	folder otlp.Folder
	folded []byte
	text   []byte
	// seen has the hashes of values that were added lately: most values of
	// attributes are some of few.
	seen [256]uint64
}

// trigrams makes the filter of a block of logs. It must be called after
// attributes.
func (e *encoder) trigrams(b *Builder, rows []uint32) {
	a := &e.attrs
	// Attributes that are no plain key and value are not worth reading here.
	if len(rows) < minTrigramRows || len(a.positions[rawAttributes]) > 0 {
		return
	}
	t := &e.trigram
	clear(t.set[:])
	clear(t.seen[:])
	kinds, bodies := b.uints[BodyKind], b.strings[Body]
	for _, row := range rows {
		switch body := bodies.At(int(row)); kinds[row] {
		case BodyString:
			t.addText(body)
		case BodyOther:
			t.addValue(body)
		}
	}
	for id, old := range a.ids {
		values := &b.attrs.columns[old].Values
		for _, at := range a.positions[id] {
			t.addValue(values.At(int(at)))
		}
	}
	e.raw = append(e.raw[:0], t.set[:]...)
	e.section(trigrams)
}

// addText adds a text as it stands.
func (t *trigramEncoder) addText(text []byte) {
	var ascii bool
	if t.folded, ascii = otlp.AppendLower(t.folded[:0], text); !ascii {
		t.folded = t.folder.AppendFold(t.folded[:0], text)
	}
	t.set.add(t.folded)
}

// addValue adds the text of a raw AnyValue.
func (t *trigramEncoder) addValue(raw []byte) {
	h := maphash.Bytes(t.seed, raw)
	slot := &t.seen[h%uint64(len(t.seen))]
	if *slot == h {
		return
	}
	*slot = h
	text, ok := plainString(raw)
	if !ok {
		var err error
		t.text, err = otlp.AppendRawText(t.text[:0], raw)
		if err != nil {
			return // such a value has no text: no search finds it
		}
		text = t.text
	}
	t.addText(text)
}
