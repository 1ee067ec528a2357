// Package storage keeps telemetry in bbolt, keyed by time.
//
// It works in two stages. Append puts whole requests into head.db, many callers
// in one commit, and returns once they are on disk; from then on every Scan
// sees them. In the background a compactor takes runs of them out of the head
// and writes them as columnar blocks (package block) into a partition file, one
// bbolt file per span of arrival time. Retention deletes whole partition files.
//
// One goroutine, the committer, writes head.db; one compactor per signal writes
// partitions; the upkeep watches ages. What readers see is a few slices that
// are copied when they change, so that one short lock takes a snapshot.
//
// Nouns: Store, the data folder opened; head, what is not yet in blocks;
// partition, one file of blocks; Stats, the counters. FORMAT.md draws every key
// and value.
//
// What can hurt: a function given to Scan runs inside a read transaction, so it
// must be quick, copy what it keeps and never write to a network. The folder
// belongs to one process; a second Open fails with ErrLocked.
//
// Users, roles, tokens and customers live in package accounts, in a file of
// their own. This package knows no transport and no query language.
package storage
