package accounts

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Principal is an authenticated caller as of this request. The zero Principal
// may do nothing.
type Principal struct {
	Login   string
	TokenID string
	Role    Role

	masterOnly []string // of the Options, so that May needs no DB
}

// May reports whether the principal's role has the tool. Tools in
// Options.MasterOnly are for the role master alone, whatever a role says.
func (p Principal) May(tool string) bool {
	return slices.Contains(p.Role.Tools, tool) &&
		(p.Role.Name == MasterRole || !slices.Contains(p.masterOnly, tool))
}

// authEntry is what one token stood for when it was last read from the file.
type authEntry struct {
	digest    [sha256.Size]byte
	tokenID   string
	expires   time.Time // zero: never
	ingest    bool
	principal Principal    // of a user's token
	noted     atomic.Int64 // Unix time of the last use handed to uses, cut to the minute
}

// authCache holds the tokens read since the last change of a user, role or
// token. A write replaces the whole cache after its commit; a reader that was
// under way then fills the one that is thrown away. It holds existing tokens
// alone, so that guesses can't fill the memory.
type authCache struct {
	mu      sync.RWMutex // protects entries
	entries map[[sha256.Size]byte]*authEntry
}

func newAuthCache() *authCache {
	return &authCache{entries: map[[sha256.Size]byte]*authEntry{}}
}

func (c *authCache) get(digest [sha256.Size]byte) *authEntry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.entries[digest]
}

func (c *authCache) put(e *authEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[e.digest] = e
}

// Authenticate finds the user behind a bearer token, notes the sign-in, and
// returns who it is and what they may do. ErrNoToken for anything else,
// ingest tokens included. What it returns is the caller's own.
func (db *DB) Authenticate(token string) (Principal, error) {
	e, err := db.lookup(token)
	if err != nil {
		return Principal{}, err
	}
	if e.ingest {
		return Principal{}, ErrNoToken
	}
	db.note(e)
	p := e.principal
	p.Role.Tools = slices.Clone(p.Role.Tools)
	return p, nil
}

// AuthenticateIngest returns nil when the token may export telemetry: an
// ingest token, or a token of any user. ErrNoToken otherwise.
func (db *DB) AuthenticateIngest(token string) error {
	e, err := db.lookup(token)
	if err != nil {
		return err
	}
	db.note(e)
	return nil
}

// lookup returns what a live token stands for, or the bare ErrNoToken, which
// doesn't say whether the token ever was one.
func (db *DB) lookup(token string) (*authEntry, error) {
	digest := sha256.Sum256([]byte(token))
	cache := db.auth.Load() // before the transaction: see authCache
	e := cache.get(digest)
	if e == nil {
		err := db.view(func(tx *bolt.Tx) (err error) {
			e, err = db.readToken(tx, digest)
			return err
		})
		if err != nil {
			return nil, err
		}
		cache.put(e)
	}
	if subtle.ConstantTimeCompare(e.digest[:], digest[:]) != 1 {
		return nil, ErrNoToken
	}
	if !e.expires.IsZero() && !db.now().Before(e.expires) {
		return nil, ErrNoToken
	}
	return e, nil
}

// readToken reads the token of a digest with its user and role.
func (db *DB) readToken(tx *bolt.Tx, digest [sha256.Size]byte) (*authEntry, error) {
	id, found, err := get[string](tx, bucketTokenDigests, digest[:])
	if err != nil {
		return nil, err
	}
	t, known, err := get[tokenRecord](tx, bucketTokens, []byte(id))
	if err != nil {
		return nil, err
	}
	if !found || !known || len(t.Digest) != sha256.Size {
		return nil, ErrNoToken
	}
	e := &authEntry{digest: [sha256.Size]byte(t.Digest), tokenID: t.ID, expires: t.Expires}
	if t.Login == "" {
		e.ingest = true
		return e, nil
	}
	u, found, err := get[User](tx, bucketUsers, fold(t.Login))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrNoToken
	}
	role, _, err := db.readRole(tx, u.Role)
	if err != nil {
		return nil, err
	}
	e.principal = Principal{Login: u.Login, TokenID: t.ID, Role: role, masterOnly: db.tools.masterOnly}
	return e, nil
}

// callerRole reads the caller anew inside a write, so that rights taken away
// since Authenticate no longer count.
func (db *DB) callerRole(tx *bolt.Tx, caller Principal) (Role, error) {
	u, found, err := get[User](tx, bucketUsers, fold(caller.Login))
	if err != nil {
		return Role{}, err
	}
	if !found {
		return Role{}, refuseValue(ErrForbidden, "caller", caller.Login, "a user that exists")
	}
	if caller.TokenID != "" && tx.Bucket(bucketTokens).Get([]byte(caller.TokenID)) == nil {
		return Role{}, refuse(ErrForbidden, "caller: the token %s of %s was revoked, want a live one",
			quote(caller.TokenID), quote(u.Login))
	}
	role, _, err := db.readRole(tx, u.Role)
	return role, err
}
