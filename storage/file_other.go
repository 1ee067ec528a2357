//go:build !unix

package storage

import "os"

// fileBytes returns what a file takes on disk, 0 when it can't be told.
func fileBytes(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
