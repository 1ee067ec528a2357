package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"sonde/config"
)

// printBanner tells where the server listens and, at the first start, how to
// get going.
func (a *app) printBanner(s *server, firstToken string) {
	l := s.listeners
	fmt.Fprintf(a.std.out, `sonde %s, data in %s

  OTLP/gRPC  %s
  OTLP/HTTP  http://%s
  MCP        http://%s/mcp
`, version, s.config.Data, l.grpc.Addr(), l.otlpHTTP.Addr(), l.http.Addr())
	if firstToken == "" {
		return
	}
	token := firstToken
	if a.getenv("SONDE_MASTER_TOKEN") != "" {
		// The operator has it; it need not stand in a log.
		token = "$SONDE_MASTER_TOKEN"
		fmt.Fprintf(a.std.out, "\nFirst start: the login master has the token given in SONDE_MASTER_TOKEN.\n")
	} else {
		fmt.Fprintf(a.std.out, "\nFirst start: this token of the login master is shown only now.\n\n  %s\n", token)
	}
	fmt.Fprintf(a.std.out, `
Send telemetry from a service, or a demo's:

  export OTEL_EXPORTER_OTLP_ENDPOINT=http://%[1]s OTEL_EXPORTER_OTLP_PROTOCOL=grpc
  %[4]s demo --for 30s%[5]s

Ask from a shell:

  export SONDE_URL=http://%[2]s SONDE_TOKEN=%[3]s
  %[4]s call logs.query '{"severity":"ERROR"}'

Ask from an MCP client:

  claude mcp add --transport http sonde http://%[2]s/mcp --header "Authorization: Bearer %[3]s"
  {"mcpServers":{"sonde":{"type":"http","url":"http://%[2]s/mcp","headers":{"Authorization":"Bearer %[3]s"}}}}

`, l.grpc.Addr(), l.http.Addr(), token, os.Args[0], demoEndpoint(s))
}

// demoEndpoint is the flag that demo needs when the server is not where demo
// looks for it.
func demoEndpoint(s *server) string {
	if addr := s.listeners.grpc.Addr().String(); addr != defaultOTLP {
		return " --endpoint " + addr
	}
	return ""
}

// writeReadyFile writes the addresses in one step, so that a reader never sees
// half a file.
func writeReadyFile(path string, l listeners) error {
	text, err := json.Marshal(struct {
		GRPC string `json:"otlp_grpc"`
		HTTP string `json:"otlp_http"`
		Face string `json:"http"`
	}{l.grpc.Addr().String(), l.otlpHTTP.Addr().String(), l.http.Addr().String()})
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	if err := os.WriteFile(temp, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("cannot write the ready file: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("cannot write the ready file: %w", err)
	}
	return nil
}

func newLogger(w io.Writer, c config.Config) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		level = slog.LevelInfo // config.Validate has refused anything else
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
