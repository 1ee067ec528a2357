package accounts_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sonde/storage/accounts"
)

func TestDefaultDeny(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	f.role(t, boss, "asking", "logs.query")
	asker, _ := f.user(t, boss, "ada", "asking")
	member, _ := f.user(t, boss, "bob", "")
	for _, c := range []struct {
		who accounts.Principal
		may []string
	}{
		{boss, options().Tools},
		{member, []string{"logs.query", "customers.list"}},
		{asker, []string{"logs.query"}},
		{accounts.Principal{}, nil},
	} {
		for _, tool := range append(options().Tools, "chats.list", "logs_query", "LOGS.QUERY", "") {
			if got, want := c.who.May(tool), slices.Contains(c.may, tool); got != want {
				t.Errorf("%s.May(%q) = %t, want %t", c.who.Login, tool, got, want)
			}
		}
	}
	// The list of master-only tools travels with the principal.
	asker.Role.Tools = append(asker.Role.Tools, "roles.create")
	if asker.May("roles.create") {
		t.Error("May(roles.create) = true for a role that isn't master, want false whatever its list says")
	}
	// What one caller does to their copy doesn't reach the next one.
	boss.Role.Tools[0] = "mine"
	if again := f.signIn(t, mustToken(t, f, "master")); again.Role.Tools[0] != "logs.query" {
		t.Errorf("tools after a caller wrote to theirs = %v", again.Role.Tools)
	}
}

func mustToken(t testing.TB, f *file, login string) string {
	t.Helper()
	token, _, err := f.CreateToken(login, "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Never existed, expired, revoked, of a deleted user, of ingest, no token at
// all: nothing tells them apart.
func TestAllBadTokensLookTheSame(t *testing.T) {
	at := newClock()
	o := options()
	o.Now = at.now
	f := open(t, o)
	boss, good := f.master(t)

	expiring, _, err := f.CreateToken("master", "", at.now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	revoked, r, err := f.CreateToken("master", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	_, deleted := f.user(t, boss, "bob", "")
	ingest, i, err := f.CreateIngestToken("shop", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{expiring, revoked, deleted} {
		f.signIn(t, token)
	}
	at.add(time.Hour - 1)
	f.signIn(t, expiring)
	at.add(1) // Expires is the first instant at which it is refused
	if _, err := f.RevokeToken(r.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.DeleteUser(boss, "bob"); err != nil {
		t.Fatal(err)
	}
	if err := f.AuthenticateIngest(ingest); err != nil {
		t.Errorf("AuthenticateIngest with an ingest token = %v, want nil", err)
	}
	if err := f.AuthenticateIngest(good); err != nil {
		t.Errorf("AuthenticateIngest with a user's token = %v, want nil", err)
	}
	bad := map[string]string{
		"unknown": "sonde_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "expired": expiring, "revoked": revoked,
		"deleted": deleted, "empty": "", "start of a good one": good[:len(good)-1], "id": i.ID,
		"digest": fmt.Sprintf("%x", sha256.Sum256([]byte(good))),
	}
	check := func(when string) {
		for what, token := range bad {
			if p, err := f.Authenticate(token); !isNoToken(err) || p.Login != "" {
				t.Errorf("%s: Authenticate(%s) = %+v, %v, want the bare ErrNoToken", when, what, p, err)
			}
			if err := f.AuthenticateIngest(token); !isNoToken(err) {
				t.Errorf("%s: AuthenticateIngest(%s) = %v, want the bare ErrNoToken", when, what, err)
			}
		}
		if _, err := f.Authenticate(ingest); !isNoToken(err) {
			t.Errorf("%s: Authenticate(ingest) = %v, want the bare ErrNoToken", when, err)
		}
	}
	check("open")
	f.reopen(t)
	check("reopened")
	if _, err := f.RevokeToken(i.ID); err != nil {
		t.Fatal(err)
	}
	if err := f.AuthenticateIngest(ingest); !isNoToken(err) {
		t.Errorf("AuthenticateIngest with a revoked ingest token = %v, want ErrNoToken", err)
	}
}

// Once a write has returned, no later request is answered from before it,
// however many are under way.
func TestChangesActAtOnce(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	f.role(t, boss, "asking", "logs.query")
	_, token := f.user(t, boss, "bob", "")

	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { // keeps filling the cache from both sides of each write
			for {
				select {
				case <-stop:
					return
				default:
					if _, err := f.Authenticate(token); err != nil {
						t.Errorf("Authenticate = %v", err)
						return
					}
				}
			}
		})
	}
	for i := range 100 {
		role := []string{"asking", accounts.MemberRole}[i%2]
		if _, err := f.SetRole(boss, "bob", role); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if p := f.signIn(t, token); p.Role.Name != role {
				t.Fatalf("change %d: role = %s after SetRole(%s)", i, p.Role.Name, role)
			}
		}
	}
	close(stop)
	wg.Wait()
	if _, _, err := f.DeleteUser(boss, "bob"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Authenticate(token); !isNoToken(err) {
		t.Errorf("Authenticate after the delete = %v, want ErrNoToken", err)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	for _, users := range []int{1, 1000} {
		f := open(b, options())
		boss, token := f.master(b)
		for i := range users - 1 {
			login := fmt.Sprintf("u%d", i)
			if _, err := f.CreateUser(boss, accounts.NewUser{Login: login}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("known/users=%d", users), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Authenticate(token); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("parallel/users=%d", users), func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := f.Authenticate(token); err != nil {
						b.Error(err)
					}
				}
			})
		})
		b.Run(fmt.Sprintf("unknown/users=%d", users), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Authenticate(token + "x"); !isNoToken(err) {
					b.Fatal(err)
				}
			}
		})
	}
}
