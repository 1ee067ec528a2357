package accounts_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/storage/accounts"
)

func TestCreateToken(t *testing.T) {
	at := newClock()
	o := options()
	o.Now = at.now
	f := open(t, o)
	f.master(t)
	at.add(time.Second)
	secret, got, err := f.CreateToken("MASTER", " laptop ", at.now().Add(90*24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	body, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(secret, "sonde_"))
	if !strings.HasPrefix(secret, "sonde_") || err != nil || len(body) != 32 {
		t.Errorf("secret = %q, want sonde_ and 32 bytes in base64url", secret)
	}
	if !regexp.MustCompile(`^[a-z2-7]{8}$`).MatchString(got.ID) {
		t.Errorf("id = %q, want 8 letters or digits", got.ID)
	}
	want := accounts.Token{
		ID: got.ID, Login: "master", Label: "laptop",
		Created: at.now().UTC(), Expires: at.now().UTC().Add(90 * 24 * time.Hour),
	}
	diff(t, "CreateToken", got, want)

	at.add(time.Second)
	_, ingest, err := f.CreateIngestToken("shop", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "CreateIngestToken", ingest, accounts.Token{ID: ingest.ID, Ingest: "shop", Created: at.now().UTC()})

	f.reopen(t)
	tokens, err := f.Tokens()
	if err != nil || len(tokens) != 3 {
		t.Fatalf("Tokens() = %v, %v, want three", tokens, err)
	}
	diff(t, "Tokens()[:2]", tokens[:2], []accounts.Token{ingest, want})
	diff(t, "Tokens()[2]", tokens[2].Label, "first start")

	gone, err := f.RevokeToken(got.ID)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "RevokeToken", gone, want)
	if tokens, _ := f.Tokens(); len(tokens) != 2 {
		t.Errorf("Tokens() after a revoke = %v, want two", tokens)
	}
}

func TestCreateTokenRefuses(t *testing.T) {
	at := newClock()
	o := options()
	o.Now = at.now
	f := open(t, o)
	f.master(t)
	_, _, err := f.CreateToken("nobody", "", time.Time{})
	wantErr(t, "CreateToken(nobody)", err, accounts.ErrNotFound, `login: got "nobody", want the login of a user that exists`)
	_, _, err = f.CreateToken("", "", time.Time{})
	wantErr(t, `CreateToken("")`, err, accounts.ErrNotFound, `login: got "", want the login of a user that exists`)
	_, _, err = f.CreateToken("master", "two\nlines", time.Time{})
	wantErr(t, "CreateToken with a bad label", err, accounts.ErrInvalid, `label: got "two\nlines", want at most 120 characters on one line, no control characters`)
	_, _, err = f.CreateToken("master", "", at.now())
	wantErr(t, "CreateToken that expires now", err, accounts.ErrInvalid, `expires: got 2026-11-30T12:00:30Z, want a time after now, 2026-11-30T12:00:30Z`)
	_, _, err = f.CreateIngestToken("a b", "", time.Time{})
	wantErr(t, "CreateIngestToken(a b)", err, accounts.ErrInvalid, `ingest: got "a b", want 1-39 of letters, digits, _ . - starting with a letter or digit`)
	_, err = f.RevokeToken("nothing")
	wantErr(t, "RevokeToken(nothing)", err, accounts.ErrNotFound, `id: got "nothing", want the id of a token that exists`)
	_, err = f.RevokeToken("")
	wantErr(t, `RevokeToken("")`, err, accounts.ErrNotFound, `id: got "", want the id of a token that exists`)
}

// An ingest token may be made before the first user, with its secret free to no
// one else.
func TestBootstrapAfterIngestToken(t *testing.T) {
	f := open(t, options())
	secret, _, err := f.CreateIngestToken("shop", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Bootstrap(secret)
	wantErr(t, "Bootstrap with a token's secret", err, accounts.ErrExists, `secret: it is the secret of a token already, want another one`)
	if _, total, _ := f.Users(0); total != 0 {
		t.Errorf("%d users after a refused Bootstrap, want none", total)
	}
	f.master(t)
}

func TestFileHoldsNoSecret(t *testing.T) {
	f := open(t, options())
	boss, first := f.master(t)
	_, second := f.user(t, boss, "bob", "")
	ingest, _, err := f.CreateIngestToken("shop", "label of shop", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.AuthenticateIngest(ingest); err != nil {
		t.Fatal(err)
	}
	if err := f.Audit(accounts.AuditEntry{Login: "bob", Tool: "users.create", Outcome: "ok"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte("label of shop")) {
		t.Error("the file doesn't show a label: this test looks at the wrong bytes")
	}
	for _, token := range []string{first, second, ingest} {
		body, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, "sonde_"))
		for form, needle := range map[string][]byte{
			"token": []byte(token), "half of it": []byte(token[6:30]), "bytes": body,
			"base64": []byte(base64.StdEncoding.EncodeToString(body)[:30]), "hex": fmt.Appendf(nil, "%x", body),
		} {
			if bytes.Contains(raw, needle) {
				t.Errorf("the file holds the %s of a secret", form)
			}
		}
	}
}

func TestLastUse(t *testing.T) {
	at := newClock()
	o := options()
	o.Now = at.now
	f := open(t, o)
	boss, _ := f.master(t)
	if _, err := f.CreateUser(boss, accounts.NewUser{Login: "ada"}); err != nil {
		t.Fatal(err)
	}
	tokens := []string{mustToken(t, f, "ada"), mustToken(t, f, "ada")}
	user := func() accounts.User {
		users, _, err := f.Users(1)
		if err != nil {
			t.Fatal(err)
		}
		return users[0]
	}
	used := func(token string) time.Time {
		t.Helper()
		all, err := f.Tokens()
		if err != nil {
			t.Fatal(err)
		}
		id := f.signIn(t, token).TokenID
		for _, one := range all {
			if one.ID == id {
				return one.LastUse
			}
		}
		t.Fatalf("no token %s", id)
		return time.Time{}
	}
	if u := user(); !u.LastSignIn.IsZero() {
		t.Errorf("last sign-in = %v before the first, want zero", u.LastSignIn)
	}
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f.signIn(t, tokens[0])
	diff(t, "last sign-in in memory", user().LastSignIn, noon)
	at.set(noon.Add(10*time.Minute + 59*time.Second))
	f.signIn(t, tokens[1])
	diff(t, "last sign-in by the other token", user().LastSignIn, noon.Add(10*time.Minute))
	diff(t, "last use of the first token", used(tokens[0]), noon)
	diff(t, "last use after that look", used(tokens[0]), noon.Add(10*time.Minute))

	f.reopen(t)
	diff(t, "last sign-in reopened", user().LastSignIn, noon.Add(10*time.Minute))
	diff(t, "last use reopened", used(tokens[1]), noon.Add(10*time.Minute))

	// A sign-in outlives the token it was made with, even one not yet written.
	at.add(time.Hour)
	p := f.signIn(t, tokens[0])
	if _, err := f.RevokeToken(p.TokenID); err != nil {
		t.Fatal(err)
	}
	f.reopen(t)
	diff(t, "last sign-in after the revoke", user().LastSignIn, noon.Add(70*time.Minute))

	// A clock that steps back takes nothing back.
	at.set(noon)
	for _, token := range []string{tokens[1], mustToken(t, f, "ada")} {
		f.signIn(t, token)
		diff(t, "last sign-in after the clock stepped back", user().LastSignIn, noon.Add(70*time.Minute))
		f.reopen(t)
		diff(t, "last sign-in after the clock stepped back, reopened", user().LastSignIn, noon.Add(70*time.Minute))
	}
}

// pass lets time go by in a bubble, and all that was due then happen.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the bubble's clock is the condition, and costs no time
	synctest.Wait()
}

// Requests cost no disk writes; about a minute later one write holds them all.
func TestUsesAreWrittenOnceAMinute(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		path := dir + "/accounts.db"
		db, err := accounts.Open(path, options())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		token, err := db.Bootstrap("")
		if err != nil {
			t.Fatal(err)
		}
		content := func() []byte {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		before := content()
		for range 100 {
			if _, err := db.Authenticate(token); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(before, content()) {
			t.Error("the file changed during requests, want it written later")
		}
		pass(61 * time.Second)
		after := content()
		if bytes.Equal(before, after) {
			t.Error("the file didn't change in the minute after requests")
		}
		pass(10 * time.Minute)
		if !bytes.Equal(after, content()) {
			t.Error("the file changed without requests")
		}

		// Any write of a user, role or token takes the uses along.
		if _, err := db.Authenticate(token); err != nil {
			t.Fatal(err)
		}
		if _, _, err := db.CreateToken("master", "", time.Time{}); err != nil {
			t.Fatal(err)
		}
		after = content()
		pass(10 * time.Minute)
		if !bytes.Equal(after, content()) {
			t.Error("uses that a write took along were written again")
		}
	})
}
