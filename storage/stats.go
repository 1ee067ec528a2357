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
	Files         []FileStats
	Bytes         int64 // sum of Files
	CorruptBlocks uint64
	// CommitSeconds and Commits: how long group commits took, in all.
	CommitSeconds float64
	Commits       uint64
	LastError     string // the newest failure to write, empty when writing works
}

// Stats returns the counters.
func (s *Store) Stats() Stats { panic("not built yet") }

// CountIntake adds to the counters of what came in; Append itself counts
// nothing. They are kept across restarts (those since the last commit may be
// lost by a kill).
func (s *Store) CountIntake(sig otlp.Signal, t Transport, add Intake) { panic("not built yet") }
