// Package mcp is the face that agents see: JSON-RPC 2.0 over POST /mcp by the
// Model Context Protocol, thirteen tools, each caller seeing those of its role.
package mcp

import (
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"

	"sonde/query"
	"sonde/storage"
	"sonde/storage/accounts"
)

// Options configure a Server. Zero values mean the defaults.
type Options struct {
	Version string
	// Underscore makes tools/list spell logs_query instead of logs.query.
	Underscore bool
	// AnswerBytes bounds a text answer; default 9,500.
	AnswerBytes int
	// AllowedHosts and AllowedOrigins beyond loopback names.
	AllowedHosts, AllowedOrigins []string
	// OnCall, when set, is told of each tools/call: for metrics.
	OnCall func(tool, outcome string, took time.Duration)
	Log    *slog.Logger
	Now    func() time.Time
}

// Stats gives the counters of the store.
type Stats interface{ Stats() storage.Stats }

// Server answers MCP.
type Server struct{}

// New returns a server over the query engine, the counters and the accounts.
func New(q *query.Engine, stats Stats, db *accounts.DB, o Options) *Server { panic("not built yet") }

// Register adds POST /mcp (405 for other methods) and GET /api/v1/stats.
func (s *Server) Register(e *echo.Echo) { panic("not built yet") }

// ToolNames returns the canonical names of all tools in their fixed order;
// MemberTools those of the built-in role member; MasterOnly those that no
// other role may hold.
func ToolNames() []string   { panic("not built yet") }
func MemberTools() []string { panic("not built yet") }
func MasterOnly() []string  { panic("not built yet") }
