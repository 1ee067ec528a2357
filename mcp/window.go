package mcp

import (
	"time"

	"sonde/query"
	"sonde/query/answer"
	"sonde/storage"
)

// defaultWindow is how far back a query looks when it is not told.
const defaultWindow = time.Hour

// window is the stretch of time that a query is about.
type window struct {
	rows   storage.TimeRange // what to search, but for before
	before query.Cursor      // where the page begins; zero when no printed cursor was given
	shown  storage.TimeRange // what the answer says was searched
}

// window reads from and to. Without to there is no upper bound, so that a
// record is found although its sender's clock is ahead of ours; without from it
// is the default window before to, and all time when whole is set.
func (a *arguments) window(now time.Time, whole bool) (window, error) {
	from, _, err := a.time("from", now)
	if err != nil {
		return window{}, err
	}
	to, printed, err := a.time("to", now)
	if err != nil {
		return window{}, err
	}
	var w window
	end := uint64(now.UnixNano())
	if a.has("to") {
		// To 0 would mean no bound; nothing but time 0 itself lies below 1.
		end = max(1, to.TimeUnixNano)
		w.shown.To = end
		if printed && to != (query.Cursor{}) {
			// No bound as well: which traces earlier pages have shown is seen only
			// by their spans above the cursor.
			w.before = to
		} else {
			w.rows.To = end
		}
	}
	switch {
	case a.has("from"):
		w.rows.From = from.TimeUnixNano
	case !whole:
		w.rows.From = end - min(end, uint64(defaultWindow))
	}
	if w.rows.From > end {
		return window{}, a.backwards(w.rows.From, end, now)
	}
	w.shown.From = w.rows.From
	return w, nil
}

// backwards is the error about a window that ends before it begins. The
// server's time is said: most often two clocks or time zones are at odds.
func (a *arguments) backwards(from, end uint64, now time.Time) error {
	clock := "; the server's time is " + answer.FormatTime(uint64(now.UnixNano()))
	if !a.has("to") {
		return a.wrong("from", "from "+answer.FormatTime(from)+" lies ahead"+clock)
	}
	what := "from " + answer.FormatTime(from) + " is after to " + answer.FormatTime(end) + clock
	a.sent["from"], a.sent["to"] = a.sent["to"], a.sent["from"] // the nearest right call
	return a.wrong("", what)
}

// time reads a time argument, the zero Cursor when it is absent, and says
// whether it is a cursor that an answer has printed.
func (a *arguments) time(name string, now time.Time) (c query.Cursor, printed bool, err error) {
	if !a.has(name) {
		return query.Cursor{}, false, nil
	}
	c, printed, err = answer.ParseTime(a.text(name), now)
	if err != nil {
		return query.Cursor{}, false, a.wrong(name, name+": "+err.Error())
	}
	return c, printed, nil
}
