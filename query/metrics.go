package query

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
	"slices"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"sonde/storage"
	"sonde/storage/block"
	"sonde/storage/otlp"
)

// MetricInfo is a line of the catalogue.
type MetricInfo struct {
	Name, Description, Unit string
	Type                    pmetric.MetricType
	Services                []string // sorted
	Series, Points          int      // distinct (resource, scope, attributes), and their points
	NewestUnixNano          uint64
}

// MetricNames returns the catalogue of metrics with points in the range, by
// name, and how many there are in all. Metrics of one name that differ in unit
// or type are lines of their own. The description is that of a newest point.
func (e *Engine) MetricNames(ctx context.Context, r storage.TimeRange, limit int) (page []MetricInfo, total int, err error) {
	w, ok := newWindow(r, Cursor{})
	if !ok {
		return nil, 0, nil
	}
	c := catalogue{seed: maphash.MakeSeed(), metrics: map[metricKey]*metricSum{}}
	err = e.scan(ctx, &scan{signal: otlp.Metrics, window: w, match: &pointMatcher{}, take: c.take})
	if err != nil {
		return nil, 0, err
	}
	for key, sum := range c.metrics {
		page = append(page, MetricInfo{
			Name: key.name, Unit: key.unit, Type: key.kind,
			Description:    sum.description,
			Services:       slices.Sorted(maps.Keys(sum.services)),
			Series:         len(sum.series),
			Points:         sum.points,
			NewestUnixNano: sum.newest,
		})
	}
	slices.SortFunc(page, func(a, b MetricInfo) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Type, b.Type))
	})
	return page[:min(len(page), max(limit, 0))], len(page), nil
}

// metricKey tells the lines of the catalogue apart.
type metricKey struct {
	name, unit string
	kind       pmetric.MetricType
}

type metricSum struct {
	description string
	services    map[string]struct{}
	series      map[uint64]struct{} // by hash: 64 bits suffice to tell them apart
	points      int
	newest      uint64
}

// catalogue sums up points by metric.
type catalogue struct {
	seed    maphash.Seed
	metrics map[metricKey]*metricSum
}

// metricOfBlock is a metric as a block's dictionary has it.
type metricOfBlock struct {
	sum       *metricSum
	envelope  []byte
	hash      uint64
	resources []bool // by index: its service is noted
}

func (c *catalogue) take(b *block.Block, _ storage.Position, s *rows) error {
	times, err := b.Times()
	if err != nil {
		return err
	}
	metrics, err := b.Dict(block.Metric)
	if err != nil {
		return err
	}
	resources, err := b.Dict(block.Resource)
	if err != nil {
		return err
	}
	scopes, err := b.Dict(block.Scope)
	if err != nil {
		return err
	}
	attributes, err := c.attributeHashes(b, s)
	if err != nil {
		return err
	}
	resourceHashes, scopeHashes := c.hashes(resources), c.hashes(scopes)
	known := make([]*metricOfBlock, len(metrics.Values))
	for row := range s.all() {
		index := metrics.Index[row]
		m := known[index]
		if m == nil {
			m = c.metric(metrics.Values[index], len(resources.Values))
			known[index] = m
		}
		m.sum.points++
		if times[row] >= m.sum.newest {
			m.sum.newest = times[row]
			m.sum.description = string(field(m.envelope, otlp.MetricDescription))
		}
		r := resources.Index[row]
		if !m.resources[r] {
			m.resources[r] = true
			if service := serviceName(resources.Values[r]); service != "" {
				m.sum.services[service] = struct{}{}
			}
		}
		series := mix(mix(mix(m.hash, resourceHashes[r]), scopeHashes[scopes.Index[row]]), attributes[row])
		m.sum.series[series] = struct{}{}
	}
	return nil
}

func (c *catalogue) metric(envelope []byte, resources int) *metricOfBlock {
	key := metricKey{string(metricName(envelope)), string(field(envelope, otlp.MetricUnit)), metricType(envelope)}
	sum := c.metrics[key]
	if sum == nil {
		sum = &metricSum{services: map[string]struct{}{}, series: map[uint64]struct{}{}}
		c.metrics[key] = sum
	}
	return &metricOfBlock{sum, envelope, maphash.Bytes(c.seed, envelope), make([]bool, resources)}
}

// hashes returns a hash of each value of a dictionary.
func (c *catalogue) hashes(d *block.Dict) []uint64 {
	hashes := make([]uint64, len(d.Values))
	for i, value := range d.Values {
		hashes[i] = maphash.Bytes(c.seed, value)
	}
	return hashes
}

// attributeHashes returns a hash of the attributes of each row of s. Their order
// does not count.
func (c *catalogue) attributeHashes(b *block.Block, s *rows) ([]uint64, error) {
	hashes := make([]uint64, b.Rows)
	keys, err := b.AttributeKeys()
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		column, err := b.Attribute(key)
		if err != nil {
			return nil, err
		}
		if column == nil {
			continue
		}
		keyHash := maphash.String(c.seed, key)
		for i, row := range column.Rows {
			if s.has(int(row)) {
				hashes[row] += mix(keyHash, maphash.Bytes(c.seed, column.Values.At(i)))
			}
		}
	}
	return hashes, nil
}

// mix hashes two hashes in their order into one.
func mix(a, b uint64) uint64 {
	// Odd constants, and the high half folded in: each bit moves all others.
	const p, q = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9
	h := (a ^ b*p) * q
	h ^= h >> 32
	h = (h + b) * p
	return h ^ h>>29
}
