package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

const (
	crashRounds  = 6
	crashWriters = 4
	crashBatch   = 25 // items a request
	masterToken  = "test-token-0123456789"
)

// crashStart is the event time of item 0; item n is n microseconds later.
var crashStart = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// TestKillLosesNothing kills a server under load again and again. What was
// acknowledged is there at the end, once; what was not is there whole or not at
// all.
func TestKillLosesNothing(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	data := t.TempDir()
	load := &crashLoad{acked: map[string][]int{}}
	for range crashRounds {
		p := startProcess(t, data, masterToken)
		load.run(t, p, 20+rng.IntN(60))
	}
	p := startProcess(t, data, masterToken)
	for _, signal := range crashSignals {
		t.Run(signal.name, func(t *testing.T) {
			load.check(t, signal, readAll(t, p, signal))
		})
	}
	t.Run("customers", func(t *testing.T) { load.checkCustomers(t, p) })
	p.end(os.Interrupt)
}

// crashLoad numbers the items of all signals and remembers which requests were
// acknowledged, by their first item.
type crashLoad struct {
	next      atomic.Int64
	mu        sync.Mutex // protects what follows
	acked     map[string][]int
	customers []string
}

// run loads the server and kills it when enough requests were acknowledged.
func (l *crashLoad) run(t *testing.T, p *process, enough int) {
	t.Helper()
	var acks atomic.Int64
	kill := sync.OnceFunc(func() { p.end(os.Kill) })
	var wg sync.WaitGroup
	for range crashWriters {
		wg.Go(func() {
			for {
				for _, signal := range crashSignals {
					first := int(l.next.Add(1)-1) * crashBatch
					if !postOTLP(t.Context(), p, signal, first) {
						return // killed
					}
					l.mu.Lock()
					l.acked[signal.name] = append(l.acked[signal.name], first)
					l.mu.Unlock()
					if acks.Add(1) == int64(enough) {
						go kill()
					}
				}
			}
		})
	}
	wg.Go(func() { l.createCustomers(t.Context(), p) })
	wg.Wait()
	kill()
}

// createCustomers adds customers until the server is gone.
func (l *crashLoad) createCustomers(ctx context.Context, p *process) {
	for {
		email := fmt.Sprintf("c%d@example.com", l.next.Add(1))
		if _, err := callTool(ctx, p, "customers.create", map[string]any{"name": "Customer", "email": email}); err != nil {
			return
		}
		l.mu.Lock()
		l.customers = append(l.customers, email)
		l.mu.Unlock()
	}
}

// check compares what was acknowledged with what is there.
func (l *crashLoad) check(t *testing.T, signal crashSignal, found map[int]int) {
	t.Helper()
	acked := l.acked[signal.name]
	if len(acked) == 0 {
		t.Fatal("nothing was acknowledged")
	}
	for _, first := range acked {
		for n := first; n < first+crashBatch; n++ {
			if found[n] != 1 {
				t.Errorf("acknowledged item %d is there %d times, want once", n, found[n])
			}
		}
	}
	for n, times := range found {
		if times != 1 {
			t.Errorf("item %d is there %d times, want once at most", n, times)
		}
		first := n - n%crashBatch
		for k := first; k < first+crashBatch; k++ {
			if found[k] == 0 {
				t.Errorf("item %d is there, item %d of the same request is not", n, k)
			}
		}
	}
	t.Logf("%d requests acknowledged, %d items found", len(acked), len(found))
}

func (l *crashLoad) checkCustomers(t *testing.T, p *process) {
	t.Helper()
	if len(l.customers) == 0 {
		t.Fatal("no customer was acknowledged")
	}
	text, err := callTool(t.Context(), p, "customers.list", map[string]any{"limit": 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, email := range l.customers {
		if n := bytes.Count([]byte(text), []byte(`"`+email+`"`)); n != 1 {
			t.Errorf("acknowledged customer %s is there %d times, want once", email, n)
		}
	}
}

// crashSignal says how items of a signal are sent and read back.
type crashSignal struct {
	name, path, tool string
	arguments        map[string]any
	items            string // field of the JSON answer
	encode           func(first int) ([]byte, error)
}

var crashSignals = []crashSignal{
	{"logs", "/v1/logs", "logs.query", nil, "records", encodeLogs},
	{"spans", "/v1/traces", "traces.query", map[string]any{"name": "crash"}, "spans", encodeSpans},
	{"points", "/v1/metrics", "metrics.query", map[string]any{"name": "crash"}, "points", encodePoints},
}

func crashTime(n int) pcommon.Timestamp {
	return pcommon.NewTimestampFromTime(crashStart.Add(time.Duration(n) * time.Microsecond))
}

func encodeLogs(first int) ([]byte, error) {
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for n := first; n < first+crashBatch; n++ {
		r := records.AppendEmpty()
		r.SetTimestamp(crashTime(n))
		r.Attributes().PutInt("n", int64(n))
	}
	return plogotlp.NewExportRequestFromLogs(ld).MarshalProto()
}

func encodeSpans(first int) ([]byte, error) {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for n := first; n < first+crashBatch; n++ {
		s := spans.AppendEmpty()
		s.SetName("crash")
		s.SetTraceID(pcommon.TraceID{1: 1, 15: byte(n), 14: byte(n >> 8), 13: byte(n >> 16)})
		s.SetSpanID(pcommon.SpanID{0: 1, 7: byte(n)})
		s.SetStartTimestamp(crashTime(n))
		s.SetEndTimestamp(crashTime(n + 1))
		s.Attributes().PutInt("n", int64(n))
	}
	return ptraceotlp.NewExportRequestFromTraces(td).MarshalProto()
}

func encodePoints(first int) ([]byte, error) {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("crash")
	points := m.SetEmptyGauge().DataPoints()
	for n := first; n < first+crashBatch; n++ {
		p := points.AppendEmpty()
		p.SetTimestamp(crashTime(n))
		p.SetIntValue(int64(n))
		p.Attributes().PutInt("n", int64(n))
	}
	return pmetricotlp.NewExportRequestFromMetrics(md).MarshalProto()
}

// postOTLP reports whether the request was acknowledged.
func postOTLP(ctx context.Context, p *process, signal crashSignal, first int) bool {
	body, err := signal.encode(first)
	if err != nil {
		return false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.at.OTLPHTTP+signal.path, bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

// readAll follows the pages of a query to their end and counts the items by
// number.
func readAll(t *testing.T, p *process, signal crashSignal) map[int]int {
	t.Helper()
	found := map[int]int{}
	arguments := map[string]any{"from": "2026-11-30T12:00:00Z", "to": "2026-12-01", "limit": 1000}
	for k, v := range signal.arguments {
		arguments[k] = v
	}
	for {
		text, err := callTool(t.Context(), p, signal.tool, arguments)
		if err != nil {
			t.Fatal(err)
		}
		var page map[string]json.RawMessage
		var items []struct{ Attributes struct{ N int } }
		var next string
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatalf("%s answered %.200q: %v", signal.tool, text, err)
		}
		if err := json.Unmarshal(page[signal.items], &items); err != nil {
			t.Fatalf("%s answered %.200q: %v", signal.tool, text, err)
		}
		for _, item := range items {
			found[item.Attributes.N]++
		}
		if page["next"] != nil {
			if err := json.Unmarshal(page["next"], &next); err != nil {
				t.Fatal(err)
			}
		}
		if next == "" {
			return found
		}
		arguments["to"] = next
	}
}

// callTool calls a tool with the official client and returns the JSON text.
func callTool(ctx context.Context, p *process, tool string, arguments map[string]any) (string, error) {
	session, err := connectMCP(ctx, p.at.HTTP, masterToken, "?format=json")
	if err != nil {
		return "", err
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", err
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		return "", fmt.Errorf("%s: %s", tool, text)
	}
	return text, nil
}

// connectMCP opens a session with the official client.
func connectMCP(ctx context.Context, address, token, query string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:   "http://" + address + "/mcp" + query,
		HTTPClient: &http.Client{Transport: bearer(token)},
		MaxRetries: -1,
	}, nil)
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
