package query

import (
	"context"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// Source is where an Engine reads: a *storage.Store, or another store of the
// same behaviour.
type Source interface {
	Scan(ctx context.Context, o storage.ScanOptions, visit func(*block.Block, storage.Position) (bool, error)) error
	Headers(sig otlp.Signal, r storage.TimeRange, visit func(*block.Header))
}

// Engine answers queries over one source. Its methods may be called
// concurrently. They return the context's error when it ends first.
type Engine struct{ src Source }

// New returns an engine over src.
func New(src Source) *Engine { return &Engine{src} }

// CountCap is how far matches are counted after the page is full, when a count
// can't be read from block headers alone: beyond it Total is a lower bound.
const CountCap = 1000
