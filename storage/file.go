package storage

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// guard runs f and turns its panic, and a fault in a mapped file, into
// errDamaged: bbolt trusts its pages, so a damaged one makes it panic or read
// where nothing is mapped.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errDamaged, r)
		}
	}()
	return f()
}

// file is an open bbolt file that survives damage to it.
type file struct {
	db *bolt.DB
	// hung is set when bbolt was thrown out of the beginning of a transaction,
	// which leaves its locks held: any further call would wait for ever.
	hung atomic.Bool
	// unwritable is set when it was thrown out of a change: which pages are free
	// is not known any more, and a write could hit one in use.
	unwritable atomic.Bool
}

// begin starts a transaction.
func (f *file) begin(writable bool) (tx *bolt.Tx, err error) {
	if f.hung.Load() || writable && f.unwritable.Load() {
		return nil, fmt.Errorf("%w: file has failed before", errDamaged)
	}
	err = guard(func() (err error) {
		tx, err = f.db.Begin(writable)
		return err
	})
	if errors.Is(err, errDamaged) {
		f.hung.Store(true)
		f.unwritable.Store(true)
	}
	return tx, err
}

// view is bbolt's View.
func (f *file) view(read func(*bolt.Tx) error) error {
	tx, err := f.begin(false)
	if err != nil {
		return err
	}
	err = guard(func() error { return read(tx) })
	return errors.Join(err, tx.Rollback())
}

// update is bbolt's Update.
func (f *file) update(change func(*bolt.Tx) error) error {
	tx, err := f.begin(true)
	if err != nil {
		return err
	}
	err = guard(func() error {
		if err := change(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
	if err == nil {
		return nil
	}
	if errors.Is(err, errDamaged) {
		f.unwritable.Store(true)
	}
	// A Commit that fails has rolled back already.
	if e := guard(tx.Rollback); e != nil && !errors.Is(e, bolterrors.ErrTxClosed) {
		f.hung.Store(true)
		err = errors.Join(err, e)
	}
	return err
}

// close closes the file. A hung one stays open until the process ends.
func (f *file) close() error {
	if f.db == nil || f.hung.Load() {
		return nil
	}
	return guard(f.db.Close)
}

// guardFaults does it for faults alone. It is for code of others that reads
// mapped bytes, whose own mistakes must not look like damage.
func guardFaults(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			fault, ok := r.(interface {
				runtime.Error
				Addr() uintptr
			})
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%w: %w", errDamaged, fault)
		}
	}()
	return f()
}
