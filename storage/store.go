package storage

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"sonde/storage/block"
	"sonde/storage/otlp"
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
	// before Append refuses with ErrOverloaded; default 128 MiB.
	MaxHeadBytes int64
	// Log receives what an operator should know; default slog.Default().
	Log *slog.Logger
	// Now is the clock; default time.Now. Tests set it.
	Now func() time.Time
}

// Errors of Store. All but ErrLocked and ErrClosed leave the store usable.
var (
	// Append: nothing was stored, the same request may be sent again later.
	ErrOverloaded = errors.New("storage is overloaded")
	ErrDisk       = errors.New("cannot write to disk")
	// Every method after Close.
	ErrClosed = errors.New("storage is closed")
	// Open: another process has the folder.
	ErrLocked = errors.New("data folder is in use by another process")
)

// TimeRange is a stretch of event time in Unix nanoseconds, From inclusive, To
// exclusive. The zero value means all time; To 0 means no upper bound.
type TimeRange struct{ From, To uint64 }

// Contains reports whether t lies in the range.
func (r TimeRange) Contains(t uint64) bool { return t >= r.From && (r.To == 0 || t < r.To) }

// Store is an open data folder. Its methods may be called concurrently.
type Store struct{}

// Open opens or creates a data folder and recovers what a kill left behind.
func Open(dir string, o Options) (*Store, error) { panic("not built yet") }

// Close stops the compactor, waits for running calls, and closes the files. It
// may be called twice.
func (s *Store) Close() error { panic("not built yet") }

// Append stores a request, whole or not at all. It returns nil only when the
// request is on disk and visible to Scan. The store owns r from then on. When
// ctx ends first the outcome is unknown, as with any lost acknowledgement.
func (s *Store) Append(ctx context.Context, r *otlp.Request) error { panic("not built yet") }

// Position orders blocks and items by arrival: of two items with equal times
// the one with the lower block position, then the lower row, arrived first.
// Positions rise with arrival and survive compaction in their order, not in
// their value.
type Position uint64

// ScanOptions say what Scan visits.
type ScanOptions struct {
	Signal otlp.Signal
	Range  TimeRange
	// Skip, when set, is asked with the header of each block that meets Range;
	// true passes over the block without reading it.
	Skip func(*block.Header) bool
}

// Scan visits the blocks that have items in the range, those with the newest
// MaxTime first, as one consistent snapshot: each item that was appended before
// Scan began is seen once. Items outside the range occur in the blocks too.
// visit returns false to stop. Scan returns visit's error, ctx's error, or nil;
// a corrupt block is counted and logged, and the scan goes on without it.
func (s *Store) Scan(ctx context.Context, o ScanOptions, visit func(*block.Block, Position) (more bool, err error)) error {
	panic("not built yet")
}

// Headers calls visit with the header of every block that meets the range, in
// no promised order, without reading data. Enough for counts of whole blocks.
func (s *Store) Headers(sig otlp.Signal, r TimeRange, visit func(*block.Header)) {
	panic("not built yet")
}

// WaitCompacted returns once everything appended before the call is in blocks
// or ctx ends. For tests, benchmarks and an orderly backup.
func (s *Store) WaitCompacted(ctx context.Context) error { panic("not built yet") }
