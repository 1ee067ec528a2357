package storage_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDirEnv); dir != "" {
		writeUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}
