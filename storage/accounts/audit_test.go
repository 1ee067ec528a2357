package accounts_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"sonde/storage/accounts"
)

func TestAuditIsNewestFirst(t *testing.T) {
	at := newClock()
	o := options()
	o.Now = at.now
	f := open(t, o)
	var want []accounts.AuditEntry
	for i, offset := range []int{5, 5, 0, 9, 5, -2_000_000_000} { // not in order; the last is in 1963
		e := accounts.AuditEntry{
			Time:  at.now().Add(time.Duration(offset) * time.Second),
			Login: "ada", Tool: "users.create", Arguments: fmt.Sprintf(`{"n":%d}`, i), Outcome: "ok",
		}
		if err := f.Audit(e); err != nil {
			t.Fatal(err)
		}
		want = append(want, e)
	}
	slices.Reverse(want)
	slices.SortStableFunc(want, func(a, b accounts.AuditEntry) int { return b.Time.Compare(a.Time) })
	f.reopen(t)
	got, err := f.AuditLog(0)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "AuditLog(0)", got, want)
	got, err = f.AuditLog(2)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "AuditLog(2)", got, want[:2])

	if err := f.Audit(accounts.AuditEntry{Login: "now"}); err != nil {
		t.Fatal(err)
	}
	got, _ = f.AuditLog(0)
	if i := slices.IndexFunc(got, func(e accounts.AuditEntry) bool { return e.Login == "now" }); i < 0 || !got[i].Time.Equal(at.now()) {
		t.Errorf("AuditLog = %v, want the line without a time at %v", got, at.now())
	}
}

func TestAuditCutsLongTexts(t *testing.T) {
	f := open(t, options())
	long := strings.Repeat("é", 10_000) + "\xff"
	if err := f.Audit(accounts.AuditEntry{Login: long, Tool: long, Arguments: "x" + long, Outcome: long}); err != nil {
		t.Fatal(err)
	}
	got, err := f.AuditLog(1)
	if err != nil {
		t.Fatal(err)
	}
	for field, c := range map[string]struct {
		text string
		want int
	}{
		"login": {got[0].Login, 100}, "tool": {got[0].Tool, 100}, "arguments": {got[0].Arguments, 4095}, "outcome": {got[0].Outcome, 1024},
	} {
		if len(c.text) != c.want || !utf8.ValidString(c.text) {
			t.Errorf("%s has %d bytes, valid %t, want %d whole characters' bytes", field, len(c.text), utf8.ValidString(c.text), c.want)
		}
	}
}

func TestAuditKeepsTheNewest(t *testing.T) {
	at := newClock()
	f := open(t, options())
	f.SetAuditBounds(100, 10)
	write := func(i int) {
		e := accounts.AuditEntry{Time: at.now().Add(time.Duration(i) * time.Second), Tool: fmt.Sprint(i)}
		if err := f.Audit(e); err != nil {
			t.Fatal(err)
		}
	}
	lines := func() []accounts.AuditEntry {
		got, err := f.AuditLog(0)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for i := range 110 {
		write(i)
	}
	if got := lines(); len(got) != 110 {
		t.Errorf("%d lines at the brim, want all 110", len(got))
	}
	write(110)
	if got := lines(); len(got) != 100 || got[0].Tool != "110" || got[99].Tool != "11" {
		t.Errorf("%d lines after the trim, from %s to %s, want 100 from 110 to 11", len(got), got[0].Tool, got[len(got)-1].Tool)
	}
	f.reopen(t)
	f.SetAuditBounds(100, 10)
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() { write(1000 + i) })
	}
	wg.Wait()
	got := lines()
	if len(got) < 100 || len(got) > 110 {
		t.Errorf("%d lines, want 100 to 110", len(got))
	}
	for i, e := range got[:100] {
		if i > 0 && e.Time.After(got[i-1].Time) {
			t.Fatalf("line %d is newer than the one before", i)
		}
	}
}
