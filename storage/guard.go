package storage

import (
	"fmt"
	"runtime"
	"runtime/debug"
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
