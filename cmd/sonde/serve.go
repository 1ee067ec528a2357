package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sonde/config"
	"sonde/mcp"
	"sonde/query"
	"sonde/receiver"
	"sonde/storage"
	"sonde/storage/accounts"
)

func (a *app) serveCommand() *cobra.Command {
	var readyFile string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Take in telemetry, keep it, and answer questions about it",
		Long: `Take in telemetry, keep it, and answer questions about it.

Settings come from a YAML file, the environment and flags; later ones win.
SONDE_MASTER_TOKEN sets the token of the login "master" at the very first start;
without it a random one is printed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), c, readyFile)
		},
	}
	addSettings(c.Flags())
	c.Flags().StringVar(&readyFile, "ready-file", "", "write the addresses to this file, as JSON, once everything listens")
	return c
}

// server is everything that serve starts, in the order of starting.
type server struct {
	config    config.Config
	log       *slog.Logger
	accounts  *accounts.DB
	store     *storage.Store
	listeners listeners
	receiver  *receiver.Receiver
	http      *httpFace
	admin     *httpFace
}

func (a *app) serve(ctx context.Context, c config.Config, readyFile string) (err error) {
	s := &server{config: c, log: newLogger(a.std.err, c)}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(); err != nil {
		return err
	}
	firstToken, err := s.accounts.Bootstrap(a.getenv("SONDE_MASTER_TOKEN"))
	if err != nil {
		return fmt.Errorf("cannot make the first login: %w", err)
	}
	failed := s.start()
	if readyFile != "" {
		if err := writeReadyFile(readyFile, s.listeners); err != nil {
			return err
		}
		defer func() { _ = os.Remove(readyFile) }() // one that is gone already is as good
	}
	a.printBanner(s, firstToken)
	select {
	case <-ctx.Done():
		s.log.Info("stopping", "timeout", c.ShutdownTimeout)
		return nil
	case err := <-failed:
		return err
	}
}

// open opens the data and the listeners.
func (s *server) open() (err error) {
	c := s.config
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("cannot make data folder %q: %w", c.Data, err)
	}
	if s.accounts, err = openAccounts(c.Data); err != nil {
		return err
	}
	begin := time.Now()
	s.store, err = storage.Open(c.Data, storage.Options{
		Retention:     c.Retention,
		MaxSizeBytes:  c.MaxBytes,
		PartitionSpan: c.PartitionSpan,
		MaxHeadBytes:  c.HeadBytes,
		Log:           s.log,
	})
	if err != nil {
		return err
	}
	s.log.Debug("storage is open", "took", time.Since(begin))
	return s.listeners.open(c)
}

// start serves on all listeners; what fails later is sent to failed.
func (s *server) start() (failed <-chan error) {
	c := s.config
	errs := make(chan error, 3)
	o := receiver.Options{MaxBodyBytes: c.Receiver.MaxBodyBytes, Log: s.log}
	if c.Receiver.Auth {
		o.Authorize = s.accounts.AuthenticateIngest
	}
	s.receiver = receiver.New(s.store, o)
	go func() { errs <- s.receiver.Serve(s.listeners.grpc, s.listeners.otlpHTTP) }()

	metrics := newMetrics(s.store)
	face := mcp.New(query.New(s.store), s.store, s.accounts, mcp.Options{
		Version:        version,
		Underscore:     c.MCP.Names == "underscore",
		AnswerBytes:    c.MCP.AnswerBytes,
		AllowedHosts:   c.HTTP.AllowedHosts,
		AllowedOrigins: c.HTTP.AllowedOrigins,
		OnCall:         metrics.observeCall,
		Log:            s.log,
	})
	s.http = serveHTTP(s.listeners.http, newEcho(face, s.store, metrics, s.log), s.log, errs)
	s.admin = serveHTTP(s.listeners.admin, adminHandler(localAdmin{s.accounts}), s.log, errs)
	return errs
}

// close stops in the order that loses nothing: first what comes in, then the
// answers, then the data. It is called whatever was opened.
func (s *server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.config.ShutdownTimeout)
	defer cancel()
	var errs []error
	if s.receiver != nil {
		errs = append(errs, s.receiver.Shutdown(ctx))
	}
	errs = append(errs, s.http.shutdown(ctx), s.admin.shutdown(ctx))
	s.listeners.close()
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.accounts != nil {
		errs = append(errs, s.accounts.Close())
	}
	return errors.Join(errs...)
}

func openAccounts(dir string) (*accounts.DB, error) {
	return accounts.Open(filepath.Join(dir, "accounts.db"), accounts.Options{
		Tools:       mcp.ToolNames(),
		MemberTools: mcp.MemberTools(),
		MasterOnly:  mcp.MasterOnly(),
	})
}

// listeners are the sockets that serve opens.
type listeners struct{ grpc, otlpHTTP, http, admin net.Listener }

func (l *listeners) open(c config.Config) (err error) {
	for _, want := range []struct {
		at           *net.Listener
		key, address string
	}{
		{&l.grpc, "receiver.grpc", c.Receiver.GRPC},
		{&l.otlpHTTP, "receiver.http", c.Receiver.HTTP},
		{&l.http, "http.listen", c.HTTP.Listen},
	} {
		if *want.at, err = net.Listen("tcp", want.address); err != nil {
			return fmt.Errorf("cannot listen on %s (%s): %w", want.address, want.key, err)
		}
	}
	l.admin, err = listenAdmin(c.Data)
	return err
}

// close closes those that no server has closed already.
func (l *listeners) close() {
	for _, open := range []net.Listener{l.grpc, l.otlpHTTP, l.http, l.admin} {
		if open != nil {
			_ = open.Close() // closed twice is fine
		}
	}
}
