package query

import (
	"bytes"
	"strings"
)

// glob is a name, or a pattern of one in which * stands for any bytes.
type glob struct {
	parts [][]byte // what lies between the stars
}

func newGlob(pattern string) glob {
	var g glob
	for part := range strings.SplitSeq(pattern, "*") {
		g.parts = append(g.parts, []byte(part))
	}
	return g
}

// nameGlob returns the glob of a filter's name, nil when it is not set.
func nameGlob(name string) *glob {
	if name == "" {
		return nil
	}
	g := newGlob(name)
	return &g
}

// matches reports whether the whole of name fits. Letters of different case
// differ. A name always fits itself, stars included.
func (g glob) matches(name []byte) bool {
	first, last := g.parts[0], g.parts[len(g.parts)-1]
	if len(g.parts) == 1 {
		return bytes.Equal(name, first)
	}
	rest, ok := bytes.CutPrefix(name, first)
	if !ok {
		return false
	}
	if rest, ok = bytes.CutSuffix(rest, last); !ok {
		return false
	}
	// The leftmost place for each part leaves the most to the parts after it.
	for _, part := range g.parts[1 : len(g.parts)-1] {
		if _, rest, ok = bytes.Cut(rest, part); !ok {
			return false
		}
	}
	return true
}
