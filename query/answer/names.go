package answer

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"sonde/query"
	"sonde/storage/otlp"
)

// MetricNames returns the catalogue of metrics, of which there are total in
// all, one line a name.
func MetricNames(list []query.MetricInfo, total int, h Head, o Options) string {
	stamp := stamper{day: h.day()}
	lines := make([]string, len(list))
	for i, m := range list {
		b := append([]byte(cut(Clean(m.Name), nameLimit)), " "+typeName(m.Type)...)
		if m.Unit != "" {
			b = append(append(b, ' '), cut(Clean(m.Unit), keyLimit)...)
		}
		b = append(b, ", "+seriesCount(m.Series)+", "+plural(m.Points, "point")+", newest "...)
		b = stamp.append(b, m.NewestUnixNano)
		if len(m.Services) > 0 {
			b = append(b, ", of "+nameList(m.Services, maxListed)...)
		}
		lines[i] = string(b)
	}
	return o.fit(len(list), func(shown int) string {
		head := "metrics " + h.window() + ", " + count(shown) + " of " + count(total) + " names"
		if shown < len(list) {
			head += "; " + count(len(list)-shown) + " more cut to fit, name=PREFIX* narrows"
		}
		for _, note := range h.Notes {
			head += "; " + Clean(note)
		}
		return strings.Join(append([]string{head}, lines[:shown]...), "\n")
	})
}

func seriesCount(n int) string { return count(n) + " series" }

// typeName returns the type as OTLP JSON spells it, "" when it is not set.
func typeName(t pmetric.MetricType) string {
	switch t {
	case pmetric.MetricTypeGauge:
		return "gauge"
	case pmetric.MetricTypeSum:
		return "sum"
	case pmetric.MetricTypeHistogram:
		return "histogram"
	case pmetric.MetricTypeExponentialHistogram:
		return "exponentialHistogram"
	case pmetric.MetricTypeSummary:
		return "summary"
	}
	return ""
}

// maxNearby is how many services or names an empty answer lists.
const maxNearby = 40

// Empty returns the answer when nothing was found: the nearest facts there are.
func Empty(sig otlp.Signal, h Head, n query.Nearby) string {
	facts := []string{sig.String() + " " + h.window() + ", 0 found"}
	if len(h.Filtered) > 0 {
		facts[0] += " with " + Clean(strings.Join(h.Filtered, ", "))
	}
	one := map[otlp.Signal]string{otlp.Logs: "log", otlp.Traces: "span", otlp.Metrics: "data point"}[sig]
	if n.NewestUnixNano == 0 {
		facts = append(facts, "no "+one+" is stored at all")
	} else {
		facts = append(facts, "newest "+one+" "+FormatTime(n.NewestUnixNano))
	}
	if len(n.Services) > 0 {
		facts = append(facts, "services: "+nameList(n.Services, maxNearby))
	}
	if len(n.Names) > 0 {
		facts = append(facts, "nearest names: "+nameList(n.Names, maxNearby))
	}
	for _, note := range h.Notes {
		facts = append(facts, Clean(note))
	}
	return strings.Join(facts, "; ")
}
