package query

import (
	"context"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// PointFilter selects data points. Zero fields select all.
type PointFilter struct {
	Range  storage.TimeRange
	Before Cursor
	Name   string // exact or a glob with *
	Limit  int    // at least 1
}

// PointPage is a page of data points.
type PointPage struct {
	Page
	Points []Point
}

// Points returns the newest data points that match.
func (e *Engine) Points(ctx context.Context, f PointFilter) (PointPage, error) {
	w, ok := newWindow(f.Range, f.Before)
	if !ok {
		return PointPage{Page: Page{TotalExact: true}}, nil
	}
	found, err := e.items(ctx, otlp.Metrics, w, &pointMatcher{nameGlob(f.Name)}, f.Limit)
	if err != nil {
		return PointPage{}, err
	}
	p := PointPage{Page: found.Page}
	d := newDecoder()
	for _, entry := range found.entries {
		point, err := d.point(*entry.value, entry.time)
		if err != nil {
			return PointPage{}, err
		}
		p.Points = append(p.Points, point)
	}
	return p, nil
}

// pointMatcher evaluates a PointFilter.
type pointMatcher struct {
	name *glob // nil: any name
}

func (m *pointMatcher) skip(*block.Header) bool { return false }

func (m *pointMatcher) mustSeeAll() bool { return false }

func (m *pointMatcher) byHeader() bool { return m.name == nil }

func (m *pointMatcher) tallyHeader(h *block.Header, c *tally) { c.rows += h.Rows }

func (m *pointMatcher) narrow(b *block.Block, s *rows) error {
	if m.name == nil {
		return nil
	}
	metrics, err := b.Dict(block.Metric)
	if err != nil {
		return err
	}
	s.keepValues(metrics, func(metric []byte) bool { return m.name.matches(metricName(metric)) })
	return nil
}

func (m *pointMatcher) tally(*block.Block, *rows, *tally) error { return nil }
