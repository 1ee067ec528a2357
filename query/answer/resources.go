package answer

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"sonde/query"
	"sonde/storage/otlp"
)

// resources collects the distinct resources of an answer, numbered from 0 by
// their first use. The zero value is ready.
type resources struct {
	list      []resourceText
	byPointer map[*query.Resource]int
	byContent map[string]int
}

type resourceText struct {
	service string
	attrs   []string // "key=value" in the order of keys, without service.name
	dropped uint32
}

// ref returns the number of a resource. Equal ones share it.
func (r *resources) ref(x *query.Resource) int {
	if i, ok := r.byPointer[x]; ok {
		return i
	}
	if r.byPointer == nil {
		r.byPointer, r.byContent = map[*query.Resource]int{}, map[string]int{}
	}
	content := contentKey(x.Attributes())
	i, ok := r.byContent[content]
	if !ok {
		i = len(r.list)
		r.byContent[content] = i
		r.list = append(r.list, newResourceText(x))
	}
	r.byPointer[x] = i
	return i
}

// contentKey returns equal strings for maps of equal content in any order.
func contentKey(m pcommon.Map) string {
	parts := make([]string, 0, m.Len())
	for k, v := range m.All() {
		part := append([]byte(k), 0, byte(v.Type()))
		parts = append(parts, string(append(otlp.AppendText(part, v), 0)))
	}
	slices.Sort(parts)
	return strings.Join(parts, "")
}

func newResourceText(x *query.Resource) resourceText {
	t := resourceText{service: cut(Clean(x.Service), nameLimit), dropped: x.DroppedAttributesCount()}
	if t.service == "" {
		t.service = "(no service)"
	}
	for k, v := range x.Attributes().All() {
		if k != "service.name" {
			t.attrs = append(t.attrs, string(appendAttr(nil, k, v, valueLimit)))
		}
	}
	slices.Sort(t.attrs)
	return t
}

// appendLines appends a line for each of the first n resources. What all of
// them say is written once, where that is shorter.
func (r *resources) appendLines(dst []byte, n int) []byte {
	list := r.list[:n]
	common := commonAttrs(list)
	const label = "# all:"
	if size := len(strings.Join(common, " ")) + 1; (n-1)*size > len(label)+1 {
		dst = append(dst, label...)
		for _, a := range common {
			dst = append(append(dst, ' '), a...)
		}
		dst = append(dst, '\n')
	} else {
		common = nil
	}
	for i, t := range list {
		dst = appendRef(dst, i)
		dst = append(append(dst, ' '), t.service...)
		dst = append(t.appendAttrs(dst, common), '\n')
	}
	return dst
}

func (t resourceText) appendAttrs(dst []byte, except []string) []byte {
	start, left := len(dst), 0
	for _, a := range t.attrs {
		switch {
		case slices.Contains(except, a):
		case len(dst)-start > attrsLimit:
			left++
		default:
			dst = append(append(dst, ' '), a...)
		}
	}
	if left > 0 {
		dst = append(strconv.AppendInt(append(dst, " …+"...), int64(left), 10), " attributes"...)
	}
	return appendDropped(dst, t.dropped, "attributes")
}

// commonAttrs returns what all of two or more resources have, of a length that
// a line holds.
func commonAttrs(list []resourceText) []string {
	if len(list) < 2 {
		return nil
	}
	var common []string
	size := 0
	for _, a := range list[0].attrs {
		inAll := !slices.ContainsFunc(list[1:], func(t resourceText) bool { return !slices.Contains(t.attrs, a) })
		if size += len(a); inAll && size <= attrsLimit {
			common = append(common, a)
		}
	}
	return common
}

func appendRef(dst []byte, resource int) []byte {
	return strconv.AppendInt(append(dst, '#'), int64(resource)+1, 10)
}
