package mcp

import (
	"context"
	"math"
	"time"

	"sonde/query/answer"
	"sonde/storage"
	"sonde/storage/otlp"
)

// maxFiles bounds the files that stats names; there may be one for each hour of
// a long retention.
const maxFiles = 40

// statsResult is the answer of telemetry.stats. Counts are of items: log
// records, spans, data points.
type statsResult struct {
	Version string `json:"version"`
	Uptime  string `json:"uptime"`
	Now     string `json:"now"`
	Seq     uint64 `json:"seq"` // changes when anything was stored
	Signals struct {
		Logs    signalResult `json:"logs"`
		Traces  signalResult `json:"traces"`
		Metrics signalResult `json:"metrics"`
	} `json:"signals"`
	Bytes         int64        `json:"bytes"`
	Files         []fileResult `json:"files"`
	MoreFiles     int          `json:"moreFiles,omitempty"`
	CorruptBlocks uint64       `json:"corruptBlocks,omitempty"`
	MeanCommitMs  float64      `json:"meanCommitMs,omitempty"`
	LastError     string       `json:"lastError,omitempty"`
}

type signalResult struct {
	Received      uint64  `json:"received"`
	Stored        uint64  `json:"stored"`
	Rejected      uint64  `json:"rejected"` // for good
	Refused       uint64  `json:"refused"`  // for now: sent again
	Held          uint64  `json:"held"`
	Oldest        string  `json:"oldest,omitempty"`
	Newest        string  `json:"newest,omitempty"`
	RatePerSecond float64 `json:"ratePerSecond"` // stored, over the last minute
}

type fileResult struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

func runStats(_ context.Context, s *Server, _ *call) (reply, error) {
	b, err := marshal(s.statsResult(s.stats.Stats()))
	return reply{json: b}, err
}

func (s *Server) statsResult(st storage.Stats) statsResult {
	now := s.o.Now()
	r := statsResult{
		Version: s.o.Version,
		Uptime:  now.Sub(st.Start).Round(time.Second).String(),
		Now:     now.UTC().Format(time.RFC3339),
		Seq:     st.Seq, Bytes: st.Bytes,
		Files:         []fileResult{},
		CorruptBlocks: st.CorruptBlocks,
		LastError:     answer.Clean(st.LastError),
	}
	r.Signals.Logs = newSignalResult(st.Signals[otlp.Logs])
	r.Signals.Traces = newSignalResult(st.Signals[otlp.Traces])
	r.Signals.Metrics = newSignalResult(st.Signals[otlp.Metrics])
	for i, f := range st.Files {
		if i == maxFiles {
			r.MoreFiles = len(st.Files) - maxFiles
			break
		}
		r.Files = append(r.Files, fileResult(f))
	}
	if st.Commits > 0 {
		r.MeanCommitMs = rounded(st.CommitSeconds / float64(st.Commits) * 1000)
	}
	return r
}

func newSignalResult(st storage.SignalStats) signalResult {
	r := signalResult{Held: st.Records, RatePerSecond: rounded(st.RatePerSecond)}
	for _, in := range st.Intake {
		r.Stored += in.Stored
		r.Rejected += in.Rejected
		r.Refused += in.Refused
	}
	r.Received = r.Stored + r.Rejected + r.Refused
	if st.OldestUnixNano != 0 {
		r.Oldest = answer.FormatTime(st.OldestUnixNano)
	}
	if st.NewestUnixNano != 0 {
		r.Newest = answer.FormatTime(st.NewestUnixNano)
	}
	return r
}

func rounded(x float64) float64 { return math.Round(x*100) / 100 }
