package query

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// Nearby says what there is when a query found nothing.
type Nearby struct {
	NewestUnixNano uint64   // newest item of the signal at any time, 0 for none
	Services       []string // in the range; when the range is empty, in the newest block
	Names          []string // spans and metrics: the names nearest to the one asked for
}

const (
	// nearbyBlocks is how many of the newest blocks Nearby reads at most.
	nearbyBlocks = 8
	// nearbyNames is how many names Nearby returns at most.
	nearbyNames = 5
)

// Nearby returns the nearest facts for an empty answer, cheaply: services and
// names come from a few of the newest blocks. Without a name, or for logs, there
// are no Names.
func (e *Engine) Nearby(ctx context.Context, sig otlp.Signal, r storage.TimeRange, name string) (Nearby, error) {
	var n Nearby
	e.src.Headers(sig, storage.TimeRange{}, func(h *block.Header) {
		n.NewestUnixNano = max(n.NewestUnixNano, h.MaxTime)
	})
	g := neighbours{services: map[string]struct{}{}, names: map[string]struct{}{}}
	switch {
	case name == "":
	case sig == otlp.Traces:
		g.nameColumn, g.nameOf = block.Name, func(value []byte) []byte { return value }
	case sig == otlp.Metrics:
		g.nameColumn, g.nameOf = block.Metric, metricName
	}
	if w, ok := newWindow(r, Cursor{}); ok {
		if err := e.neighbours(ctx, sig, w, &g, nearbyBlocks); err != nil {
			return n, err
		}
	}
	if g.blocks == 0 {
		always, _ := newWindow(storage.TimeRange{}, Cursor{})
		if err := e.neighbours(ctx, sig, always, &g, 1); err != nil {
			return n, err
		}
	}
	n.Services = slices.Sorted(maps.Keys(g.services))
	n.Names = nearest(name, slices.Sorted(maps.Keys(g.names)))
	return n, nil
}

// neighbours gathers what is in some blocks.
type neighbours struct {
	blocks          int
	services, names map[string]struct{}
	nameColumn      block.Column
	nameOf          func(value []byte) []byte // nil: names are not asked for
}

func (e *Engine) neighbours(ctx context.Context, sig otlp.Signal, w window, g *neighbours, limit int) error {
	next := func(*block.Header) step {
		if g.blocks >= limit {
			return stop
		}
		return read
	}
	return e.scan(ctx, &scan{signal: sig, window: w, match: everything{}, next: next, take: g.take})
}

func (g *neighbours) take(b *block.Block, _ storage.Position, s *rows) error {
	g.blocks++
	resources, err := b.Dict(block.Resource)
	if err != nil {
		return err
	}
	for value := range used(resources, s) {
		if service := serviceName(value); service != "" {
			g.services[service] = struct{}{}
		}
	}
	if g.nameOf == nil {
		return nil
	}
	names, err := b.Dict(g.nameColumn)
	if err != nil {
		return err
	}
	for value := range used(names, s) {
		g.names[string(g.nameOf(value))] = struct{}{}
	}
	return nil
}

// everything is the matcher without a filter.
type everything struct{}

func (everything) skip(*block.Header) bool                 { return false }
func (everything) mustSeeAll() bool                        { return false }
func (everything) byHeader() bool                          { return true }
func (everything) tallyHeader(h *block.Header, c *tally)   { c.rows += h.Rows }
func (everything) narrow(*block.Block, *rows) error        { return nil }
func (everything) tally(*block.Block, *rows, *tally) error { return nil }

// maxCompared is how many names are compared letter by letter at most: some
// services put ids into names, and a distance costs microseconds.
const maxCompared = 2000

// nearest returns the names that are most like the one asked for: first those
// that contain it or are contained in it, then by edit distance.
func nearest(asked string, names []string) []string {
	asked = strings.ToLower(strings.ReplaceAll(asked, "*", ""))
	type scored struct {
		name     string
		distance int
	}
	var related, others []scored
	for _, name := range names {
		lower := strings.ToLower(name)
		list := &others
		if strings.Contains(lower, asked) || strings.Contains(asked, lower) {
			list = &related
		}
		if len(*list) < maxCompared {
			*list = append(*list, scored{name, Distance(asked, name)})
		}
	}
	var out []string
	for _, list := range [][]scored{related, others} {
		slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
		for _, s := range list {
			out = append(out, s.name)
		}
	}
	return out[:min(len(out), nearbyNames)]
}
