// Package accounts keeps people and what they may do: customers, users, roles,
// tokens and the audit log, in one bbolt file of their own.
//
// It enforces the rules that hold whatever face asks (MCP, web, command line):
// default deny, no one raises themselves, the last master stays, a role in use
// stays, a deleted user's tokens die with it. A caller is a Principal, made by
// Authenticate from a token, read anew at each request and once more inside the
// transaction of each write that takes one. Each write is one transaction,
// synced to disk before it returns; only the times of last use are gathered in
// memory and written about once a minute and at Close.
//
// The package knows tool names only as strings that roles hold: whether a
// caller may use the tool at hand is for the face to ask (Principal.May).
// ../FORMAT.md draws the keys and values.
package accounts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Errors, to be tested with errors.Is. The text of the error that wraps one is
// a line fit for the caller to read: it names the field, what was given and
// what is allowed.
var (
	ErrInvalid   = errors.New("invalid")        // a field breaks its rule
	ErrExists    = errors.New("already exists") // unique field taken
	ErrNotFound  = errors.New("not found")
	ErrForbidden = errors.New("not allowed") // the caller's rights don't reach
	ErrConflict  = errors.New("conflict")    // last master, role in use
	ErrNoToken   = errors.New("unknown, expired or revoked token")
	ErrLocked    = errors.New("accounts file is in use by another process") // Open
	ErrClosed    = errors.New("accounts file is closed")                    // all methods after Close
)

const (
	// lockWait is how long Open waits for another process to let go of the file.
	lockWait = time.Second
	// flushEvery is how often times of last use are written.
	flushEvery = time.Minute
	// batchDelay is how long a lone Audit or CountThread waits for others to
	// share its commit: about one fsync, so that a flood of refused calls costs
	// a few commits and not one each.
	batchDelay = time.Millisecond
)

// Options configure a DB. Tools is the full list of tools there are, in the
// order shown to callers; it is what master has and roles choose from.
type Options struct {
	Tools       []string
	MemberTools []string         // what the role member has; a subset of Tools
	MasterOnly  []string         // can't be put into a role; a subset of Tools
	Now         func() time.Time // nil means time.Now
}

// DB is the open accounts file. Its methods may be called concurrently.
type DB struct {
	bolt  *bolt.DB
	tools toolList
	now   func() time.Time
	auth  atomic.Pointer[authCache]
	uses  uses

	auditKeep, auditSlack uint64

	stop    chan struct{} // closed by Close
	flusher sync.WaitGroup
	closing sync.Once
}

// Open opens or creates the file, with mode 0600, in a folder that exists. It
// returns ErrLocked when another process holds the file for longer than a
// second.
func Open(path string, o Options) (*DB, error) {
	tools, err := newToolList(o)
	if err != nil {
		return nil, fmt.Errorf("cannot open accounts %q: %w", path, err)
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		// When this fails, opening in place is next best, and tells why.
		_ = create(path)
	}
	b, err := openBolt(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open accounts %q: %w", path, err)
	}
	db := &DB{
		bolt: b, tools: tools, now: o.Now,
		auditKeep: auditKeep, auditSlack: auditSlack,
		stop: make(chan struct{}),
	}
	if db.now == nil {
		db.now = time.Now
	}
	db.auth.Store(newAuthCache())
	db.flusher.Go(db.flushLoop)
	return db, nil
}

// create makes a complete empty file beside path and then gives it its name:
// bbolt's own initialization doesn't survive a power cut half way. A file that
// another process made meanwhile is kept.
func create(path string) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := tmp.Close(); err != nil {
		return err
	}
	b, err := openBolt(tmp.Name())
	if err != nil {
		return err
	}
	if err := b.Close(); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir) //nolint:gosec // the folder of the path that Open was told
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// openBolt opens the file and makes sure that all of it can be read, and that it
// has all buckets and a format that this code reads. bbolt trusts its pages: of a
// damaged file, or one that was cut, it panics or reads where nothing is mapped,
// which would end the process later. What it then holds of the file it holds on
// to: the caller is not going to live long.
func openBolt(path string) (b *bolt.DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			b, err = nil, fmt.Errorf("file is damaged: %v; put a copy in its place", p)
		}
	}()
	b, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait, FreelistType: bolt.FreelistMapType})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	b.MaxBatchDelay = batchDelay
	if err := errors.Join(b.View(touch), b.Update(prepare)); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// touch reads every page of the file that holds a key.
func touch(tx *bolt.Tx) error {
	return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
		return b.ForEach(func(_, _ []byte) error { return nil })
	})
}

// Close writes what is still in memory and closes the file. It may be called
// twice.
func (db *DB) Close() error {
	var err error
	db.closing.Do(func() {
		close(db.stop)
		db.flusher.Wait()
		err = errors.Join(db.flush(), db.bolt.Close())
		// After bolt.Close, so that nothing read before it can be cached again
		// unnoticed: a lookup that misses from now on fails with ErrClosed.
		db.auth.Store(newAuthCache())
	})
	if err != nil {
		return fmt.Errorf("cannot close accounts: %w", err)
	}
	return nil
}

// update runs fn in a write transaction that decides and writes together, so
// that no rule it checked can be broken by another write. When it returns, no
// later Authenticate is answered from before the change.
func (db *DB) update(fn func(tx *bolt.Tx) error) error {
	pending := db.uses.snapshot()
	err := db.bolt.Update(func(tx *bolt.Tx) error {
		if err := applyUses(tx, pending); err != nil {
			return err
		}
		return fn(tx)
	})
	if err != nil {
		return outward("write", err)
	}
	db.uses.forget(pending)
	db.auth.Store(newAuthCache())
	return nil
}

// view runs fn in a read transaction.
func (db *DB) view(fn func(tx *bolt.Tx) error) error {
	return outward("read", db.bolt.View(fn))
}

// outward turns the error of a transaction into one for callers: refusals are
// theirs to read as they are, all else says what could not be done.
func outward(verb string, err error) error {
	var r *refusal
	switch {
	case err == nil, errors.As(err, &r), errors.Is(err, ErrNoToken):
		return err
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return ErrClosed
	}
	return fmt.Errorf("cannot %s accounts: %w", verb, err)
}
