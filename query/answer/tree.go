package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"sonde/query"
)

// node is a span in the tree of its trace.
type node struct {
	span     query.Span
	parent   *node
	children []*node // by start
	logs     []query.LogRecord
	orphan   bool // its parent is not among the spans
	spans    int  // in the subtree
	failed   bool // an error or an exception in the subtree
	shape    int  // equal for subtrees of equal structure
}

func (n *node) start() uint64 { return uint64(n.span.StartTimestamp()) }

// above returns the span that n hangs from, nil at the top.
func (n *node) above() *query.Span {
	if n.parent == nil {
		return nil
	}
	return &n.parent.span
}

func (n *node) isFailure() bool {
	if n.span.Status().Code() == ptrace.StatusCodeError {
		return true
	}
	for range exceptions(n.span) {
		return true
	}
	return false
}

// forest is a whole trace: its roots, and the logs of no span that is here.
type forest struct {
	roots []*node
	loose []query.LogRecord
}

// grow hangs spans below their parents and logs at their spans. Of two spans
// with one id the first has the children.
func grow(t query.Trace) *forest {
	f := &forest{}
	byID := map[pcommon.SpanID]*node{}
	nodes := make([]*node, len(t.Spans))
	for i, span := range t.Spans {
		nodes[i] = &node{span: span}
		if _, taken := byID[span.SpanID()]; !taken {
			byID[span.SpanID()] = nodes[i]
		}
	}
	for _, n := range nodes {
		id := n.span.ParentSpanID()
		if n.parent = byID[id]; id.IsEmpty() || n.parent == nil {
			n.orphan = !id.IsEmpty()
			f.roots = append(f.roots, n)
			continue
		}
		n.parent.children = append(n.parent.children, n)
	}
	for _, rec := range t.Logs {
		if n := byID[rec.SpanID()]; n != nil && !rec.SpanID().IsEmpty() {
			n.logs = append(n.logs, rec)
		} else {
			f.loose = append(f.loose, rec)
		}
	}
	for _, n := range nodes {
		slices.SortStableFunc(n.children, byStart)
	}
	f.sum(nodes)
	slices.SortStableFunc(f.roots, byStart)
	return f
}

func byStart(a, b *node) int { return cmp.Compare(a.start(), b.start()) }

// maxDepth is how deep a tree may be. Walking one recurses, and no chain of
// spans that a client may send must end the process.
const maxDepth = 10000

// sum sums up every tree. Spans that no root reaches are their own ancestors:
// the first of such a ring is cut off its parent and becomes a root, as do
// spans deeper than maxDepth.
func (f *forest) sum(nodes []*node) {
	shapes := map[string]int{}
	done := 0
	sumRoots := func() {
		for ; done < len(f.roots); done++ {
			f.sumNode(f.roots[done], shapes, 0)
		}
	}
	sumRoots()
	for _, n := range nodes {
		if n.spans > 0 {
			continue
		}
		n.parent.children = slices.DeleteFunc(n.parent.children, func(child *node) bool { return child == n })
		f.uproot(n)
		sumRoots()
	}
}

func (f *forest) uproot(n *node) {
	n.parent = nil
	f.roots = append(f.roots, n)
}

// sumNode fills in spans, failed and shape of n and all below it. Shapes are
// numbers given out in the order in which new ones are met.
func (f *forest) sumNode(n *node, shapes map[string]int, depth int) {
	if depth == maxDepth {
		for _, child := range n.children {
			f.uproot(child)
		}
		n.children = nil
	}
	n.spans, n.failed = 1, n.isFailure()
	key := fmt.Appendf(nil, "%q %q %d %d", n.span.Resource.Service, n.span.Name(), n.span.Kind(), n.span.Status().Code())
	for _, child := range n.children {
		f.sumNode(child, shapes, depth+1)
		n.spans += child.spans
		n.failed = n.failed || child.failed
		key = strconv.AppendInt(append(key, ' '), int64(child.shape), 10)
	}
	if _, ok := shapes[string(key)]; !ok {
		shapes[string(key)] = len(shapes)
	}
	n.shape = shapes[string(key)]
}

// foldFrom is how many equal siblings are written as one line.
const foldFrom = 3

// fold gathers equal siblings, in the order of the first of each: groups of at
// least foldFrom, all others alone. What failed is never folded.
func fold(siblings []*node) [][]*node {
	members := map[int][]*node{}
	for _, n := range siblings {
		if !n.failed {
			members[n.shape] = append(members[n.shape], n)
		}
	}
	var groups [][]*node
	for _, n := range siblings {
		switch group := members[n.shape]; {
		case n.failed || len(group) < foldFrom:
			groups = append(groups, []*node{n})
		case group[0] == n:
			groups = append(groups, group)
		}
	}
	return groups
}

// treeLine is one line of the tree.
type treeLine struct {
	text   string
	parent int // the line that it hangs from, -1 at the top
	spans  int // how many spans it stands for
	logs   int // how many log records
	rank   int // the budget keeps low ranks first
	kept   bool
	below  int // spans of the subtree that were cut
}

// treeWriter writes the lines of a forest.
type treeWriter struct {
	start     uint64 // of the trace, Unix nanoseconds
	resources resources
	instances map[string]int // resources by service
	lines     []treeLine
}

// maxIndent is the depth from which the indentation grows no further.
const maxIndent = 20

func (w *treeWriter) add(depth int, line treeLine) int {
	indent := strings.Repeat(" ", min(depth, maxIndent))
	if depth > maxIndent {
		indent += "(depth " + strconv.Itoa(depth) + ") "
	}
	line.text = indent + line.text
	w.lines = append(w.lines, line)
	return len(w.lines) - 1
}

// offset returns the time since the trace began: "+12.3ms".
func (w *treeWriter) offset(t uint64) string {
	if t < w.start {
		return "-" + duration(between(t, w.start))
	}
	return "+" + duration(between(w.start, t))
}

// write appends a group of equal spans, usually of one, and all below it.
func (w *treeWriter) write(group []*node, parent, depth int) {
	n := group[0]
	rank := 2 + depth
	if n.isFailure() {
		rank = 1
	}
	if depth == 0 {
		rank = 0
	}
	text := w.spanLine(n)
	if len(group) > 1 {
		text = w.foldLine(group)
	}
	at := w.add(depth, treeLine{text: text, parent: parent, spans: len(group), rank: rank})
	for event := range exceptions(n.span) {
		text := w.offset(uint64(event.Timestamp())) + " ! " + exceptionText(n.span, event)
		w.add(depth+1, treeLine{text: text, parent: at, rank: rank})
	}
	var children []*node
	var logs []query.LogRecord
	for _, member := range group {
		children = append(children, member.children...)
		logs = append(logs, member.logs...)
	}
	slices.SortStableFunc(children, byStart)
	slices.SortStableFunc(logs, func(a, b query.LogRecord) int { return cmp.Compare(a.TimeUnixNano, b.TimeUnixNano) })
	for _, below := range fold(children) {
		for len(logs) > 0 && logs[0].TimeUnixNano <= below[0].start() {
			w.writeLog(logs[0], at, depth+1)
			logs = logs[1:]
		}
		w.write(below, at, depth+1)
	}
	for _, rec := range logs {
		w.writeLog(rec, at, depth+1)
	}
}

// writeLog ranks warnings and worse with what failed.
func (w *treeWriter) writeLog(rec query.LogRecord, parent, depth int) {
	const warn = 13
	rank := 2 + depth
	if rec.Severity >= warn {
		rank = 1
	}
	text := w.offset(rec.TimeUnixNano) + " log " + severityLabel(rec.Severity, rec.SeverityText())
	if parent < 0 {
		text += " " + w.service(rec.Resource)
	}
	w.add(depth, treeLine{text: string(appendLogText([]byte(text), rec)), parent: parent, logs: 1, rank: rank})
}

// service names a resource: by its service, and by its number too when the
// trace has several of that service.
func (w *treeWriter) service(r *query.Resource) string {
	i := w.resources.ref(r)
	name := w.resources.list[i].service
	if w.instances[name] > 1 {
		name += "#" + strconv.Itoa(i+1)
	}
	return name
}

func (w *treeWriter) spanLine(n *node) string {
	text := w.offset(n.start()) + " " + duration(n.span.Duration()) + " " + w.service(n.span.Resource)
	b := appendSpanText([]byte(text), n.span, n.above())
	if n.orphan {
		b = append(b, " (parent "+shortSpan(n.span.ParentSpanID())+" missing)"...)
	}
	return string(b)
}

// foldLine sums up equal siblings: "30× 340 ms total, max 11 ms".
func (w *treeWriter) foldLine(group []*node) string {
	var total, longest time.Duration
	for _, n := range group {
		total += n.span.Duration()
		longest = max(longest, n.span.Duration())
	}
	n := group[0]
	b := []byte(w.offset(n.start()) + " " + strconv.Itoa(len(group)) + "× " + durationWith(total, " ") +
		" total, max " + durationWith(longest, " ") + " " + w.service(n.span.Resource))
	b = appendSpanTitle(b, n.span, n.above())
	return string(appendFoldedAttrs(b, group))
}

// appendFoldedAttrs appends what all members have alike, and of the rest how
// many values there are.
func appendFoldedAttrs(dst []byte, group []*node) []byte {
	var keys []string
	values := map[string]map[string]int{} // by key, members by text
	for _, n := range group {
		differs := differsFrom(n.above())
		for k, v := range n.span.Attributes().All() {
			if differs != nil && !differs(k, v) {
				continue
			}
			if values[k] == nil {
				values[k] = map[string]int{}
				keys = append(keys, k)
			}
			values[k][string(appendAttr(nil, k, v, valueLimit))]++
		}
	}
	start := len(dst)
	for i, k := range keys {
		if len(dst)-start > attrsLimit {
			dst = strconv.AppendInt(append(dst, " …+"...), int64(len(keys)-i), 10)
			break
		}
		text := string(appendWord(nil, k, keyLimit)) + "=(" + strconv.Itoa(len(values[k])) + " values)"
		for attr, members := range values[k] {
			if members == len(group) {
				text = attr
			}
		}
		open := " "
		if i == 0 {
			open = " {"
		}
		dst = append(append(dst, open...), text...)
	}
	if len(keys) > 0 {
		dst = append(dst, '}')
	}
	return dst
}
