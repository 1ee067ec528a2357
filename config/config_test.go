package config_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sonde/config"
)

func TestDefaultIsValid(t *testing.T) {
	if err := config.Default().Validate(); err != nil {
		t.Errorf("Default().Validate() = %v", err)
	}
	c, p, err := config.Load(config.Sources{File: filepath.Join(t.TempDir(), "none.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(config.Default(), c); d != "" {
		t.Errorf("Load without sources (-want +got):\n%s", d)
	}
	for _, s := range config.Settings() {
		if p[s.Key] != "default" {
			t.Errorf("origin of %s = %q, want default", s.Key, p[s.Key])
		}
	}
}

// The names are promises.
func TestSettings(t *testing.T) {
	var got strings.Builder
	for _, s := range config.Settings() {
		got.WriteString(strings.Join([]string{s.Key, "--" + s.Flag, s.Env, s.Type, s.Default}, " ") + "\n")
		if s.Usage == "" || strings.Contains(s.Usage, "\n") {
			t.Errorf("usage of %s = %q, want one line", s.Key, s.Usage)
		}
	}
	want := `data --data SONDE_DATA path ./data
retention --retention SONDE_RETENTION duration 7d
max_bytes --max-bytes SONDE_MAX_BYTES size 10GiB
partition_span --partition-span SONDE_PARTITION_SPAN duration 24h
head_bytes --head-bytes SONDE_HEAD_BYTES size 128MiB
shutdown_timeout --shutdown-timeout SONDE_SHUTDOWN_TIMEOUT duration 10s
receiver.grpc --otlp-grpc SONDE_RECEIVER_GRPC address 127.0.0.1:4317
receiver.http --otlp-http SONDE_RECEIVER_HTTP address 127.0.0.1:4318
receiver.max_body_bytes --max-body-bytes SONDE_RECEIVER_MAX_BODY_BYTES size 64MiB
receiver.auth --ingest-auth SONDE_RECEIVER_AUTH bool false
receiver.allow_anonymous --allow-anonymous SONDE_RECEIVER_ALLOW_ANONYMOUS bool false
http.listen --listen SONDE_HTTP_LISTEN address 127.0.0.1:4319
http.allowed_hosts --allowed-hosts SONDE_HTTP_ALLOWED_HOSTS list ` + `
http.allowed_origins --allowed-origins SONDE_HTTP_ALLOWED_ORIGINS list ` + `
mcp.names --mcp-names SONDE_MCP_NAMES dotted|underscore dotted
mcp.answer_bytes --answer-bytes SONDE_MCP_ANSWER_BYTES size 9500
log.level --log-level SONDE_LOG_LEVEL debug|info|warn|error info
log.format --log-format SONDE_LOG_FORMAT text|json text
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
}

func TestGoodFiles(t *testing.T) {
	want := map[string]func(*config.Config){
		"empty": func(*config.Config) {},
		"dotted": func(c *config.Config) {
			c.Receiver.AllowAnonymous, c.Receiver.GRPC = true, "0.0.0.0:0"
			c.HTTP.AllowedHosts = []string{"a.example.com", "b.example.com"}
		},
		"full": func(c *config.Config) {
			*c = config.Config{
				Data: "/var/lib/sonde", Retention: 30 * 24 * time.Hour, MaxBytes: 20 << 30, PartitionSpan: 6 * time.Hour,
				HeadBytes: 256 << 20, ShutdownTimeout: 90 * time.Second,
				Receiver: config.Receiver{GRPC: ":4317", HTTP: "[::1]:4318", MaxBodyBytes: 1 << 20, Auth: true},
				HTTP: config.HTTP{
					Listen: "0.0.0.0:443", AllowedHosts: []string{"sonde.example.com", "sonde.example.com:443"},
					AllowedOrigins: []string{"https://ops.example.com", "http://localhost:3000"},
				},
				MCP: config.MCP{Names: "underscore", AnswerBytes: 12000},
				Log: config.Log{Level: "debug", Format: "json"},
			}
		},
	}
	files, err := filepath.Glob("testdata/*.good.yaml")
	if err != nil || len(files) != len(want) {
		t.Fatalf("good files = %v, %v, want one for each of %d cases", files, err, len(want))
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".good.yaml")
		c, _, err := config.Load(config.Sources{File: path, FileRequired: true})
		if err != nil {
			t.Errorf("Load(%s) = %v", path, err)
			continue
		}
		w := config.Default()
		want[name](&w)
		if d := cmp.Diff(w, c); d != "" {
			t.Errorf("Load(%s) (-want +got):\n%s", path, d)
		}
	}
}

// Each bad file says in its first lines all that its error must say.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("bad files = %v, %v", files, err)
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, p, err := config.Load(config.Sources{File: path, FileRequired: true})
		if err == nil {
			t.Errorf("Load(%s) = %+v, want an error", path, c)
			continue
		}
		if d := cmp.Diff(config.Config{}, c); d != "" || p != nil {
			t.Errorf("Load(%s) returned settings with its error: %s%v", path, d, p)
		}
		lines := 0
		for line := range strings.Lines(string(raw)) {
			want, ok := strings.CutPrefix(strings.TrimSpace(line), "# want: ")
			if !ok {
				continue
			}
			lines++
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Load(%s) = %v\nwant in it: %s", path, err, want)
			}
		}
		if got := strings.Count(err.Error(), "\n") + 1; lines == 0 || got < lines {
			t.Errorf("Load(%s) has %d lines, want at least %d", path, got, lines)
		}
	}
}

func TestLayers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte("data: from-file\nretention: 1d\nmax_bytes: 1GB\nreceiver: {auth: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, p, err := config.Load(config.Sources{
		File: path,
		Environ: []string{
			"HOME=/root", "SONDELESS=1", "SONDE_RETENTION=2d", "SONDE_MAX_BYTES=2GB", "SONDE_HTTP_ALLOWED_HOSTS=a, b,",
			"SONDE_LOG_LEVEL=", "SONDE_MASTER_TOKEN=a secret", "SONDE_URL=http://x", "SONDE_TOKEN=",
		},
		Flags: map[string]string{"max-bytes": "3GB", "ingest-auth": "false", "otlp-grpc": "localhost:0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Data, want.Retention, want.MaxBytes = "from-file", 48*time.Hour, 3e9
	want.HTTP.AllowedHosts = []string{"a", "b"}
	want.Receiver.GRPC = "localhost:0"
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("Load (-want +got):\n%s", d)
	}
	for key, origin := range map[string]string{
		"data": "file " + path, "retention": "env SONDE_RETENTION", "max_bytes": "flag --max-bytes",
		"receiver.auth": "flag --ingest-auth", "receiver.grpc": "flag --otlp-grpc", "receiver.http": "default",
		"http.allowed_hosts": "env SONDE_HTTP_ALLOWED_HOSTS", "log.level": "default",
		"SONDE_MASTER_TOKEN": "env SONDE_MASTER_TOKEN", "SONDE_TOKEN": "",
	} {
		if p[key] != origin {
			t.Errorf("origin of %s = %q, want %q", key, p[key], origin)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.yaml")
	for _, c := range []struct {
		s    config.Sources
		want string
	}{
		{config.Sources{File: none, Environ: []string{"SONDE_RETENSION=7d"}}, "unknown environment variable SONDE_RETENSION, nearest is SONDE_RETENTION"},
		{config.Sources{File: none, Environ: []string{"SONDE_RECEIVER.GRPC=:1"}}, "unknown environment variable SONDE_RECEIVER.GRPC, nearest is SONDE_RECEIVER_GRPC"},
		{config.Sources{File: none, Environ: []string{"SONDE_PORT=4317"}}, "unknown environment variable SONDE_PORT, nearest is SONDE_DATA"},
		{config.Sources{File: none, Flags: map[string]string{"retain": "7d"}}, "unknown flag --retain, nearest is --data"},
		{config.Sources{File: none, Environ: []string{"SONDE_RETENTION=x"}}, `retention (env SONDE_RETENTION): got "x", want a duration such as 30s, 15m, 12h, 30d or 2w`},
		{config.Sources{File: none, Flags: map[string]string{"otlp-http": ":4318"}}, `receiver.http (flag --otlp-http): got ":4318", want a loopback address, or receiver.auth: true, or receiver.allow_anonymous: true for exports without a token from beyond this machine`},
		{config.Sources{File: none, FileRequired: true}, `cannot read configuration "` + none + `": open ` + none + `: no such file or directory`},
	} {
		if _, _, err := config.Load(c.s); err == nil || err.Error() != c.want {
			t.Errorf("Load(%+v) = %v, want %s", c.s, err, c.want)
		}
	}
}

// In a cluster with a Service named sonde every container gets such variables.
func TestServiceLinksAreNoSettings(t *testing.T) {
	_, _, err := config.Load(config.Sources{File: filepath.Join(t.TempDir(), "none.yaml"), Environ: []string{
		"SONDE_SERVICE_HOST=10.0.0.1", "SONDE_SERVICE_PORT=4317", "SONDE_SERVICE_PORT_OTLP_GRPC=4317", "SONDE_PORT=tcp://10.0.0.1:4317",
		"SONDE_PORT_4317_TCP=tcp://10.0.0.1:4317", "SONDE_PORT_4317_TCP_PROTO=tcp", "SONDE_PORT_4317_TCP_PORT=4317",
		"SONDE_PORT_4317_TCP_ADDR=10.0.0.1", "SONDE_WEB_SERVICE_HOST=10.0.0.2",
	}})
	if err != nil {
		t.Errorf("Load with a cluster's variables = %v", err)
	}
}

func TestWhereTheFileIsLookedFor(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	beside, inside := filepath.Join(dir, "sonde.yaml"), filepath.Join(data, "sonde.yaml")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	origin := func(s config.Sources) string {
		t.Helper()
		_, p, err := config.Load(s)
		if err != nil {
			t.Fatalf("Load(%+v) = %v", s, err)
		}
		return p["retention"]
	}
	byFlag := config.Sources{Environ: []string{"SONDE_DATA=/nowhere"}, Flags: map[string]string{"data": data}}
	byEnv := config.Sources{Environ: []string{"SONDE_DATA=" + data + "/"}}
	t.Chdir(dir) // for the default, ./data
	for _, step := range []struct {
		write, want string
	}{
		{"", "default"},
		{inside, "file " + inside},
		{beside, "file " + beside},
	} {
		if step.write != "" {
			if err := os.WriteFile(step.write, []byte("retention: 3d\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range []config.Sources{byFlag, byEnv} {
			if got := origin(s); got != step.want {
				t.Errorf("origin with %+v = %q, want %q", s, got, step.want)
			}
		}
		if got := origin(config.Sources{}); got != strings.Replace(step.want, dir+"/", "", 1) {
			t.Errorf("origin by default = %q, want %q relative to the working directory", got, step.want)
		}
	}
	if got := origin(config.Sources{File: inside, Flags: byFlag.Flags}); got != "file "+inside {
		t.Errorf("origin with a named file = %q, want that file", got)
	}
}

func TestValidateNamesNoOrigin(t *testing.T) {
	c := config.Default()
	c.Log.Format = "xml"
	c.Data = ""
	want := "data: got \"\", want a folder\nlog.format: got \"xml\", want one of text, json"
	if err := c.Validate(); err == nil || err.Error() != want {
		t.Errorf("Validate() = %v, want %s", err, want)
	}
}

func TestExposure(t *testing.T) {
	for address, exposed := range map[string]bool{
		"127.0.0.1:1": false, "127.9.9.9:1": false, "localhost:1": false, "LOCALHOST:1": false, "[::1]:1": false, "[::ffff:127.0.0.1]:1": false,
		":1": true, "0.0.0.0:1": true, "[::]:1": true, "10.0.0.1:1": true, "example.com:1": true, "localhost.example.com:1": true,
		"[fe80::1%eth0]:1": true, ":0": true,
	} {
		for _, ingest := range []func(*config.Config) *string{
			func(c *config.Config) *string { return &c.Receiver.GRPC }, func(c *config.Config) *string { return &c.Receiver.HTTP },
		} {
			c := config.Default()
			*ingest(&c) = address
			if err := c.Validate(); (err != nil) != exposed {
				t.Errorf("Validate with ingest on %s = %v, want an error: %t", address, err, exposed)
			}
			auth, anonymous := c, c
			auth.Receiver.Auth, anonymous.Receiver.AllowAnonymous = true, true
			if err := errors.Join(auth.Validate(), anonymous.Validate()); err != nil {
				t.Errorf("Validate with ingest on %s and leave = %v, want nil", address, err)
			}
		}
		c := config.Default()
		c.HTTP.Listen = address
		if err := c.Validate(); err != nil {
			t.Errorf("Validate with http.listen on %s = %v, want nil: it always wants a token", address, err)
		}
	}
}

func TestRender(t *testing.T) {
	c, p, err := config.Load(config.Sources{
		File:    "testdata/full.good.yaml",
		Environ: []string{"SONDE_MASTER_TOKEN=sonde_hidden", "SONDE_DATA=dir \"with\" quotes\tand # tab"},
		Flags:   map[string]string{"retention": "2w"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := c.Render(&out, p); err != nil {
		t.Fatal(err)
	}
	want := `data: "dir \"with\" quotes\tand # tab" # env SONDE_DATA
retention: 14d # flag --retention
max_bytes: 20GiB # file testdata/full.good.yaml
partition_span: 6h # file testdata/full.good.yaml
head_bytes: 256MiB # file testdata/full.good.yaml
shutdown_timeout: 1m30s # file testdata/full.good.yaml
receiver:
  grpc: ":4317" # file testdata/full.good.yaml
  http: "[::1]:4318" # file testdata/full.good.yaml
  max_body_bytes: 1MiB # file testdata/full.good.yaml
  auth: true # file testdata/full.good.yaml
  allow_anonymous: false # file testdata/full.good.yaml
http:
  listen: "0.0.0.0:443" # file testdata/full.good.yaml
  allowed_hosts: ["sonde.example.com", "sonde.example.com:443"] # file testdata/full.good.yaml
  allowed_origins: ["https://ops.example.com", "http://localhost:3000"] # file testdata/full.good.yaml
mcp:
  names: "underscore" # file testdata/full.good.yaml
  answer_bytes: 12000 # file testdata/full.good.yaml
log:
  level: "debug" # file testdata/full.good.yaml
  format: "json" # file testdata/full.good.yaml
# SONDE_MASTER_TOKEN is set, not shown
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("Render (-want +got):\n%s", d)
	}
	path := filepath.Join(t.TempDir(), "rendered.yaml")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	back, _, err := config.Load(config.Sources{File: path})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, back); d != "" {
		t.Errorf("Load of what Render wrote (-want +got):\n%s", d)
	}
}
