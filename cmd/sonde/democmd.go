package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"sonde/cmd/sonde/demo"
)

// defaultOTLP is where serve listens for OTLP/gRPC unless it is told otherwise.
const defaultOTLP = "127.0.0.1:4317"

func (a *app) demoCommand() *cobra.Command {
	o := demo.Options{}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Send a small shop's telemetry to a running server",
		Long: `Send a small shop's telemetry to a running server.

Six services (gateway, catalogue, cart, checkout, payments, order-worker) are
played through the OpenTelemetry Go SDK: correlated traces, logs and metrics.
A third of the way through, one thing goes wrong: find out what and why.

SONDE_TOKEN is sent as the bearer token when it is set.`,
		Example: `  sonde demo --for 30s
  sonde call logs.query '{"severity":"ERROR"}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Token = a.getenv("SONDE_TOKEN")
			return a.demo(cmd.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Endpoint, "endpoint", defaultOTLP, "HOST:PORT of the OTLP/gRPC listener")
	f.DurationVar(&o.For, "for", time.Minute, "how long to send, such as 30s or 5m")
	f.Float64Var(&o.Rate, "rate", 20, "customers' requests a second")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the play: the same seed makes the same customers")
	return c
}

func (a *app) demo(ctx context.Context, o demo.Options) error {
	if o.For <= 0 {
		return fmt.Errorf("--for: got %s, want a positive duration such as 30s", o.For)
	}
	if !(o.Rate >= 0.001 && o.Rate <= 10_000) { // not a number is refused too
		return fmt.Errorf("--rate: got %g, want 0.001 to 10000 requests a second", o.Rate)
	}
	// The exporters would retry for a minute before they say that no one is there.
	conn, err := (&net.Dialer{Timeout: 3 * time.Second}).DialContext(ctx, "tcp", o.Endpoint)
	if err != nil {
		return fmt.Errorf("cannot reach an OTLP/gRPC receiver: %w; is `sonde serve` running?", err)
	}
	if err := conn.Close(); err != nil {
		return err
	}
	if isTerminal(a.std.err) {
		o.Progress = a.std.err
	}
	sum, err := demo.Run(ctx, o)
	if o.Progress != nil {
		fmt.Fprintln(o.Progress)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.std.out, "sent %d requests of customers, %d of them failed\n", sum.Requests, sum.Failed)
	if errors.Is(ctx.Err(), context.Canceled) {
		return errors.New("stopped before the time was over")
	}
	return nil
}

// isTerminal reports whether w is a terminal, where progress is worth showing.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
