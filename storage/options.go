package storage

import (
	"log/slog"
	"time"
)

// Options configure a Store. The zero value of each field means its default.
type Options struct {
	// Retention is how long telemetry is kept, by arrival; default 7 days.
	Retention time.Duration
	// MaxSizeBytes bounds the partition files together; the oldest go first.
	// Default 10 GiB.
	MaxSizeBytes int64
	// PartitionSpan is the arrival time that one partition covers; default 24 h,
	// at least 1 h, a whole number of hours.
	PartitionSpan time.Duration
	// MaxHeadBytes is how many bytes of requests may wait for the compactor
	// before Append waits, and then refuses with ErrOverloaded; default 128 MiB.
	MaxHeadBytes int64
	// Log receives what an operator should know; default slog.Default().
	Log *slog.Logger
	// Now is the clock; default time.Now. Tests set it.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Retention <= 0 {
		o.Retention = 7 * 24 * time.Hour
	}
	if o.MaxSizeBytes <= 0 {
		o.MaxSizeBytes = 10 << 30
	}
	if o.PartitionSpan <= 0 {
		o.PartitionSpan = 24 * time.Hour
	}
	o.PartitionSpan = max(time.Hour, o.PartitionSpan.Truncate(time.Hour))
	if o.MaxHeadBytes <= 0 {
		o.MaxHeadBytes = 128 << 20
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// tuning holds what only tests change.
type tuning struct {
	// A signal is compacted when its head reaches any of these.
	runRows  int
	runBytes int64
	runAge   time.Duration
	// genBytes is the file size at which a partition's next generation begins.
	genBytes int64
	// retry is the longest pause after a compaction that failed.
	retry time.Duration
	// roomWait is how long Append waits for room in a full head.
	roomWait time.Duration
	// tick wakes the upkeep: old heads, retention, sealing.
	tick <-chan time.Time
}

const (
	// Eight full blocks: a run of that size compresses as well as a larger one
	// and keeps the builder's memory at some tens of MiB.
	defaultRunRows = 65536
	// The same bound for rows that are large.
	defaultRunBytes = 32 << 20
	// A quiet source gets a block every five minutes: few enough small blocks a
	// day, and little to walk again after a crash.
	defaultRunAge = 5 * time.Minute
	// One mapping of address space covers a file of this size, so that bbolt
	// need not remap (and wait for readers) while it grows.
	maxGenBytes = 1 << 30
	// Some compactions of full runs, and well within the timeout of exporters,
	// which is 10 s by default.
	defaultRoomWait = 2 * time.Second
	// Ages are in minutes and days; finer upkeep would find nothing to do.
	upkeepEvery = 30 * time.Second
)

func (t tuning) withDefaults(o Options) tuning {
	if t.runRows <= 0 {
		t.runRows = defaultRunRows
	}
	if t.runBytes <= 0 {
		// A quarter, so that three signals just below it leave room in the head.
		t.runBytes = min(defaultRunBytes, o.MaxHeadBytes/4)
	}
	if t.runAge <= 0 {
		t.runAge = defaultRunAge
	}
	if t.genBytes <= 0 {
		// A tenth of the bound, so that giving up the oldest file costs a tenth.
		t.genBytes = min(maxGenBytes, o.MaxSizeBytes/10)
	}
	if t.retry <= 0 {
		t.retry = upkeepEvery
	}
	if t.roomWait <= 0 {
		t.roomWait = defaultRoomWait
	}
	return t
}
