// Package accounts keeps people and what they may do: customers, users, roles,
// tokens and the audit log, in one bbolt file of their own.
//
// It enforces the rules that hold whatever face asks (MCP, web, command line):
// default deny, no one raises themselves, the last master stays, a role in use
// stays, a deleted user's tokens die with it. A caller is a Principal, made by
// Authenticate from a token, read anew at each request. Each write is one
// transaction, synced to disk before it returns.
//
// The package knows tool names only as strings that roles hold.
package accounts

import (
	"errors"
	"time"
)

// Role names that always exist and can't be deleted.
const (
	MasterRole = "master"
	MemberRole = "member"
)

// Errors, to be tested with errors.Is. The text of the error that wraps one is
// fit for the caller to read: it names the field, what was given and what is
// allowed.
var (
	ErrInvalid   = errors.New("invalid")        // a field breaks its rule
	ErrExists    = errors.New("already exists") // unique field taken
	ErrNotFound  = errors.New("not found")
	ErrForbidden = errors.New("not allowed") // the caller's rights don't reach
	ErrConflict  = errors.New("conflict")    // last master, role in use
	ErrNoToken   = errors.New("unknown, expired or revoked token")
	ErrLocked    = errors.New("accounts file is in use by another process")
)

// Customer is an account of the CRM.
type Customer struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Email   string    `json:"email"`
	Plan    string    `json:"plan,omitempty"`
	Created time.Time `json:"created"`
}

// User is a member of the team.
type User struct {
	Login      string    `json:"login"`
	Email      string    `json:"email,omitempty"`
	Name       string    `json:"name,omitempty"`
	Role       string    `json:"role"`
	Created    time.Time `json:"created"`
	LastSignIn time.Time `json:"lastSignIn,omitzero"` // to the minute; zero: never
	Threads    uint64    `json:"threadCount"`         // initialize handshakes
}

// Role is a named set of tools.
type Role struct {
	Name    string   `json:"name"`
	Title   string   `json:"title,omitempty"`
	Soul    string   `json:"soul,omitempty"` // served as instructions
	Tools   []string `json:"tools"`          // canonical names, in the order of Options.Tools
	BuiltIn bool     `json:"builtIn,omitempty"`
}

// Token describes a bearer token; its secret is known only to whom it was shown.
type Token struct {
	ID      string    `json:"id"`
	Login   string    `json:"login,omitempty"`  // of the user, or
	Ingest  string    `json:"ingest,omitempty"` // the name of an ingest token: may export, nothing else
	Label   string    `json:"label,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	LastUse time.Time `json:"lastUse,omitzero"` // to the minute
}

// Principal is an authenticated caller as of this request.
type Principal struct {
	Login   string
	TokenID string
	Role    Role
}

// May reports whether the principal's role has the tool. Tools in
// Options.MasterOnly are for the role master alone, whatever a role says.
func (p Principal) May(tool string) bool { panic("not built yet") }

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Time      time.Time `json:"time"`
	Login     string    `json:"login"`
	Tool      string    `json:"tool"`
	Arguments string    `json:"arguments,omitempty"` // JSON without secrets, cut at 4 KiB
	Outcome   string    `json:"outcome"`             // "ok", "refused: …", "error: …"
}

// Options configure a DB. Tools is the full list of tools there are, in the
// order shown to callers; it is what master has and roles choose from.
type Options struct {
	Tools       []string
	MemberTools []string // what the role member has
	MasterOnly  []string // can't be put into a role
	Now         func() time.Time
}

// DB is the open accounts file. Its methods may be called concurrently.
type DB struct{}

// Open opens or creates the file.
func Open(path string, o Options) (*DB, error) { panic("not built yet") }

// Close closes the file. It may be called twice.
func (db *DB) Close() error { panic("not built yet") }

// Authenticate finds the user behind a bearer token, notes the sign-in, and
// returns who it is and what they may do. ErrNoToken for anything else,
// ingest tokens included.
func (db *DB) Authenticate(token string) (Principal, error) { panic("not built yet") }

// AuthenticateIngest returns nil when the token may export telemetry: an
// ingest token, or a token of any user.
func (db *DB) AuthenticateIngest(token string) error { panic("not built yet") }

// CountThread notes that a conversation was opened under the login.
func (db *DB) CountThread(login string) error { panic("not built yet") }

// Bootstrap makes the user master, with a token, in a file without users. It
// returns the token, "" when there were users already. A given secret is used
// as the token instead of a random one.
func (db *DB) Bootstrap(secret string) (token string, err error) { panic("not built yet") }

// CreateToken makes a token for a login; expires zero means never.
func (db *DB) CreateToken(login, label string, expires time.Time) (secret string, t Token, err error) {
	panic("not built yet")
}

// CreateIngestToken makes a token that may export telemetry and nothing else.
func (db *DB) CreateIngestToken(name, label string, expires time.Time) (secret string, t Token, err error) {
	panic("not built yet")
}

// Tokens lists all tokens, newest first.
func (db *DB) Tokens() ([]Token, error) { panic("not built yet") }

// RevokeToken removes a token by its id.
func (db *DB) RevokeToken(id string) (Token, error) { panic("not built yet") }

// Customers returns the newest customers and how many there are in all.
func (db *DB) Customers(limit int) (page []Customer, total int, err error) { panic("not built yet") }

// CreateCustomer validates and adds a customer.
func (db *DB) CreateCustomer(name, email, plan string) (Customer, error) { panic("not built yet") }

// Users returns users by login and how many there are in all.
func (db *DB) Users(limit int) (page []User, total int, err error) { panic("not built yet") }

// NewUser is what CreateUser takes; Role "" means member.
type NewUser struct{ Login, Email, Name, Role string }

// CreateUser adds a user; the caller may grant only a role whose tools are a
// subset of their own.
func (db *DB) CreateUser(caller Principal, u NewUser) (User, error) { panic("not built yet") }

// SetRole changes a user's role, under the rule of CreateUser. It acts at once.
func (db *DB) SetRole(caller Principal, login, role string) (User, error) { panic("not built yet") }

// DeleteUser removes a user and their tokens, and returns what was removed.
func (db *DB) DeleteUser(caller Principal, login string) (u User, tokens int, err error) {
	panic("not built yet")
}

// Roles lists the roles: built-in ones first, then by name.
func (db *DB) Roles() ([]Role, error) { panic("not built yet") }

// CreateRole adds a role; for masters alone.
func (db *DB) CreateRole(caller Principal, r Role) (Role, error) { panic("not built yet") }

// DeleteRole removes a role that no user has; for masters alone.
func (db *DB) DeleteRole(caller Principal, name string) (Role, error) { panic("not built yet") }

// Audit appends a line to the audit log.
func (db *DB) Audit(e AuditEntry) error { panic("not built yet") }

// AuditLog returns the newest lines, newest first.
func (db *DB) AuditLog(limit int) ([]AuditEntry, error) { panic("not built yet") }
