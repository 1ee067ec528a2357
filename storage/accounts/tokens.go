package accounts

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// tokenPrefix lets scanners for leaked secrets know a token.
	tokenPrefix = "sonde_"
	secretBytes = 32
	idBytes     = 5 // 8 letters or digits
)

// Token describes a bearer token; its secret is known only to whom it was shown.
type Token struct {
	ID      string    `json:"id"`
	Login   string    `json:"login,omitempty"`  // of the user, or
	Ingest  string    `json:"ingest,omitempty"` // the name of an ingest token: may export, nothing else
	Label   string    `json:"label,omitempty"`  // at most 120 characters
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // from then on it is refused; zero: never
	LastUse time.Time `json:"lastUse,omitzero"` // to the minute
}

// tokenRecord is a token as stored: with the SHA-256 of its secret. A slow hash
// is for passwords; these are 256 random bits.
type tokenRecord struct {
	Token
	Digest []byte `json:"sha256"`
}

// Bootstrap makes the user master, with a token, in a file without users. It
// returns the token, "" when there were users already. A given secret is used
// as the token instead of a random one: ASCII without spaces, at least 16
// bytes, else ErrInvalid.
func (db *DB) Bootstrap(secret string) (token string, err error) {
	err = db.update(func(tx *bolt.Tx) error {
		token = ""
		if key, _ := tx.Bucket(bucketUsers).Cursor().First(); key != nil {
			return nil
		}
		s := secret
		if s == "" {
			s = newSecret()
		} else if err := checkSecret(s); err != nil {
			return err
		}
		now := db.now().UTC()
		if err := addUser(tx, User{Login: MasterRole, Role: MasterRole, Created: now}); err != nil {
			return err
		}
		if _, err := addToken(tx, s, Token{Login: MasterRole, Label: "first start", Created: now}); err != nil {
			return err
		}
		token = s
		return nil
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// CreateToken makes a token for a login; expires zero means never. ErrNotFound
// for the login, ErrInvalid for a label or a time that is past.
func (db *DB) CreateToken(login, label string, expires time.Time) (secret string, t Token, err error) {
	return db.newToken(Token{Login: login, Label: label, Expires: expires})
}

// CreateIngestToken makes a token that may export telemetry and nothing else.
// The name follows the rule of logins; several tokens may share it.
func (db *DB) CreateIngestToken(name, label string, expires time.Time) (secret string, t Token, err error) {
	if err := checkLogin("ingest", name); err != nil {
		return "", Token{}, err
	}
	return db.newToken(Token{Ingest: name, Label: label, Expires: expires})
}

func (db *DB) newToken(t Token) (string, Token, error) {
	t.Label, t.Created = strings.TrimSpace(t.Label), db.now().UTC()
	if err := checkText("label", t.Label, 0, maxLabel); err != nil {
		return "", Token{}, err
	}
	if !t.Expires.IsZero() {
		t.Expires = t.Expires.UTC()
		if !t.Expires.After(t.Created) {
			return "", Token{}, refuse(ErrInvalid, "expires: got %s, want a time after now, %s",
				t.Expires.Format(time.RFC3339), t.Created.Format(time.RFC3339))
		}
	}
	secret := newSecret()
	err := db.update(func(tx *bolt.Tx) error {
		if t.Ingest == "" {
			u, err := findUser(tx, t.Login)
			if err != nil {
				return err
			}
			t.Login = u.Login
		}
		var err error
		t, err = addToken(tx, secret, t)
		return err
	})
	if err != nil {
		return "", Token{}, err
	}
	return secret, t, nil
}

// addToken stores a token under a new id.
func addToken(tx *bolt.Tx, secret string, t Token) (Token, error) {
	digest := sha256.Sum256([]byte(secret))
	if tx.Bucket(bucketTokenDigests).Get(digest[:]) != nil {
		return t, refuse(ErrExists, "secret: it is the secret of a token already, want another one")
	}
	for t.ID = newID(); tx.Bucket(bucketTokens).Get([]byte(t.ID)) != nil; {
		t.ID = newID()
	}
	if err := put(tx, bucketTokenDigests, digest[:], t.ID); err != nil {
		return t, err
	}
	return t, put(tx, bucketTokens, []byte(t.ID), tokenRecord{Token: t, Digest: digest[:]})
}

func newSecret() string {
	var b [secretBytes]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

func newID() string {
	var b [idBytes]byte
	rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// Tokens lists all tokens, newest first.
func (db *DB) Tokens() (tokens []Token, err error) {
	pending := db.uses.snapshot()
	err = db.view(func(tx *bolt.Tx) error {
		return each(tx, bucketTokens, func(_ []byte, t tokenRecord) error {
			if at := pending[t.ID]; t.LastUse.Before(at) {
				t.LastUse = at
			}
			tokens = append(tokens, t.Token)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(tokens, func(a, b Token) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	return tokens, nil
}

// RevokeToken removes a token by its id. It acts at once. ErrNotFound.
func (db *DB) RevokeToken(id string) (Token, error) {
	var t tokenRecord
	err := db.update(func(tx *bolt.Tx) error {
		var found bool
		var err error
		if t, found, err = get[tokenRecord](tx, bucketTokens, []byte(id)); err != nil {
			return err
		}
		if !found {
			return refuseValue(ErrNotFound, "id", id, "the id of a token that exists")
		}
		return removeToken(tx, t)
	})
	if err != nil {
		return Token{}, err
	}
	return t.Token, nil
}

func removeToken(tx *bolt.Tx, t tokenRecord) error {
	if err := tx.Bucket(bucketTokenDigests).Delete(t.Digest); err != nil {
		return err
	}
	return tx.Bucket(bucketTokens).Delete([]byte(t.ID))
}

// removeTokens removes all tokens of a login.
func removeTokens(tx *bolt.Tx, login string) (int, error) {
	var theirs []tokenRecord // bbolt forbids deleting while walking
	err := each(tx, bucketTokens, func(_ []byte, t tokenRecord) error {
		if t.Login == login {
			theirs = append(theirs, t)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, t := range theirs {
		if err := removeToken(tx, t); err != nil {
			return 0, err
		}
	}
	return len(theirs), nil
}
