// Package receiver takes in OTLP over gRPC and HTTP and hands each request, as
// validated wire bytes, to a Writer. It answers success only after the Writer
// said that the data is stored.
//
// Nouns: Receiver, the two listeners; Writer, where requests go; Options.
// Inside there is one path for three signals and two transports (export.go):
// bytes, otlp.Walk, Writer.Append, answer. The transports differ in how they
// come to the bytes (grpc.go, http.go) and JSON is turned into protobuf before
// the path begins (json.go). One table says what clients are told of an error
// (status.go).
//
// What can hurt: a request may be 64 MiB, so callers that set a smaller memory
// limit should lower Options.MaxBodyBytes. Importing this package registers the
// compressors gzip and zstd with grpc for the whole process.
//
// It leaves to others what an item is (package otlp), durability (the Writer)
// and who may send (Options.Authorize).
package receiver
