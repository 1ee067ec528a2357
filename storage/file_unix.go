//go:build unix

package storage

import (
	"os"
	"syscall"
)

// fileBytes returns what a file takes on disk, 0 when it can't be told.
func fileBytes(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512 // the unit of st_blocks on every Unix that Go runs on
	}
	return info.Size()
}
