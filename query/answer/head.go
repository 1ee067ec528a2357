package answer

import (
	"sort"
	"strconv"
	"strings"
	"time"

	"sonde/query"
	"sonde/storage"
)

// Head is what the first line says besides the page.
type Head struct {
	// Range is the window that was searched. To 0: until Now; From 0: no lower
	// bound.
	Range storage.TimeRange
	Now   time.Time
	// Notes are facts about the question, such as "limit 5000 taken as 1000".
	Notes []string
	// Filtered names the filters that were set beyond the window ("severity",
	// "contains"); Empty says that they were.
	Filtered []string
}

// Options bound a text. Zero fields mean the defaults. One row is shown even
// when the budget is smaller than it, so that paging always gets on.
type Options struct {
	MaxBytes int // default 9,500
	MaxLines int // default 240
}

// These bounds keep one row well below a default budget.
const (
	defaultMaxBytes = 9500
	defaultMaxLines = 240
	bodyLimit       = 300  // bytes of a body on a row
	nameLimit       = 120  // bytes of a name, an event or a status message
	keyLimit        = 100  // bytes of an attribute key
	valueLimit      = 200  // bytes of an attribute value
	attrsLimit      = 1000 // bytes after which a row's attributes are only counted
)

func (o Options) maxBytes() int {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return defaultMaxBytes
}

func (o Options) maxLines() int {
	if o.MaxLines > 0 {
		return o.MaxLines
	}
	return defaultMaxLines
}

func (o Options) holds(text string) bool {
	return len(text) <= o.maxBytes() && strings.Count(text, "\n") < o.maxLines()
}

// fit renders as many of n rows as the budget holds, at least one.
func (o Options) fit(n int, render func(shown int) string) string {
	text := render(n)
	if n <= 1 || o.holds(text) {
		return text
	}
	shown := sort.Search(n-1, func(k int) bool { return !o.holds(render(k + 1)) })
	return render(max(shown, 1))
}

// to returns the upper bound of the window.
func (h Head) to() uint64 {
	if h.Range.To != 0 {
		return h.Range.To
	}
	return uint64(max(h.Now.UnixNano(), 0))
}

// window returns the searched window: "2026-11-30 11:00:00Z..12:00:00Z". Bounds
// are exact, but for now and what was reckoned from it: those are said to the
// second.
func (h Head) window() string {
	from, to := utc(h.Range.From), utc(h.to())
	if h.Range.To == 0 {
		if from.Nanosecond() == to.Nanosecond() {
			from = from.Truncate(time.Second)
		}
		to = to.Truncate(time.Second)
	}
	if h.Range.From == 0 {
		return "until " + to.Format(time.DateOnly) + " " + clock(to)
	}
	text := from.Format(time.DateOnly) + " " + clock(from) + ".."
	if h.day() == "" {
		text += to.Format(time.DateOnly) + " "
	}
	return text + clock(to)
}

// day returns the date that the window names and lies on, "" when it spans more
// than one. Rows leave out this date.
func (h Head) day() string {
	to := utc(h.to()).Format(time.DateOnly)
	if h.Range.From != 0 && utc(h.Range.From).Format(time.DateOnly) != to {
		return ""
	}
	return to
}

// clock returns the time of day with the fewest digits that say it exactly.
func clock(t time.Time) string { return t.Format("15:04:05.999999999Z07:00") }

// headline is a first line in the making.
type headline struct {
	start string // "logs 2026-11-30 11:00:00Z..12:00:00Z newest first"
	page  query.Page
	about string // of the total: " (ERROR 12)"
	rows  int    // how many the page has
	// after returns the cursor that continues below row i; zero when unknown.
	after func(i int) query.Cursor
	notes []string
}

func newHeadline(subject string, h Head, p query.Page, rows int) headline {
	return headline{start: subject + " " + h.window() + " newest first", page: p, rows: rows, notes: h.Notes}
}

// line says the whole truth of an answer that shows the first rows of the page.
func (l headline) line(shown int) string {
	var b strings.Builder
	b.WriteString(l.start + ", " + count(shown) + " of " + l.total() + l.about)
	next, hidden := l.page.Next, l.rows-shown
	if hidden > 0 {
		next = l.after(shown - 1)
	}
	if next != (query.Cursor{}) {
		b.WriteString("; next: to=" + FormatCursor(next))
	}
	if hidden > 0 {
		b.WriteString("; " + count(hidden) + " more of this page cut to fit")
		if next == (query.Cursor{}) {
			b.WriteString(", limit=" + strconv.Itoa(shown) + " pages on from here")
		}
	}
	for _, note := range l.notes {
		b.WriteString("; " + Clean(note))
	}
	return b.String()
}

// total returns the number of matches. A lower bound has no separators: "1000+".
func (l headline) total() string {
	if l.page.TotalExact {
		return count(l.page.Total)
	}
	return strconv.Itoa(l.page.Total) + "+"
}

// cursorAfter returns where a page goes on below its row i, given the times of
// its rows, newest first: of the rows at the same time those that follow, and
// what the page itself left of them.
func cursorAfter(times []uint64, next query.Cursor, i int) query.Cursor {
	c := query.Cursor{TimeUnixNano: times[i]}
	for _, t := range times[i+1:] {
		if t == times[i] {
			c.Remaining++
		}
	}
	if next.TimeUnixNano == c.TimeUnixNano {
		c.Remaining += next.Remaining
	}
	return c
}

// only reports whether a page of so many rows holds the one match there is.
func only(p query.Page, rows int) bool {
	return rows == 1 && p.Total == 1 && p.TotalExact && p.Next == (query.Cursor{})
}
