package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
)

// fileReader turns the tree of a YAML file into text by key.
type fileReader struct {
	table  []Setting
	path   string
	values map[string]string
	wrong  []error
}

func (r *fileReader) refuse(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Errorf("file %s: "+format, append([]any{r.path}, args...)...))
}

// section reads a section of the file and those in it. A key may also be
// written with its dots, `receiver.grpc: …`. What has no value counts as absent,
// so that a section whose lines are all commented out is fine.
func (r *fileReader) section(prefix string, section map[string]any) {
	byKey := func(s Setting) string { return s.Key }
	for _, name := range slices.Sorted(maps.Keys(section)) {
		key, given := prefix+name, section[name]
		s, known := settingOf(r.table, key, byKey)
		inner, isSection := given.(map[string]any)
		switch {
		case known && given == nil:
		case known:
			r.setting(s, given)
		case !r.isSection(key) && len(inner) == 0:
			r.refuse("unknown key %q, nearest is %q", key, nearest(key, r.table, byKey))
		case isSection:
			r.section(key+".", inner)
		case given != nil:
			r.refuse("%s: got %v, want a section of settings", key, given)
		}
	}
}

// isSection reports whether settings lie below the key.
func (r *fileReader) isSection(key string) bool {
	return slices.ContainsFunc(r.table, func(s Setting) bool { return strings.HasPrefix(s.Key, key+".") })
}

func (r *fileReader) setting(s Setting, given any) {
	if _, twice := r.values[s.Key]; twice {
		r.refuse("%s is given twice", s.Key)
		return
	}
	items, isList := given.([]any)
	if !isList {
		items = []any{given}
	} else if s.Type != "list" {
		r.refuse("%s: got a list, want one %s", s.Key, s.Type)
		return
	}
	var texts []string
	for _, item := range items {
		t, ok := scalar(item)
		if !ok {
			r.refuse("%s: got %v, want a plain value of type %s", s.Key, item, s.Type)
			return
		}
		texts = append(texts, t)
	}
	r.values[s.Key] = strings.Join(texts, ",")
}

// scalar returns the text of a plain YAML value.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool, int, int64, uint64:
		return fmt.Sprint(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case time.Time: // 2026-11-30 without quotes
		return v.Format(time.RFC3339), true
	}
	return "", false
}

// nearest returns the name in one spelling that takes the fewest edits to turn
// the given one into.
func nearest(given string, table []Setting, spelling func(Setting) string) string {
	best := slices.MinFunc(table, func(a, b Setting) int {
		return levenshtein.ComputeDistance(given, spelling(a)) - levenshtein.ComputeDistance(given, spelling(b))
	})
	return spelling(best)
}
