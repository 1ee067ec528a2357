package accounts_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"sonde/storage/accounts"
)

// The stored form is a promise to older files: a change of these bytes needs a
// new version.
func TestStoredForm(t *testing.T) {
	u := accounts.User{
		Login: "Ada", Email: "a@b.c", Name: "Ada L", Role: "member",
		Created: time.Date(2026, 11, 30, 12, 0, 0, 1, time.UTC), LastSignIn: time.Date(2026, 11, 30, 12, 1, 0, 0, time.UTC), Threads: 7,
	}
	raw, err := accounts.Encode(u)
	if err != nil {
		t.Fatal(err)
	}
	want := "\x01\x17\x8a\xf7\x84" + `{"login":"Ada","email":"a@b.c","name":"Ada L","role":"member",` +
		`"created":"2026-11-30T12:00:00.000000001Z","lastSignIn":"2026-11-30T12:01:00Z","threadCount":7}`
	if string(raw) != want {
		t.Errorf("encode = %q\nwant %q", raw, want)
	}
	back, err := accounts.DecodeUser([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "decode", back, u)
}

func TestDamagedValues(t *testing.T) {
	raw, err := accounts.Encode(accounts.User{Login: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for bit := range 8 {
			bad := bytes.Clone(raw)
			bad[i] ^= 1 << bit
			if u, err := accounts.DecodeUser(bad); err == nil {
				t.Errorf("decode with bit %d of byte %d turned = %+v, want an error", bit, i, u)
			}
		}
	}
	for n := range raw {
		if u, err := accounts.DecodeUser(raw[:n]); err == nil {
			t.Errorf("decode of %d of %d bytes = %+v, want an error", n, len(raw), u)
		}
	}
}

// edit changes the closed file under the package's feet.
func edit(t *testing.T, f *file, fn func(tx *bolt.Tx) error) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := bolt.Open(f.path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Update(fn), b.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOpenOfALaterFormat(t *testing.T) {
	f := open(t, options())
	edit(t, f, func(tx *bolt.Tx) error {
		raw, err := accounts.Encode(2)
		if err != nil {
			return err
		}
		return tx.Bucket([]byte("meta")).Put([]byte("format"), raw)
	})
	db, err := accounts.Open(f.path, options())
	if want := fmt.Sprintf("cannot open accounts %q: file has format 2, this program reads 1", f.path); err == nil || err.Error() != want {
		t.Errorf("Open = %v, want %s", err, want)
	}
	if err == nil {
		db.Close()
	}
}

func TestCheckFinds(t *testing.T) {
	drop := func(bucket, key string) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucket)).Delete([]byte(key)) }
	}
	for _, c := range []struct {
		what   string
		damage func(tx *bolt.Tx) error
		want   string
	}{
		{"nothing", func(*bolt.Tx) error { return nil }, ""},
		{"a user gone", drop("users", "bob"), `is of user "bob", who isn't there`},
		{"a role gone", drop("roles", "asking"), `user "bob" has the role "asking", which isn't there`},
		{"an email gone", drop("user_emails", "bob@example.com"), `email of user "bob" leads to ""`},
		{"a customer's email gone", drop("customer_emails", "ada@example.com"), `email of customer "c1" leads to ""`},
		{"an index entry too many", func(tx *bolt.Tx) error {
			raw, err := accounts.Encode("bob")
			return errors.Join(err, tx.Bucket([]byte("user_emails")).Put([]byte("x@y.z"), raw))
		}, "index user_emails has 2 entries, want 1"},
		{"digests gone", func(tx *bolt.Tx) error {
			c := tx.Bucket([]byte("token_digests")).Cursor()
			c.First()
			return c.Delete()
		}, `leads to ""`},
		{"an audit line gone", func(tx *bolt.Tx) error {
			c := tx.Bucket([]byte("audit")).Cursor()
			c.First()
			return c.Delete()
		}, "audit_count is 1, want 0"},
		{"a bit of a user turned", func(tx *bolt.Tx) error {
			raw := bytes.Clone(tx.Bucket([]byte("users")).Get([]byte("bob")))
			raw[20] ^= 1
			return tx.Bucket([]byte("users")).Put([]byte("bob"), raw)
		}, "users 626f62: value is damaged: wrong checksum"},
	} {
		t.Run(c.what, func(t *testing.T) {
			f := &file{path: filepath.Join(t.TempDir(), "accounts.db"), o: options()}
			f.open(t)
			boss, _ := f.master(t)
			f.role(t, boss, "asking", "logs.query")
			_, userErr := f.CreateUser(boss, accounts.NewUser{Login: "bob", Email: "bob@example.com", Role: "asking"})
			_, customerErr := f.CreateCustomer("Ada", "ada@example.com", "")
			if err := errors.Join(userErr, customerErr, f.Audit(accounts.AuditEntry{Tool: "x"})); err != nil {
				t.Fatal(err)
			}
			mustToken(t, f, "bob")
			edit(t, f, c.damage)
			f.open(t)
			defer f.Close()
			err := f.Check()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Check() = %v, want %q", err, c.want)
			}
		})
	}
}
