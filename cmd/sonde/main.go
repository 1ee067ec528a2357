// Command sonde is an OTLP collector that agents can ask: it takes in
// OpenTelemetry logs, traces and metrics, keeps them in a folder, and answers
// questions about them over the Model Context Protocol.
//
// This package holds flags, wiring and the order of stopping. It is the only
// one that reads the environment or exits.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// version is set by the linker.
var version = "dev"

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.Environ())
	stop()
	os.Exit(code)
}

// streams are the standard ones. Results go to out, everything else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is main without the process around it.
func run(ctx context.Context, args []string, std streams, environ []string) int {
	a := &app{std: std, environ: environ}
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitFailed
	}
	fmt.Fprintf(std.err, "sonde: %v\n", err)
	// What fails before a command begins is how it was called.
	if !a.began {
		return exitUsage
	}
	return exitFailed
}

// errReported is returned by a command that has told its failure already.
var errReported = errors.New("reported")

// app is what the commands share.
type app struct {
	std     streams
	environ []string
	began   bool
}

// getenv returns the value of an environment variable, "" when it is not set.
func (a *app) getenv(name string) string {
	// The last one wins, as it does for a process.
	for i := len(a.environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(a.environ[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}
