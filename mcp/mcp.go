// Package mcp is the face that agents see: JSON-RPC 2.0 over POST /mcp by the
// Model Context Protocol, thirteen tools, each caller seeing those of its role.
//
// Nouns: Server; tool, a line of the table in tools.go; call, one tools/call
// with its arguments decoded; reply, what a tool answers; face, how a request
// wants to be answered (text or JSON, dots or underscores).
//
// A request is judged in this order, and what fails goes no further: Host and
// Origin, method, bearer token, headers, body, message, tool of the caller's
// role, arguments. JSON-RPC errors are for the protocol alone: whatever a model
// can mend comes back as a result with isError and one line of text.
//
// The server is stateless: no sessions, no streams, one message a request. Who
// may do what is decided in package accounts, how rows read in package answer;
// here the two meet.
package mcp

import (
	"log/slog"
	"runtime"
	"strings"
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
	// AllowedHosts and AllowedOrigins beyond loopback names. A host is a name or
	// address, for any port, or one with a port; an origin is scheme://host[:port].
	AllowedHosts, AllowedOrigins []string
	// OnCall, when set, is told of each tools/call: for metrics. The tool is a
	// canonical name, or "unknown"; the outcome is "ok", "refused" (by rights),
	// "invalid" (by arguments or the state of things) or "error" (ours).
	OnCall func(tool, outcome string, took time.Duration)
	Log    *slog.Logger
	Now    func() time.Time
}

// Stats gives the counters of the store.
type Stats interface{ Stats() storage.Stats }

// Server answers MCP. Its methods may be called concurrently.
type Server struct {
	engine *query.Engine
	stats  Stats
	db     *accounts.DB
	o      Options

	guard   guard
	tools   []tool
	byName  map[string]*tool // both spellings
	lists   lists
	queries chan struct{} // a slot for each query that may read the store at once
}

// New returns a server over the query engine, the counters and the accounts.
// It owns none of them.
func New(q *query.Engine, stats Stats, db *accounts.DB, o Options) *Server {
	if o.AnswerBytes <= 0 {
		o.AnswerBytes = 9_500
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{
		engine: q, stats: stats, db: db, o: o,
		guard:  newGuard(o.AllowedHosts, o.AllowedOrigins),
		tools:  toolTable(),
		byName: map[string]*tool{},
		// More readers than cores only make each other, and ingest, slower.
		queries: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))),
	}
	for i := range s.tools {
		t := &s.tools[i]
		s.byName[t.name] = t
		s.byName[underscored(t.name)] = t
	}
	return s
}

// Register adds POST /mcp (405 for other methods) and GET /api/v1/stats.
func (s *Server) Register(e *echo.Echo) {
	e.Any("/mcp", s.serveMCP)
	e.GET("/api/v1/stats", s.serveStats)
}

// The canonical names of the tools. They are promises: callers, roles and the
// audit log hold them.
const (
	telemetryStats  = "telemetry.stats"
	logsQuery       = "logs.query"
	tracesQuery     = "traces.query"
	metricsQuery    = "metrics.query"
	customersList   = "customers.list"
	customersCreate = "customers.create"
	usersList       = "users.list"
	usersCreate     = "users.create"
	usersSetRole    = "users.set_role"
	usersDelete     = "users.delete"
	rolesList       = "roles.list"
	rolesCreate     = "roles.create"
	rolesDelete     = "roles.delete"
)

// ToolNames returns the canonical names of all tools in their fixed order.
func ToolNames() []string {
	return []string{
		telemetryStats, logsQuery, tracesQuery, metricsQuery,
		customersList, customersCreate,
		usersList, usersCreate, usersSetRole, usersDelete,
		rolesList, rolesCreate, rolesDelete,
	}
}

// MemberTools returns the tools of the built-in role member.
func MemberTools() []string {
	return []string{
		telemetryStats, logsQuery, tracesQuery, metricsQuery,
		customersList, customersCreate, rolesList,
	}
}

// MasterOnly returns the tools that no role but master may hold.
func MasterOnly() []string { return []string{rolesCreate, rolesDelete} }

// underscored returns the spelling of a tool's name without dots, for the APIs
// of models that refuse them.
func underscored(name string) string { return strings.ReplaceAll(name, ".", "_") }
