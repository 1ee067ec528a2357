package query

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// needle is a text to be found in log records, in whatever case. It holds
// buffers that grow to the size of a column and are used again for the next.
type needle struct {
	text  []byte // folded
	ascii bool   // text is ASCII
	// wide: letters beyond ASCII fold to letters of text, as K does to k.
	wide bool
	// Whether text can be part of the text of such a value.
	inInt, inDouble, inBool bool

	folder otlp.Folder
	folded []byte   // a column, folded
	ends   []uint32 // where the values in folded end, when folding moved them
	value  []byte   // one value as text
}

func newNeedle(s string) *needle {
	n := &needle{}
	n.text = n.folder.AppendFold(nil, []byte(s))
	text := string(n.text)
	n.ascii = strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	n.wide = !n.ascii || strings.ContainsAny(text, "ks")
	n.inInt = strings.Trim(text, "-0123456789") == ""
	n.inDouble = strings.Trim(text, "+-.0123456789e") == "" || isPart(text, "nan", "-infinity")
	n.inBool = isPart(text, "true", "false")
	return n
}

func isPart(text string, of ...string) bool {
	return slices.ContainsFunc(of, func(whole string) bool { return strings.Contains(whole, text) })
}

// in reports whether text contains the needle.
func (n *needle) in(text []byte) bool {
	n.folded = n.folder.AppendFold(n.folded[:0], text)
	return bytes.Contains(n.folded, n.text)
}

// inValue reports whether the text of a raw AnyValue contains the needle.
func (n *needle) inValue(raw []byte) bool {
	text, err := otlp.AppendRawText(n.value[:0], raw)
	n.value = text
	return err == nil && n.in(text)
}

// narrow keeps the rows of s whose body or attributes contain the needle.
func (n *needle) narrow(b *block.Block, s *rows) error {
	if may, err := b.MayContain(n.text); err != nil || !may {
		s.reset(b.Rows)
		return err
	}
	var found rows
	found.reset(b.Rows)
	if err := n.searchBodies(b, s, &found); err != nil {
		return err
	}
	keys, err := b.AttributeKeys()
	if err != nil {
		return err
	}
	for _, key := range keys {
		column, err := b.Attribute(key)
		if err != nil {
			return err
		}
		if column != nil {
			n.searchAttribute(column, s, &found)
		}
	}
	copy(s.bits, found.bits)
	return nil
}

// searchBodies adds the rows of s whose body contains the needle to found.
func (n *needle) searchBodies(b *block.Block, s, found *rows) error {
	kinds, err := b.Uints(block.BodyKind)
	if err != nil {
		return err
	}
	bodies, err := b.Strings(block.Body)
	if err != nil {
		return err
	}
	isText := func(row int) (int, bool) { return 0, kinds[row] == block.BodyString }
	n.search(bodies, isText, func(row int) {
		if s.has(row) {
			found.add(row)
		}
	})
	for row, kind := range kinds {
		if kind == block.BodyOther && s.has(row) && n.inValue(bodies.At(row)) {
			found.add(row)
		}
	}
	return nil
}

// searchAttribute adds the rows of s whose value in the column contains the
// needle to found.
func (n *needle) searchAttribute(c *block.AttributeColumn, s, found *rows) {
	isText := func(i int) (int, bool) { return stringOffset(c.Values.At(i)) }
	n.search(&c.Values, isText, func(i int) {
		if row := int(c.Rows[i]); s.has(row) {
			found.add(row)
		}
	})
	for i, row := range c.Rows {
		raw := c.Values.At(i)
		if _, ok := isText(i); ok || !n.mayBeIn(raw) || !s.has(int(row)) || found.has(int(row)) {
			continue
		}
		if n.inValue(raw) {
			found.add(int(row))
		}
	}
}

// search calls hit once for each value of the column that contains the needle.
// isText says from which byte on a value is text, or that it is none.
//
// The column is searched at once, with all values in a row, and hits that reach
// over the end of their value are dropped: a search for each value would cost
// several times as much.
func (n *needle) search(c *block.Strings, isText func(i int) (offset int, ok bool), hit func(i int)) {
	var ascii bool
	n.folded, ascii = otlp.AppendLower(n.folded[:0], c.Data)
	if ascii && !n.ascii {
		return
	}
	ends := c.Ends
	if !ascii && n.wide && (!n.ascii || hasWide(c.Data)) {
		ends = n.foldTexts(c, isText)
		texts := isText
		isText = func(i int) (int, bool) {
			_, ok := texts(i)
			return 0, ok
		}
	}
	for at, i := 0, 0; ; {
		next := bytes.Index(n.folded[at:], n.text)
		if next < 0 {
			return
		}
		at += next
		i += sort.Search(len(ends)-i, func(j int) bool { return int(ends[i+j]) > at })
		start, end := 0, int(ends[i])
		if i > 0 {
			start = int(ends[i-1])
		}
		offset, ok := isText(i)
		if ok && at < start+offset {
			at = start + offset
			continue
		}
		if ok && at+len(n.text) <= end {
			hit(i)
		}
		at = end
	}
}

// hasWide reports whether a letter occurs that is not ASCII but folds to ASCII.
func hasWide(data []byte) bool {
	return bytes.Contains(data, []byte("\u212a")) || bytes.Contains(data, []byte("ſ"))
}

// foldTexts puts the folded texts of the column into n.folded and returns where
// each ends: folding may change how many bytes a letter takes.
func (n *needle) foldTexts(c *block.Strings, isText func(i int) (int, bool)) []uint32 {
	n.folded, n.ends = n.folded[:0], n.ends[:0]
	for i := range c.Ends {
		if offset, ok := isText(i); ok {
			n.folded = n.folder.AppendFold(n.folded, c.At(i)[offset:])
		}
		n.ends = append(n.ends, uint32(len(n.folded)))
	}
	return n.ends
}

// stringOffset returns where in a raw AnyValue its text begins. False when it is
// not a string and nothing else.
func stringOffset(raw []byte) (int, bool) {
	const tag = otlp.AnyValueString<<3 | byte(protowire.BytesType)
	if len(raw) < 2 || raw[0] != tag {
		return 0, false
	}
	size, width := protowire.ConsumeVarint(raw[1:])
	offset := 1 + width
	return offset, width > 0 && size == uint64(len(raw)-offset)
}

// mayBeIn reports whether the needle can be part of the text of a raw AnyValue,
// by its kind alone: it saves to write out most numbers.
func (n *needle) mayBeIn(raw []byte) bool {
	num, kind, width := protowire.ConsumeTag(raw)
	if width < 0 {
		return false
	}
	if width+protowire.ConsumeFieldValue(num, kind, raw[width:]) != len(raw) {
		return true // more than one field: the last of them counts
	}
	switch num {
	case otlp.AnyValueInt:
		// 7 bits a byte are less than 2.2 digits, and there may be a sign.
		return n.inInt && len(n.text) <= 1+(len(raw)-width)*11/5
	case otlp.AnyValueDouble:
		return n.inDouble
	case otlp.AnyValueBool:
		return n.inBool
	}
	return true
}
