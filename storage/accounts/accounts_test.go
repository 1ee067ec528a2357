package accounts_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sonde/storage/accounts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are a small product: five tools, two for every member, one for
// masters alone.
func options() accounts.Options {
	return accounts.Options{
		Tools:       []string{"logs.query", "customers.list", "users.create", "users.set_role", "roles.create"},
		MemberTools: []string{"logs.query", "customers.list"},
		MasterOnly:  []string{"roles.create"},
	}
}

// clock is a time that tests set.
type clock struct{ unixNano atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.set(time.Date(2026, 11, 30, 12, 0, 30, 0, time.UTC))
	return c
}
func (c *clock) now() time.Time      { return time.Unix(0, c.unixNano.Load()) }
func (c *clock) set(t time.Time)     { c.unixNano.Store(t.UnixNano()) }
func (c *clock) add(d time.Duration) { c.unixNano.Add(int64(d)) }

// file is a DB that a test may close and open again.
type file struct {
	*accounts.DB
	path string
	o    accounts.Options
}

func open(t testing.TB, o accounts.Options) *file {
	t.Helper()
	f := &file{path: filepath.Join(t.TempDir(), "accounts.db"), o: o}
	f.open(t)
	t.Cleanup(func() {
		if err := f.Check(); err != nil && !errors.Is(err, accounts.ErrClosed) {
			t.Errorf("Check() = %v", err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return f
}

func (f *file) open(t testing.TB) {
	t.Helper()
	db, err := accounts.Open(f.path, f.o)
	if err != nil {
		t.Fatal(err)
	}
	f.DB = db
}

func (f *file) reopen(t testing.TB) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f.open(t)
}

// master makes the first user and returns them as a caller, with the token.
func (f *file) master(t testing.TB) (accounts.Principal, string) {
	t.Helper()
	token, err := f.Bootstrap("")
	if err != nil || token == "" {
		t.Fatalf("Bootstrap() = %q, %v, want a token", token, err)
	}
	return f.signIn(t, token), token
}

func (f *file) signIn(t testing.TB, token string) accounts.Principal {
	t.Helper()
	p, err := f.Authenticate(token)
	if err != nil {
		t.Fatalf("Authenticate() = %v", err)
	}
	return p
}

// user makes a user and returns them as a caller, with a token.
func (f *file) user(t testing.TB, by accounts.Principal, login, role string) (accounts.Principal, string) {
	t.Helper()
	if _, err := f.CreateUser(by, accounts.NewUser{Login: login, Role: role}); err != nil {
		t.Fatalf("CreateUser(%q, %q) = %v", login, role, err)
	}
	token, _, err := f.CreateToken(login, "", time.Time{})
	if err != nil {
		t.Fatalf("CreateToken(%q) = %v", login, err)
	}
	return f.signIn(t, token), token
}

func (f *file) role(t testing.TB, by accounts.Principal, name string, tools ...string) {
	t.Helper()
	if _, err := f.CreateRole(by, accounts.Role{Name: name, Tools: tools}); err != nil {
		t.Fatalf("CreateRole(%q, %v) = %v", name, tools, err)
	}
}

// isNoToken reports whether an error is ErrNoToken and says nothing more.
func isNoToken(err error) bool {
	return errors.Is(err, accounts.ErrNoToken) && err.Error() == accounts.ErrNoToken.Error()
}

// wantErr checks the kind of an error and its whole text.
func wantErr(t testing.TB, call string, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || err == nil || err.Error() != text {
		t.Errorf("%s = %v (is %v: %t)\nwant %s", call, err, kind, errors.Is(err, kind), text)
	}
}

func diff(t testing.TB, call string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: got %+v, want %+v (-want +got):\n%s", call, got, want, d)
	}
}

func TestOpenMakesAPrivateFile(t *testing.T) {
	f := open(t, options())
	info, err := os.Stat(f.path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(f.path), "*"))
	diff(t, "files", left, []string{f.path})
	if err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, bytes.Repeat([]byte("no bbolt file "), 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(dir, "a.db")
	for _, c := range []struct {
		path string
		o    accounts.Options
		want string
	}{
		{garbage, options(), "cannot open accounts %q: invalid database"},
		{filepath.Join(dir, "none", "a.db"), options(), "cannot open accounts %[1]q: open %[1]s: no such file or directory"},
		{good, accounts.Options{Tools: []string{"a", "a"}}, `cannot open accounts %q: options: tool "a" is empty or named twice`},
		{good, accounts.Options{Tools: []string{"a"}, MemberTools: []string{"b"}}, `cannot open accounts %q: options: tool "b" is not in Tools`},
		{good, accounts.Options{Tools: []string{"a"}, MasterOnly: []string{"b"}}, `cannot open accounts %q: options: tool "b" is not in Tools`},
		{good, accounts.Options{Tools: []string{"a"}, MasterOnly: []string{"a"}, MemberTools: []string{"a"}},
			`cannot open accounts %q: options: tool "a" is in MemberTools and in MasterOnly`},
	} {
		db, err := accounts.Open(c.path, c.o)
		if want := fmt.Sprintf(c.want, c.path); err == nil || err.Error() != want {
			t.Errorf("Open(%q, %v) = %v, want %s", c.path, c.o, err, want)
		}
		if err == nil {
			db.Close()
		}
	}
}

// TestOpenOfACutFile cuts a file of some size at every page.
func TestOpenOfACutFile(t *testing.T) {
	f := open(t, options())
	if _, err := f.Bootstrap(""); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if _, _, err := f.CreateToken("master", fmt.Sprintf("token %d", i), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 2 * os.Getpagesize(); size < len(whole)/2; size += os.Getpagesize() {
		path := filepath.Join(t.TempDir(), "cut.db")
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if db, err := accounts.Open(path, options()); err == nil {
			t.Errorf("Open of the first %d of %d bytes succeeded", size, len(whole))
			db.Close()
		}
	}
}

func TestOpenOfAFileInUse(t *testing.T) {
	f := open(t, options())
	start := time.Now()
	db, err := accounts.Open(f.path, options())
	if !errors.Is(err, accounts.ErrLocked) {
		t.Errorf("Open of an open file = %v, want ErrLocked", err)
	}
	if err == nil {
		db.Close()
	}
	if took := time.Since(start); took < 900*time.Millisecond || took > 5*time.Second {
		t.Errorf("Open of an open file took %v, want about 1 s", took)
	}
}

func TestCloseTwiceAndAfter(t *testing.T) {
	f := open(t, options())
	boss, token := f.master(t)
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	}
	_, authErr := f.Authenticate(token)
	_, _, usersErr := f.Users(0)
	_, roleErr := f.CreateRole(boss, accounts.Role{Name: "late", Tools: []string{"logs.query"}})
	_, _, customersErr := f.Customers(1)
	for call, err := range map[string]error{
		"Authenticate": authErr, "Users": usersErr, "CreateRole": roleErr, "Customers": customersErr,
		"CountThread": f.CountThread("master"), "Audit": f.Audit(accounts.AuditEntry{}), "Check": f.Check(),
	} {
		if !errors.Is(err, accounts.ErrClosed) {
			t.Errorf("%s after Close = %v, want ErrClosed", call, err)
		}
	}
}

func TestBootstrap(t *testing.T) {
	f := open(t, options())
	boss, token := f.master(t)
	if boss.Login != "master" || boss.Role.Name != "master" || !boss.May("roles.create") {
		t.Errorf("first principal = %+v, want the master", boss)
	}
	f.reopen(t)
	if again, err := f.Bootstrap("a secret that isn't looked at"); again != "" || err != nil {
		t.Errorf("second Bootstrap = %q, %v, want nothing done", again, err)
	}
	f.signIn(t, token)
	users, total, err := f.Users(0)
	if err != nil || total != 1 || len(users) != 1 {
		t.Errorf("Users = %v, %d, %v, want the master alone", users, total, err)
	}
}

func TestBootstrapSecret(t *testing.T) {
	f := open(t, options())
	for secret, text := range map[string]string{
		"short-of-16-byt":    "secret: got 15 bytes, want at least 16 bytes without spaces",
		"has a space, alas!": "secret: got 18 bytes with a space or a character outside ASCII, want at least 16 bytes without spaces",
		"has-a-newline-al\n": "secret: got 17 bytes with a space or a character outside ASCII, want at least 16 bytes without spaces",
		"has-an-umlaut-äöü!": "secret: got 21 bytes with a space or a character outside ASCII, want at least 16 bytes without spaces",
	} {
		_, err := f.Bootstrap(secret)
		wantErr(t, fmt.Sprintf("Bootstrap(%q)", secret), err, accounts.ErrInvalid, text)
	}
	if _, total, _ := f.Users(0); total != 0 {
		t.Errorf("%d users after refused secrets, want none", total)
	}
	const secret = "exactly-16-bytes"
	if token, err := f.Bootstrap(secret); token != secret || err != nil {
		t.Fatalf("Bootstrap(%q) = %q, %v", secret, token, err)
	}
	f.reopen(t)
	f.signIn(t, secret)
}
