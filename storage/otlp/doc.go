// Package otlp reads OTLP export requests as they stand on the wire.
//
// A request is never decoded into structs on its way in. Walk validates the
// protobuf bytes once and notes where each item (a log record, a span, a data
// point) lies in them and to which resource, scope and metric it belongs. What
// is stored and searched later are these bytes, so nothing that a client sent
// can be lost in a translation, unknown fields included.
//
// An envelope is a ResourceLogs, ScopeLogs or Metric message (or its twin of
// another signal) without its children. Envelopes are valid protobuf messages
// of that type; a Decode function puts an item back under its envelopes and
// hands it to pdata for reading.
//
// The package knows the OTLP field numbers (fields.go) and nothing of files,
// queries or transports.
package otlp
