// Package config holds the settings of sonde: what they are, where they come
// from (file < environment < flags), and whether they make sense. Only cmd
// imports it.
//
// Settings is the one table of keys, flags, environment variables, defaults and
// help texts; flags and documents are made from it. Load reads the layers and
// says of each setting which one it came from. It reads one file and nothing
// else of the world: the environment and the flags are handed in.
package config

import "time"

// Config is everything that can be set. Default has the values of what isn't.
type Config struct {
	Data            string        // data folder, relative to the working directory
	Retention       time.Duration // how long telemetry is kept, by arrival
	MaxBytes        int64         // disk space for telemetry
	PartitionSpan   time.Duration // arrival time that one partition file covers
	HeadBytes       int64         // requests that may wait for compaction
	ShutdownTimeout time.Duration // for what is in flight when stopping
	Receiver        Receiver
	HTTP            HTTP
	MCP             MCP
	Log             Log
}

// Receiver is how telemetry comes in.
type Receiver struct {
	GRPC           string // HOST:PORT of OTLP/gRPC; port 0: any free one
	HTTP           string // HOST:PORT of OTLP/HTTP
	MaxBodyBytes   int64  // of a request, before and after decompression
	Auth           bool   // require a bearer token
	AllowAnonymous bool   // listening beyond loopback without Auth is meant
}

// HTTP is the face for agents, people and monitoring.
type HTTP struct {
	Listen         string   // HOST:PORT
	AllowedHosts   []string // beyond loopback names, as in the Host header
	AllowedOrigins []string // as in the Origin header: scheme://host[:port]
}

// MCP is how agents are answered.
type MCP struct {
	Names       string // "dotted" or "underscore"
	AnswerBytes int    // bound of a text answer
}

// Log is what the program says of itself.
type Log struct {
	Level  string // "debug", "info", "warn" or "error"
	Format string // "text" or "json"
}

// Default returns the settings of a program that was told nothing. They are
// valid.
func Default() Config {
	return Config{
		Data:            "./data",
		Retention:       7 * 24 * time.Hour,
		MaxBytes:        10 << 30,
		PartitionSpan:   24 * time.Hour,
		HeadBytes:       128 << 20,
		ShutdownTimeout: 10 * time.Second,
		Receiver: Receiver{
			GRPC:         "127.0.0.1:4317",
			HTTP:         "127.0.0.1:4318",
			MaxBodyBytes: 64 << 20,
		},
		HTTP: HTTP{Listen: "127.0.0.1:4319"},
		MCP:  MCP{Names: "dotted", AnswerBytes: 9500},
		Log:  Log{Level: "info", Format: "text"},
	}
}
