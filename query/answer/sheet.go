package answer

import (
	"time"
)

// sheet is a page laid out as lines: the headline, the resources that its rows
// refer to, the rows.
type sheet struct {
	headline
	resources resources
	rows      []row
}

// row is one line in two halves: between them goes the reference to the
// resource, which is left out when the answer has only one.
type row struct {
	before, after string
	resource      int
}

// text renders as much of the sheet as the budget holds.
func (s *sheet) text(o Options) string { return o.fit(len(s.rows), s.render) }

func (s *sheet) render(shown int) string {
	used := 0
	for _, r := range s.rows[:shown] {
		used = max(used, r.resource+1)
	}
	b := append([]byte(s.line(shown)), '\n')
	b = s.resources.appendLines(b, used)
	for _, r := range s.rows[:shown] {
		b = append(b, r.before...)
		if used > 1 {
			b = appendRef(append(b, ' '), r.resource)
		}
		b = append(append(b, r.after...), '\n')
	}
	return string(b[:len(b)-1])
}

// stamper writes the times of consecutive rows: with the date only where it
// differs from the one before.
type stamper struct{ day string }

func (s *stamper) append(dst []byte, unixNano uint64) []byte {
	t := utc(unixNano)
	if day := t.Format(time.DateOnly); day != s.day {
		s.day = day
		dst = append(append(dst, day...), ' ')
	}
	return t.AppendFormat(dst, "15:04:05.000")
}
