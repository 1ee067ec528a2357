package storage

import (
	"time"

	"sonde/storage/otlp"
)

// Transport is how a request came in.
type Transport uint8

// The transports.
const (
	GRPC Transport = iota
	HTTP
)

// String returns "grpc" or "http".
func (t Transport) String() string {
	if t == GRPC {
		return "grpc"
	}
	return "http"
}

// Intake counts the items of one signal that came in by one transport.
type Intake struct {
	Stored   uint64 // acknowledged as durable
	Rejected uint64 // refused for good by partial success or as malformed (then per request: 1)
	Refused  uint64 // refused for now: overload, full disk; clients send these again
}

// SignalStats describe one signal.
type SignalStats struct {
	Intake         [2]Intake // by Transport
	Records        uint64    // held now
	OldestUnixNano uint64    // event time, 0 when nothing is held
	NewestUnixNano uint64
	RatePerSecond  float64 // stored, mean of the last 60 s
	HeadRecords    uint64  // of Records, not yet in blocks
}

// FileStats describe one file of the data folder.
type FileStats struct {
	Name  string
	Bytes int64 // allocated on disk
}

// Stats is the state of a Store from counters in memory: it costs the same at
// any size.
type Stats struct {
	Start         time.Time
	Seq           uint64 // changes whenever anything was stored; never goes back
	Signals       map[otlp.Signal]SignalStats
	Files         []FileStats // of this store: the head and the partitions, oldest first
	Bytes         int64       // sum of Files
	CorruptBlocks uint64      // found since Start: blocks, notes, head entries, whole partitions
	// CommitSeconds and Commits: how long group commits took since Start, in
	// all.
	CommitSeconds float64
	Commits       uint64
	LastError     string // the newest failure to write, empty when writing works
}

// Stats returns the counters.
func (s *Store) Stats() Stats {
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.counters
	st := Stats{
		Start: c.start, Seq: c.seq,
		Signals:       make(map[otlp.Signal]SignalStats, numSignals),
		CorruptBlocks: c.corrupt,
		CommitSeconds: c.commitTime.Seconds(), Commits: c.commits,
		LastError: c.lastError(),
	}
	for _, sig := range otlp.Signals {
		st.Signals[sig] = s.signalStats(sig, now)
	}
	st.addFile(headName, c.headFileBytes)
	for _, p := range s.parts {
		st.addFile(p.name, p.bytes)
	}
	return st
}

func (st *Stats) addFile(name string, bytes int64) {
	st.Files = append(st.Files, FileStats{Name: name, Bytes: bytes})
	st.Bytes += bytes
}

// signalStats adds up one signal; s.mu must be held.
func (s *Store) signalStats(sig otlp.Signal, now time.Time) SignalStats {
	state := s.signal(sig)
	st := SignalStats{
		Intake:        s.counters.intake[sig-1],
		RatePerSecond: s.counters.rates[sig-1].perSecond(now),
		HeadRecords:   uint64(state.headRows),
		Records:       uint64(state.headRows),
	}
	var held stretch
	for _, p := range state.pieces {
		held.add(p.minTime, p.maxTime)
	}
	for _, p := range s.parts {
		if t := p.totals[sig-1]; t.Rows > 0 {
			st.Records += t.Rows
			held.add(t.times.first, t.times.last)
		}
	}
	st.OldestUnixNano, st.NewestUnixNano = held.first, held.last
	return st
}

// stretch runs from the lowest to the highest time of a set. The zero
// value is that of the empty set.
type stretch struct {
	first, last uint64
	some        bool
}

func (s *stretch) add(first, last uint64) {
	if !s.some {
		*s = stretch{first, last, true}
		return
	}
	s.first, s.last = min(s.first, first), max(s.last, last)
}

// CountIntake adds to the counters of what came in; Append itself counts
// nothing. They are kept across restarts (those since the last commit may be
// lost by a kill).
func (s *Store) CountIntake(sig otlp.Signal, t Transport, add Intake) {
	if sig < otlp.Logs || sig > otlp.Metrics || t > HTTP {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in := &s.counters.intake[sig-1][t]
	in.Stored += add.Stored
	in.Rejected += add.Rejected
	in.Refused += add.Refused
}
