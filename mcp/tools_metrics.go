package mcp

import (
	"context"

	"sonde/query"
	"sonde/query/answer"
	"sonde/storage/otlp"
)

const (
	defaultPoints  = 50
	defaultMetrics = 100
)

// runMetrics answers with the data points of a metric, or with the catalogue
// of metrics when none is named.
func runMetrics(ctx context.Context, s *Server, c *call) (reply, error) {
	q, err := s.newQuestion(c)
	if err != nil {
		return reply{}, err
	}
	release, err := s.slot(ctx)
	if err != nil {
		return reply{}, err
	}
	defer release()
	if !c.arguments.has("name") {
		return s.metricNames(ctx, c, q)
	}
	f := query.PointFilter{
		Range: q.rows, Before: q.before,
		Name:  q.filterText(c, "name"),
		Limit: c.arguments.limit(defaultPoints),
	}
	page, err := s.engine.Points(ctx, f)
	switch {
	case err != nil:
		return reply{}, err
	case c.face.json:
		b, err := answer.PointsJSON(page, q.head)
		return reply{json: b}, err
	case page.Total == 0:
		return s.empty(ctx, otlp.Metrics, q, f.Name)
	}
	return reply{text: answer.Points(page, q.head, s.budget())}, nil
}

func (s *Server) metricNames(ctx context.Context, c *call, q *question) (reply, error) {
	page, total, err := s.engine.MetricNames(ctx, q.shown, c.arguments.limit(defaultMetrics))
	switch {
	case err != nil:
		return reply{}, err
	case c.face.json:
		b, err := answer.MetricNamesJSON(page, total, q.head)
		return reply{json: b}, err
	case total == 0:
		return s.empty(ctx, otlp.Metrics, q, "")
	}
	return reply{text: answer.MetricNames(page, total, q.head, s.budget())}, nil
}
