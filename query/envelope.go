package query

import (
	"iter"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"google.golang.org/protobuf/encoding/protowire"

	"sonde/storage/otlp"
)

// fields yields the values of a field of a message that has a length: strings,
// bytes, messages. Broken bytes end it.
func fields(message []byte, number protowire.Number) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(message) > 0 {
			num, kind, n := protowire.ConsumeTag(message)
			if n < 0 {
				return
			}
			message = message[n:]
			size := protowire.ConsumeFieldValue(num, kind, message)
			if size < 0 {
				return
			}
			if num == number && kind == protowire.BytesType {
				value, _ := protowire.ConsumeBytes(message)
				if !yield(value) {
					return
				}
			}
			message = message[size:]
		}
	}
}

// field returns the last of the values that fields yields: the one that counts
// in protobuf where a field is not repeated.
func field(message []byte, number protowire.Number) []byte {
	var last []byte
	for value := range fields(message, number) {
		last = value
	}
	return last
}

// serviceName returns the attribute service.name of a resource envelope, "" when
// it has none.
func serviceName(envelope []byte) string {
	for resource := range fields(envelope, otlp.ResourceEnvelopeResource) {
		for attribute := range fields(resource, otlp.ResourceAttributes) {
			if string(field(attribute, otlp.KeyValueKey)) == "service.name" {
				name, err := otlp.AppendRawText(nil, field(attribute, otlp.KeyValueValue))
				if err != nil {
					return ""
				}
				return string(name)
			}
		}
	}
	return ""
}

// metricName returns the name of a metric envelope.
func metricName(envelope []byte) []byte { return field(envelope, otlp.MetricName) }

// metricType returns the type of a metric envelope.
func metricType(envelope []byte) pmetric.MetricType {
	switch otlp.MetricKind(envelope) {
	case otlp.Gauge:
		return pmetric.MetricTypeGauge
	case otlp.Sum:
		return pmetric.MetricTypeSum
	case otlp.Histogram:
		return pmetric.MetricTypeHistogram
	case otlp.ExponentialHistogram:
		return pmetric.MetricTypeExponentialHistogram
	case otlp.Summary:
		return pmetric.MetricTypeSummary
	}
	return pmetric.MetricTypeEmpty
}
