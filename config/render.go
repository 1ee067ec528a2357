package config

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Render writes the settings as YAML that Load reads back to the same, each
// with its origin in a comment. Secrets are no settings: of variables that hold
// one it says only that they are set.
func (c Config) Render(w io.Writer, p Provenance) error {
	out := bufio.NewWriter(w)
	oneLine := strings.NewReplacer("\n", " ", "\r", " ") // a path may have anything in it
	section := ""
	for _, s := range Settings() {
		indent, name := "", s.Key
		if before, after, nested := strings.Cut(s.Key, "."); nested {
			if before != section {
				section = before
				fmt.Fprintf(out, "%s:\n", section)
			}
			indent, name = "  ", after
		}
		origin := p[s.Key]
		if origin == "" {
			origin = "default"
		}
		fmt.Fprintf(out, "%s%s: %s # %s\n", indent, name, s.yaml(&c), strings.ToValidUTF8(oneLine.Replace(origin), "?"))
	}
	for _, name := range NotSettings() {
		if p[name] != "" {
			fmt.Fprintf(out, "# %s is set, not shown\n", name)
		}
	}
	return out.Flush()
}

// yaml returns the value of a setting as YAML.
func (s Setting) yaml(c *Config) string {
	v := s.value(c)
	switch v := v.(type) {
	case *text:
		return strconv.Quote(v.String())
	case *list:
		quoted := make([]string, len(*v))
		for i, item := range *v {
			quoted[i] = strconv.Quote(item)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return v.String()
}
