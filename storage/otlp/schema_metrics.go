package otlp

func newMetric(c *commonTypes) *message {
	exemplar := newMessage(levelNone,
		fieldSpec{2, "time_unix_nano", opFixed64, nil},
		fieldSpec{3, "as_double", opFixed64, nil},
		fieldSpec{4, "span_id", opSpanID, nil},
		fieldSpec{5, "trace_id", opTraceID, nil},
		fieldSpec{6, "as_int", opFixed64, nil},
		fieldSpec{7, "filtered_attributes", opAttribute, c.keyValue},
	)
	number := newNumberDataPoint(c, exemplar)
	temporality := fieldSpec{AggregationTemporality, "aggregation_temporality", opVarint, nil}
	data := func(point *message, more ...fieldSpec) *message {
		m := newMessage(levelData, fieldSpec{dataPoints, "data_points", opChild, point})
		m.add(more...)
		return m
	}
	return newMessage(levelMetric,
		fieldSpec{MetricName, "name", opString, nil},
		fieldSpec{MetricDescription, "description", opString, nil},
		fieldSpec{MetricUnit, "unit", opString, nil},
		fieldSpec{uint8(Gauge), "gauge", opChild, data(number)},
		fieldSpec{uint8(Sum), "sum", opChild, data(number, temporality,
			fieldSpec{SumIsMonotonic, "is_monotonic", opVarint, nil})},
		fieldSpec{uint8(Histogram), "histogram", opChild,
			data(newHistogramDataPoint(c, exemplar), temporality)},
		fieldSpec{uint8(ExponentialHistogram), "exponential_histogram", opChild,
			data(newExponentialHistogramDataPoint(c, exemplar), temporality)},
		fieldSpec{uint8(Summary), "summary", opChild, data(newSummaryDataPoint(c))},
		fieldSpec{MetricMetadata, "metadata", opAttribute, c.keyValue},
	)
}

// newPoint returns the fields that all kinds of points share.
func newPoint(c *commonTypes, attributes uint8) *message {
	return newMessage(levelItem,
		fieldSpec{attributes, "attributes", opAttribute, c.keyValue},
		fieldSpec{PointStartTimeUnixNano, "start_time_unix_nano", opFixed64, nil},
		fieldSpec{PointTimeUnixNano, "time_unix_nano", opTime, nil},
	)
}

func newNumberDataPoint(c *commonTypes, exemplar *message) *message {
	m := newPoint(c, 7)
	m.add(
		fieldSpec{NumberDataPointAsDouble, "as_double", opFixed64, nil},
		fieldSpec{5, "exemplars", opMessage, exemplar},
		fieldSpec{NumberDataPointAsInt, "as_int", opFixed64, nil},
		fieldSpec{8, "flags", opVarint, nil},
	)
	return m
}

func newHistogramDataPoint(c *commonTypes, exemplar *message) *message {
	m := newPoint(c, 9)
	m.add(
		fieldSpec{4, "count", opFixed64, nil},
		fieldSpec{5, "sum", opFixed64, nil},
		fieldSpec{6, "bucket_counts", opPackedFixed64, nil},
		fieldSpec{7, "explicit_bounds", opPackedFixed64, nil},
		fieldSpec{8, "exemplars", opMessage, exemplar},
		fieldSpec{10, "flags", opVarint, nil},
		fieldSpec{11, "min", opFixed64, nil},
		fieldSpec{12, "max", opFixed64, nil},
	)
	return m
}

func newExponentialHistogramDataPoint(c *commonTypes, exemplar *message) *message {
	buckets := newMessage(levelNone,
		fieldSpec{1, "offset", opVarint, nil},
		fieldSpec{2, "bucket_counts", opPackedVarint, nil},
	)
	m := newPoint(c, 1)
	m.add(
		fieldSpec{4, "count", opFixed64, nil},
		fieldSpec{5, "sum", opFixed64, nil},
		fieldSpec{6, "scale", opVarint, nil},
		fieldSpec{7, "zero_count", opFixed64, nil},
		fieldSpec{8, "positive", opMessage, buckets},
		fieldSpec{9, "negative", opMessage, buckets},
		fieldSpec{10, "flags", opVarint, nil},
		fieldSpec{11, "exemplars", opMessage, exemplar},
		fieldSpec{12, "min", opFixed64, nil},
		fieldSpec{13, "max", opFixed64, nil},
		fieldSpec{14, "zero_threshold", opFixed64, nil},
	)
	return m
}

func newSummaryDataPoint(c *commonTypes) *message {
	m := newPoint(c, 7)
	m.add(
		fieldSpec{4, "count", opFixed64, nil},
		fieldSpec{5, "sum", opFixed64, nil},
		fieldSpec{6, "quantile_values", opMessage, newMessage(levelNone,
			fieldSpec{1, "quantile", opFixed64, nil},
			fieldSpec{2, "value", opFixed64, nil},
		)},
		fieldSpec{8, "flags", opVarint, nil},
	)
	return m
}
