package config

import (
	"errors"
	"flag"
	"slices"
	"strconv"
	"strings"
	"time"
)

// envPrefix leads the names of environment variables that are ours.
const envPrefix = "SONDE_"

// Setting is one line of the table of settings.
type Setting struct {
	Key     string // in the file, sections joined by dots: "receiver.grpc"
	Flag    string // without dashes: "otlp-grpc"
	Env     string // "SONDE_RECEIVER_GRPC"
	Type    string // how a value looks: "duration", "size", "bool", "list", "address", "path", or "a|b|c"
	Default string // as text; "" when nothing is set by default
	Usage   string // one line without the default

	value func(*Config) flag.Value
}

// Settings returns the table of settings in the order of documents. Flags of
// type "bool" may stand without a value, which means true.
func Settings() []Setting {
	table := []Setting{
		{Key: "data", Flag: "data", Type: "path", Usage: "data folder",
			value: func(c *Config) flag.Value { return (*text)(&c.Data) }},
		{Key: "retention", Flag: "retention", Type: "duration", Usage: "how long telemetry is kept: 15m, 12h, 30d, 2w",
			value: func(c *Config) flag.Value { return (*duration)(&c.Retention) }},
		{Key: "max_bytes", Flag: "max-bytes", Type: "size", Usage: "disk space for telemetry, the oldest goes first: 512MiB, 20GiB, 1GB",
			value: func(c *Config) flag.Value { return (*size)(&c.MaxBytes) }},
		{Key: "partition_span", Flag: "partition-span", Type: "duration", Usage: "arrival time that one file covers, and what retention frees at once: whole hours",
			value: func(c *Config) flag.Value { return (*duration)(&c.PartitionSpan) }},
		{Key: "head_bytes", Flag: "head-bytes", Type: "size", Usage: "requests that may wait for compaction before more are refused",
			value: func(c *Config) flag.Value { return (*size)(&c.HeadBytes) }},
		{Key: "shutdown_timeout", Flag: "shutdown-timeout", Type: "duration", Usage: "how long stopping waits for what is in flight",
			value: func(c *Config) flag.Value { return (*duration)(&c.ShutdownTimeout) }},
		{Key: "receiver.grpc", Flag: "otlp-grpc", Type: "address", Usage: "where OTLP/gRPC listens; port 0 is any free one",
			value: func(c *Config) flag.Value { return (*text)(&c.Receiver.GRPC) }},
		{Key: "receiver.http", Flag: "otlp-http", Type: "address", Usage: "where OTLP/HTTP listens",
			value: func(c *Config) flag.Value { return (*text)(&c.Receiver.HTTP) }},
		{Key: "receiver.max_body_bytes", Flag: "max-body-bytes", Type: "size", Usage: "limit of an export request, before and after decompression",
			value: func(c *Config) flag.Value { return (*size)(&c.Receiver.MaxBodyBytes) }},
		{Key: "receiver.auth", Flag: "ingest-auth", Type: "bool", Usage: "require a bearer token of exporters",
			value: func(c *Config) flag.Value { return (*boolean)(&c.Receiver.Auth) }},
		{Key: "receiver.allow_anonymous", Flag: "allow-anonymous", Type: "bool", Usage: "allow exports without a token from beyond this machine",
			value: func(c *Config) flag.Value { return (*boolean)(&c.Receiver.AllowAnonymous) }},
		{Key: "http.listen", Flag: "listen", Type: "address", Usage: "where /mcp, /api/v1, /metrics and health checks listen",
			value: func(c *Config) flag.Value { return (*text)(&c.HTTP.Listen) }},
		{Key: "http.allowed_hosts", Flag: "allowed-hosts", Type: "list", Usage: "host names, beyond those of loopback, under which it may be asked",
			value: func(c *Config) flag.Value { return (*list)(&c.HTTP.AllowedHosts) }},
		{Key: "http.allowed_origins", Flag: "allowed-origins", Type: "list", Usage: "origins of web pages that may ask: https://ops.example.com",
			value: func(c *Config) flag.Value { return (*list)(&c.HTTP.AllowedOrigins) }},
		{Key: "mcp.names", Flag: "mcp-names", Type: "dotted|underscore", Usage: "how tools/list spells names: logs.query or logs_query",
			value: func(c *Config) flag.Value { return (*text)(&c.MCP.Names) }},
		{Key: "mcp.answer_bytes", Flag: "answer-bytes", Type: "size", Usage: "bound of a text answer to an agent",
			value: func(c *Config) flag.Value { return (*smallSize)(&c.MCP.AnswerBytes) }},
		{Key: "log.level", Flag: "log-level", Type: "debug|info|warn|error", Usage: "what is logged to standard error",
			value: func(c *Config) flag.Value { return (*text)(&c.Log.Level) }},
		{Key: "log.format", Flag: "log-format", Type: "text|json", Usage: "how it is logged",
			value: func(c *Config) flag.Value { return (*text)(&c.Log.Format) }},
	}
	c := Default()
	for i := range table {
		s := &table[i]
		s.Env = envPrefix + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
		s.Default = s.value(&c).String()
	}
	return table
}

// The kinds of values. Set takes text as it comes from a file, the environment
// or a flag; String gives text that Set takes.
type (
	text      string
	boolean   bool
	duration  time.Duration
	size      int64
	smallSize int
	list      []string
)

func (v *text) String() string     { return string(*v) }
func (v *text) Set(s string) error { *v = text(s); return nil }

func (v *boolean) String() string { return strconv.FormatBool(bool(*v)) }
func (v *boolean) Set(s string) error {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		*v = true
	case "false", "no", "off", "0":
		*v = false
	default:
		return gotWant(s, "true or false")
	}
	return nil
}

func (v *duration) String() string { return FormatDuration(time.Duration(*v)) }
func (v *duration) Set(s string) error {
	d, err := ParseDuration(s)
	*v = duration(d)
	return err
}

func (v *size) String() string { return FormatBytes(int64(*v)) }
func (v *size) Set(s string) error {
	n, err := ParseBytes(s)
	*v = size(n)
	return err
}

func (v *smallSize) String() string { return FormatBytes(int64(*v)) }
func (v *smallSize) Set(s string) error {
	n, err := ParseBytes(s)
	*v = smallSize(n)
	return err
}

// A list in one text is split at commas.
func (v *list) String() string { return strings.Join(*v, ",") }
func (v *list) Set(s string) error {
	var items []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	*v = items
	return nil
}

func gotWant(got, want string) error {
	return errors.New("got " + strconv.Quote(got) + ", want " + want)
}

// oneOf reads the choices out of a type like "text|json".
func (s Setting) oneOf() []string {
	if choices := strings.Split(s.Type, "|"); len(choices) > 1 {
		return choices
	}
	return nil
}

// settingOf finds the setting whose name in one spelling is name.
func settingOf(table []Setting, name string, spelling func(Setting) string) (Setting, bool) {
	i := slices.IndexFunc(table, func(s Setting) bool { return spelling(s) == name })
	if i < 0 {
		return Setting{}, false
	}
	return table[i], true
}
