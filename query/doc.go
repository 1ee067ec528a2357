// Package query answers questions about stored telemetry: which log records,
// spans, traces and data points match a filter, newest first, a page at a time.
//
// Nouns: Engine; LogFilter, SpanFilter, PointFilter, what is asked for; Page,
// what an answer says of itself; Cursor, where the next page begins. The engine
// evaluates filters on the columns of package block, the cheapest first, and
// takes apart only the rows it returns, as pdata values. Memory is bounded by
// the answer, but for what must be known to show things once: the ids of traces
// within TraceReach above a cursor, and a hash of each series in a catalogue.
//
// The order everywhere is: newest event time first; of equal times the one that
// arrived last first. The package knows no transport and no text format.
package query
