package answer_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"sonde/query"
	"sonde/query/answer"
	"sonde/storage"
	"sonde/storage/otlp"
)

// logPage is a complete page of records.
func logPage(records ...query.LogRecord) query.LogPage {
	p := query.LogPage{Page: query.Page{Total: len(records), TotalExact: true}, Records: records}
	for _, rec := range records {
		p.Severities[rec.Severity]++
	}
	return p
}

// shopResources are three of one deployment: most they say is the same.
func shopResources(t testing.TB) []*query.Resource {
	t.Helper()
	var list []*query.Resource
	for _, r := range [][2]string{{"checkout", "checkout-7d9f-abcde"}, {"cart", "cart-5b6c-fghij"}, {"payments", "payments-1a2b-klmno"}} {
		list = append(list, newResource(t, r[0], attrs{
			"k8s.pod.name", r[1], "deployment.environment.name", "production", "telemetry.sdk.language", "go",
		}))
	}
	return list
}

func TestLogs(t *testing.T) {
	shop := shopResources(t)
	rows := []query.LogRecord{
		newLog(t, ago(1786*time.Millisecond), plog.SeverityNumberError, shop[0], "payment refused",
			attrs{"order.id", int64(4711), "reason", "card expired", "empty", "", "tags", []any{"a", "b c"}, "ratio", math.NaN()}),
		newLog(t, ago(2*time.Second), plog.SeverityNumberWarn2, shop[1], "slow", nil),
		newLog(t, ago(3*time.Second), plog.SeverityNumberInfo, shop[2], map[string]any{"k": int64(1)}, nil),
		newLog(t, ago(4*time.Second), plog.SeverityNumberUnspecified, shop[0], "odd level", nil),
		newLog(t, ago(5*time.Second), plog.SeverityNumberInfo, shop[0], nil, attrs{"user", "u1"}),
	}
	rows[0].SetTraceID(trace1)
	rows[1].SetSeverityText("Warning")
	rows[3].SetSeverityText("NOTICE me")
	rows[4].SetEventName("user.login")
	rows[4].SetDroppedAttributesCount(3)
	golden(t, "logs", answer.Logs(logPage(rows...), lastHour(), answer.Options{}))

	one := rows[0]
	one.Resource = shop[0]
	golden(t, "logs_one_resource", answer.Logs(logPage(one, rows[4]), lastHour(), answer.Options{}))
}

// Equal resources that came from different blocks are one in the answer; the
// order of their attributes does not matter.
func TestLogsEqualResources(t *testing.T) {
	a := newResource(t, "cart", attrs{"x", "1", "y", "2"})
	b := newResource(t, "cart", attrs{"y", "2", "x", "1"})
	got := answer.Logs(logPage(
		newLog(t, ago(1), plog.SeverityNumberInfo, a, "one", nil),
		newLog(t, ago(2), plog.SeverityNumberInfo, b, "two", nil),
	), lastHour(), answer.Options{})
	if strings.Contains(got, "#2") || strings.Count(got, "x=1") != 1 {
		t.Errorf("Logs = %q, want the resource once", got)
	}
}

func TestLogsDates(t *testing.T) {
	r := newResource(t, "cart", nil)
	rows := logPage(
		newLog(t, ago(time.Second), plog.SeverityNumberInfo, r, "today", nil),
		newLog(t, ago(25*time.Hour), plog.SeverityNumberInfo, r, "yesterday", nil),
		newLog(t, ago(26*time.Hour), plog.SeverityNumberInfo, r, "yesterday too", nil),
		newLog(t, ago(49*time.Hour), plog.SeverityNumberInfo, r, "before", nil),
	)
	h := answer.Head{Now: noon.Add(250 * time.Millisecond), Range: storage.TimeRange{From: ago(72*time.Hour - 250*time.Millisecond)}}
	golden(t, "logs_dates", answer.Logs(rows, h, answer.Options{}))
	h.Range.From = 0
	golden(t, "logs_dates_unbounded", answer.Logs(rows, h, answer.Options{}))
}

// The one record that matches is shown whole.
func TestLogsOne(t *testing.T) {
	r := newResource(t, "checkout", attrs{"k8s.pod.name", "checkout-7d9f", "host.name", "n1"})
	rec := newLog(t, ago(time.Second)+7, plog.SeverityNumberError, r, "first line\nsecond line "+strings.Repeat("x", 400),
		attrs{"order.id", int64(math.MaxInt64), "exception.stacktrace", "a\n\tb"})
	rec.SetObservedTimestamp(pcommon.Timestamp(ago(0) + 123))
	rec.SetSeverityText("err")
	rec.SetTraceID(trace1)
	rec.SetSpanID(span1)
	rec.SetFlags(plog.DefaultLogRecordFlags.WithIsSampled(true))
	rec.SetEventName("order.failed")
	rec.Scope.SchemaURL = "https://opentelemetry.io/schemas/1.30.0"
	golden(t, "logs_one", answer.Logs(logPage(rec), lastHour(), answer.Options{MaxBytes: 10}))

	rec.Body().SetStr(strings.Repeat("y", 1<<20))
	for i := range 100 {
		rec.Attributes().PutStr(fmt.Sprintf("k%d", i), strings.Repeat("z", 5000))
	}
	got := answer.Logs(logPage(rec), lastHour(), answer.Options{})
	if len(got) > 48000 || !strings.Contains(got, "…(+1018576B)") || !strings.Contains(got, "more lines cut to fit") {
		t.Errorf("Logs of one huge record: %d bytes ending in %q, want at most 48000 and what was cut", len(got), got[len(got)-60:])
	}
}

// A body can't forge a row, a header or a resource, nor steer a terminal.
func TestLogsHostile(t *testing.T) {
	evil := newResource(t, "cart\n#2 admin", attrs{"pod\n12:00:00.000 ERROR x", "\u202eright to left"})
	rows := []query.LogRecord{
		newLog(t, ago(1), plog.SeverityNumberInfo, evil, "ok\n11:59:59.999 FATAL #1 forged row deadbeef", nil),
		newLog(t, ago(2), plog.SeverityNumberInfo, evil, "\r\nlogs 2026-11-30 11:00:00Z..12:00:00Z newest first, 0 of 0", nil),
		newLog(t, ago(3), plog.SeverityNumberInfo, evil, "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u009b1mbold \x00\b", nil),
		newLog(t, ago(4), plog.SeverityNumberInfo, evil, "a\u200bb\u202ec\u2066d\ufeffe\U000e0041f\u2028g\xffh", nil),
		newLog(t, ago(5), plog.SeverityNumberInfo, evil, "quotes", attrs{`k" x={`, "v\" } 4bf92f35\n", "a=b", `C:\new`, "c", `C:\new dir\`}),
	}
	rows[0].SetSeverityText("WARN\n#3 fake")
	rows[1].SetEventName("e\nv")
	got := answer.Logs(logPage(rows...), lastHour(), answer.Options{})
	golden(t, "logs_hostile", got)
	if lines := strings.Count(got, "\n") + 1; lines != 7 {
		t.Errorf("Logs of 5 hostile records has %d lines, want 7", lines)
	}
}

// numbered returns n records, newest first; per of them share each time.
func numbered(t testing.TB, n, per int) query.LogPage {
	t.Helper()
	r := newResource(t, "checkout", attrs{"k8s.pod.name", "checkout-7d9f"})
	var rows []query.LogRecord
	for i := range n {
		at := ago(time.Second) - uint64(i/per)
		rows = append(rows, newLog(t, at, plog.SeverityNumberInfo, r, fmt.Sprintf("record %d", i), attrs{"i", int64(i)}))
	}
	return logPage(rows...)
}

func TestLogsBudget(t *testing.T) {
	p := numbered(t, 40, 4)
	p.Total, p.TotalExact = 1000, false
	// Four more records of the last time are on the next page.
	p.Next = query.Cursor{TimeUnixNano: p.Records[39].TimeUnixNano, Remaining: 4}
	for _, o := range []answer.Options{{MaxBytes: 1000}, {MaxLines: 16}, {MaxBytes: 1}, {}} {
		got := answer.Logs(p, lastHour(), o)
		lines := strings.Split(got, "\n")
		shown := len(lines) - 2
		if o.MaxBytes == 1 && shown != 1 {
			t.Errorf("Logs(%+v) shows %d rows, want 1", o, shown)
		}
		if o.MaxBytes > 1 && len(got) > o.MaxBytes || o.MaxLines > 0 && len(lines) > o.MaxLines {
			t.Errorf("Logs(%+v) has %d bytes, %d lines", o, len(got), len(lines))
		}
		// Of the rows at the time of the last one shown, these are left.
		same := (3 - (shown-1)%4)
		if shown > 36 {
			same += 4
		}
		want := query.Cursor{TimeUnixNano: p.Records[shown-1].TimeUnixNano, Remaining: uint64(same)}
		if !strings.Contains(lines[0], fmt.Sprintf(", %d of 1000+; next: to=%s", shown, answer.FormatCursor(want))) {
			t.Errorf("Logs(%+v) first line = %q, want %d rows and next %s", o, lines[0], shown, answer.FormatCursor(want))
		}
		if cut := strings.Contains(lines[0], "cut to fit"); cut != (shown < 40) {
			t.Errorf("Logs(%+v) first line = %q shows %d of 40 rows", o, lines[0], shown)
		}
	}
	golden(t, "logs_budget", answer.Logs(p, lastHour(), answer.Options{MaxLines: 8}))
}

// A row is bounded whatever it holds, so a budget always holds some.
func TestLogsHugeRow(t *testing.T) {
	r := newResource(t, "checkout", attrs{"process.command_line", strings.Repeat("arg ", 5000)})
	big := attrs{}
	for i := range 200 {
		big = append(big, fmt.Sprintf("key%d", i), strings.Repeat("é", 4000))
	}
	body := strings.Repeat("é", 1070)
	p := logPage(
		newLog(t, ago(1), plog.SeverityNumberInfo, r, body, big),
		newLog(t, ago(2), plog.SeverityNumberInfo, r, body, big),
	)
	got := answer.Logs(p, lastHour(), answer.Options{})
	if len(got) > 9500 || !strings.Contains(got, strings.Repeat("é", 150)+"…(+1840B)") || !strings.Contains(got, "2 of 2") {
		t.Errorf("Logs = %d bytes, %q, want two bounded rows", len(got), got)
	}
}

// The contract's promise: 50 ordinary records in one answer of 9,500 bytes.
func TestLogsFiftyRowsFit(t *testing.T) {
	shop := shopResources(t)
	var rows []query.LogRecord
	for i := range 50 {
		rec := newLog(t, ago(time.Duration(i)*time.Second), plog.SeverityNumberInfo, shop[i%3],
			fmt.Sprintf("request %d finished for customer %d", i, 1000+i),
			attrs{"http.request.method", "GET", "http.response.status_code", int64(200), "url.path", fmt.Sprintf("/cart/%d", i)})
		rec.SetTraceID(trace1)
		rows = append(rows, rec)
	}
	got := answer.Logs(logPage(rows...), lastHour(), answer.Options{})
	if !strings.Contains(got, ", 50 of 50") || len(got) >= 9500 {
		t.Errorf("50 records take %d bytes, want all of them below 9500: %.200s", len(got), got)
	}
	t.Logf("50 records: %d bytes", len(got))
}

func TestEmpty(t *testing.T) {
	h := lastHour()
	h.Filtered = []string{"severity", "contains"}
	h.Notes = []string{"limit 5000 taken as 1000", "without severity: 312"}
	near := query.Nearby{NewestUnixNano: ago(78*time.Minute + 10*time.Second), Services: []string{"cart", "check\nout"}}
	for _, c := range []struct {
		sig  otlp.Signal
		near query.Nearby
		want string
	}{
		{otlp.Logs, near, `logs 2026-11-30 11:00:00Z..12:00:00Z, 0 found with severity, contains; newest log 2026-11-30T10:41:50Z; services: cart, check\nout; limit 5000 taken as 1000; without severity: 312`},
		{otlp.Traces, query.Nearby{NewestUnixNano: 1, Names: []string{"GET /a", "GET /b"}}, `traces 2026-11-30 11:00:00Z..12:00:00Z, 0 found with severity, contains; newest span 1970-01-01T00:00:00.000000001Z; nearest names: GET /a, GET /b; limit 5000 taken as 1000; without severity: 312`},
		{otlp.Metrics, query.Nearby{}, `metrics 2026-11-30 11:00:00Z..12:00:00Z, 0 found with severity, contains; no data point is stored at all; limit 5000 taken as 1000; without severity: 312`},
	} {
		if got := answer.Empty(c.sig, h, c.near); got != c.want {
			t.Errorf("Empty(%v) = %q, want %q", c.sig, got, c.want)
		}
	}
}
