package main

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sonde/storage"
	"sonde/storage/otlp"
)

// metrics is what /metrics shows. The store's counters are read when asked for.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics(store *storage.Store) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sonde_mcp_calls_total", Help: "Calls of MCP tools by outcome.",
		}, []string{"tool", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sonde_mcp_call_duration_seconds", Help: "How long calls of MCP tools took.",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 10},
		}, []string{"tool"}),
	}
	m.registry.MustRegister(m.calls, m.duration, storeCollector{store},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// observeCall is mcp.Options.OnCall.
func (m *metrics) observeCall(tool, outcome string, took time.Duration) {
	m.calls.WithLabelValues(tool, outcome).Inc()
	m.duration.WithLabelValues(tool).Observe(took.Seconds())
}

// itemNames are the OpenTelemetry Collector's words for the items of a signal
// in the names of its own metrics.
var itemNames = map[otlp.Signal]string{
	otlp.Logs:    "log_records",
	otlp.Traces:  "spans",
	otlp.Metrics: "metric_points",
}

var (
	storeBytes   = prometheus.NewDesc("sonde_store_bytes", "Bytes on disk by file.", []string{"file"}, nil)
	storeRecords = prometheus.NewDesc("sonde_store_records", "Items held by signal.", []string{"signal"}, nil)
	storeCommit  = prometheus.NewDesc("sonde_commit_duration_seconds", "How long group commits took.", nil, nil)
	storeCorrupt = prometheus.NewDesc("sonde_store_corrupt_blocks_total", "Blocks that could not be read.", nil, nil)
)

// storeCollector shows the store's counters.
type storeCollector struct{ store *storage.Store }

// Describe implements prometheus.Collector: none, so that the collector counts
// as unchecked and may name its series when collected.
func (storeCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c storeCollector) Collect(out chan<- prometheus.Metric) {
	s := c.store.Stats()
	for _, f := range s.Files {
		out <- prometheus.MustNewConstMetric(storeBytes, prometheus.GaugeValue, float64(f.Bytes), f.Name)
	}
	for _, signal := range otlp.Signals {
		st := s.Signals[signal]
		out <- prometheus.MustNewConstMetric(storeRecords, prometheus.GaugeValue, float64(st.Records), signal.String())
		for transport, in := range st.Intake {
			via := storage.Transport(transport).String()
			out <- intakeMetric("accepted", itemNames[signal], via, in.Stored)
			out <- intakeMetric("refused", itemNames[signal], via, in.Rejected+in.Refused)
		}
	}
	out <- prometheus.MustNewConstSummary(storeCommit, s.Commits, s.CommitSeconds, nil)
	out <- prometheus.MustNewConstMetric(storeCorrupt, prometheus.CounterValue, float64(s.CorruptBlocks))
}

// intakeMetric has the name and labels of the OpenTelemetry Collector's own
// metric, so that its dashboards work here.
func intakeMetric(outcome, items, transport string, n uint64) prometheus.Metric {
	desc := prometheus.NewDesc("otelcol_receiver_"+outcome+"_"+items+"_total",
		"Items "+outcome+" by the OTLP receiver.", nil,
		prometheus.Labels{"receiver": "otlp", "transport": transport})
	return prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n))
}
