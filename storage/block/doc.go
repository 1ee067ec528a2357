// Package block turns items of OTLP requests into columns and back.
//
// A Block holds up to some thousand items of one signal, a row each, taken
// apart into typed columns: times, dictionaries, byte strings, attributes by
// key. A Builder makes one from requests, in memory, in arrival order; Encode
// writes its rows sorted by time into blocks of at most MaxRows rows; Open
// reads an encoded block, each column only when it is asked for. Whatever of an
// item has no column of its own goes as raw fields into the column Rest, so
// that AppendMessage gives back a message equal to what came in.
//
// Readers see no difference between a block being built and one read back.
// The byte format is drawn in storage/FORMAT.md. The package knows no files and
// no bbolt; checksums are its own business: a flipped bit is an ErrCorrupt.
package block
