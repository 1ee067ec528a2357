package accounts_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sonde/storage/accounts"
)

func TestCreateUser(t *testing.T) {
	at := newClock()
	o := options()
	o.Now = at.now
	f := open(t, o)
	boss, _ := f.master(t)
	f.role(t, boss, "hiring", "users.create", "logs.query")

	got, err := f.CreateUser(boss, accounts.NewUser{Login: "Ada.L-1", Email: " Ada@Example.com ", Name: " Ada Lovelace ", Role: "hiring"})
	if err != nil {
		t.Fatal(err)
	}
	want := accounts.User{Login: "Ada.L-1", Email: "Ada@Example.com", Name: "Ada Lovelace", Role: "hiring", Created: at.now().UTC()}
	diff(t, "CreateUser", got, want)
	bob, err := f.CreateUser(boss, accounts.NewUser{Login: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "role when none is given", bob.Role, accounts.MemberRole)

	f.reopen(t)
	users, total, err := f.Users(2)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "Users(2)", users, []accounts.User{want, bob})
	diff(t, "total", total, 3)
	all, _, err := f.Users(0)
	if err != nil || len(all) != 3 || all[2].Login != "master" {
		t.Errorf("Users(0) = %v, %v, want three up to master", all, err)
	}
}

func TestCreateUserRefuses(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	f.role(t, boss, "hiring", "users.create", "logs.query")
	f.role(t, boss, "asking", "logs.query")
	hirer, _ := f.user(t, boss, "hirer", "hiring")
	if _, err := f.CreateUser(boss, accounts.NewUser{Login: "ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}

	const login = "1-39 of letters, digits, _ . - starting with a letter or digit"
	const email = "a bare address like ada@example.com of at most 254 bytes"
	long := strings.Repeat("a", 40)
	for _, c := range []struct {
		caller accounts.Principal
		user   accounts.NewUser
		kind   error
		text   string
	}{
		{boss, accounts.NewUser{Login: "bad login!"}, accounts.ErrInvalid, `login: got "bad login!", want ` + login},
		{boss, accounts.NewUser{Login: ""}, accounts.ErrInvalid, `login: got "", want ` + login},
		{boss, accounts.NewUser{Login: "_x"}, accounts.ErrInvalid, `login: got "_x", want ` + login},
		{boss, accounts.NewUser{Login: "ada\n"}, accounts.ErrInvalid, `login: got "ada\n", want ` + login},
		{boss, accounts.NewUser{Login: "ädä"}, accounts.ErrInvalid, `login: got "ädä", want ` + login},
		{boss, accounts.NewUser{Login: long}, accounts.ErrInvalid, `login: got "` + long + `", want ` + login},
		{boss, accounts.NewUser{Login: strings.Repeat("é", 60)}, accounts.ErrInvalid, `login: got "` + strings.Repeat("é", 50) + `"…, want ` + login},
		{boss, accounts.NewUser{Login: "x", Email: "nowhere"}, accounts.ErrInvalid, `email: got "nowhere", want ` + email},
		{boss, accounts.NewUser{Login: "x", Email: "Ada <ada@example.com>"}, accounts.ErrInvalid, `email: got "Ada <ada@example.com>", want ` + email},
		{boss, accounts.NewUser{Login: "x", Email: "<a@b.c>"}, accounts.ErrInvalid, `email: got "<a@b.c>", want ` + email},
		{boss, accounts.NewUser{Login: "x", Email: "a@b.c (me)"}, accounts.ErrInvalid, `email: got "a@b.c (me)", want ` + email},
		{boss, accounts.NewUser{Login: "x", Email: "a@b.c, d@e.f"}, accounts.ErrInvalid, `email: got "a@b.c, d@e.f", want ` + email},
		{boss, accounts.NewUser{Login: "x", Email: "a\u202e@b.c"}, accounts.ErrInvalid, `email: got "a\u202e@b.c", want ` + email},
		{boss, accounts.NewUser{Login: "x", Email: strings.Repeat("a", 251) + "@b.c"}, accounts.ErrInvalid, `email: got "` + strings.Repeat("a", 100) + `"…, want ` + email},
		{boss, accounts.NewUser{Login: "x", Name: "a\x1b[31mb"}, accounts.ErrInvalid, `name: got "a\x1b[31mb", want at most 200 characters on one line, no control characters`},
		{boss, accounts.NewUser{Login: "ADA"}, accounts.ErrExists, `login: got "ADA", want a login that no user has, in any case of letters`},
		{boss, accounts.NewUser{Login: "x", Email: "ADA@example.COM"}, accounts.ErrExists, `email: got "ADA@example.COM", want an email that no user has`},
		{boss, accounts.NewUser{Login: "x", Role: "none"}, accounts.ErrNotFound, `role: got "none", want a role that exists; you may give master, member, asking, hiring`},
		{hirer, accounts.NewUser{Login: "x", Role: "none"}, accounts.ErrNotFound, `role: got "none", want a role that exists; you may give asking, hiring`},
		{hirer, accounts.NewUser{Login: "x", Role: "master"}, accounts.ErrForbidden, `role: got "master", want a role whose tools are all among your own; you may give asking, hiring`},
		{hirer, accounts.NewUser{Login: "x"}, accounts.ErrForbidden, `role: got "member", want a role whose tools are all among your own; you may give asking, hiring`},
		{accounts.Principal{}, accounts.NewUser{Login: "x"}, accounts.ErrForbidden, `caller: got "", want a user that exists`},
		{accounts.Principal{Login: "ghost", Role: boss.Role}, accounts.NewUser{Login: "x"}, accounts.ErrForbidden, `caller: got "ghost", want a user that exists`},
	} {
		_, err := f.CreateUser(c.caller, c.user)
		wantErr(t, fmt.Sprintf("CreateUser(%s, %+v)", c.caller.Login, c.user), err, c.kind, c.text)
	}
	if _, total, _ := f.Users(1); total != 3 {
		t.Errorf("%d users after refusals, want 3", total)
	}
	if _, err := f.CreateUser(hirer, accounts.NewUser{Login: "x", Role: "asking"}); err != nil {
		t.Errorf("CreateUser with a covered role = %v, want nil", err)
	}
}

// A role that was pretended in the Principal counts for nothing.
func TestCallersAreReadAnew(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	f.role(t, boss, "hiring", "users.create", "users.set_role", "logs.query", "customers.list")
	bob, _ := f.user(t, boss, "bob", accounts.MasterRole)
	if _, err := f.SetRole(boss, "bob", "hiring"); err != nil {
		t.Fatal(err)
	}
	_, err := f.SetRole(bob, "bob", accounts.MasterRole)
	wantErr(t, "SetRole by a master who was one", err, accounts.ErrForbidden,
		`role: got "master", want a role whose tools are all among your own; you may give member, hiring`)
	if _, err := f.RevokeToken(bob.TokenID); err != nil {
		t.Fatal(err)
	}
	_, err = f.SetRole(bob, "bob", accounts.MemberRole)
	wantErr(t, "SetRole by a revoked token", err, accounts.ErrForbidden,
		fmt.Sprintf(`caller: the token %q of "bob" was revoked, want a live one`, bob.TokenID))
}

func TestSetRole(t *testing.T) {
	f := open(t, options())
	boss, bossToken := f.master(t)
	f.role(t, boss, "staff", "logs.query", "customers.list", "users.set_role", "users.create")
	f.role(t, boss, "asking", "logs.query")
	staff, _ := f.user(t, boss, "staff1", "staff")
	_, bobToken := f.user(t, boss, "Bob", accounts.MemberRole)

	for _, c := range []struct {
		caller      accounts.Principal
		login, role string
		kind        error
		text        string
	}{
		{staff, "master", "asking", accounts.ErrForbidden, `login: got "master", want a user whose role has no tools beyond your own`},
		{staff, "staff1", "master", accounts.ErrForbidden, `role: got "master", want a role whose tools are all among your own; you may give member, asking, staff`},
		{staff, "nobody", "asking", accounts.ErrNotFound, `login: got "nobody", want the login of a user that exists`},
		{staff, "bob", "none", accounts.ErrNotFound, `role: got "none", want a role that exists; you may give member, asking, staff`},
		{boss, "master", "member", accounts.ErrConflict, `login: got "master", want a user that is not the last master; make another one master first`},
	} {
		_, err := f.SetRole(c.caller, c.login, c.role)
		wantErr(t, fmt.Sprintf("SetRole(%s, %s, %s)", c.caller.Login, c.login, c.role), err, c.kind, c.text)
	}

	before := f.signIn(t, bobToken)
	got, err := f.SetRole(staff, "BOB", "asking")
	if err != nil || got.Login != "Bob" || got.Role != "asking" {
		t.Errorf("SetRole = %+v, %v, want Bob asking", got, err)
	}
	after := f.signIn(t, bobToken)
	if !before.May("customers.list") || after.May("customers.list") || !after.May("logs.query") {
		t.Errorf("May(customers.list) = %t before, %t after, want true, false", before.May("customers.list"), after.May("customers.list"))
	}
	if _, err := f.SetRole(boss, "bob", accounts.MasterRole); err != nil {
		t.Fatal(err)
	}
	if _, err := f.SetRole(boss, "master", accounts.MemberRole); err != nil {
		t.Errorf("SetRole of one of two masters = %v, want nil", err)
	}
	f.reopen(t)
	if p := f.signIn(t, bossToken); p.Role.Name != accounts.MemberRole {
		t.Errorf("role of master = %s after reopening, want member", p.Role.Name)
	}
}

func TestSetRoleToTheSame(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	if u, err := f.SetRole(boss, "master", accounts.MasterRole); err != nil || u.Role != accounts.MasterRole {
		t.Errorf("SetRole of the last master to master = %+v, %v, want no change", u, err)
	}
}

func TestDeleteUser(t *testing.T) {
	f := open(t, options())
	boss, bossToken := f.master(t)
	f.role(t, boss, "staff", "logs.query", "customers.list", "users.create")
	staff, staffToken := f.user(t, boss, "staff1", "staff")

	_, _, err := f.DeleteUser(staff, "master")
	wantErr(t, "DeleteUser(staff, master)", err, accounts.ErrForbidden, `login: got "master", want a user whose role has no tools beyond your own`)
	_, _, err = f.DeleteUser(boss, "nobody")
	wantErr(t, "DeleteUser(master, nobody)", err, accounts.ErrNotFound, `login: got "nobody", want the login of a user that exists`)
	_, _, err = f.DeleteUser(boss, "master")
	wantErr(t, "DeleteUser(master, master)", err, accounts.ErrConflict, `login: got "master", want a user that is not the last master; make another one master first`)

	if _, err := f.CreateUser(boss, accounts.NewUser{Login: "bob", Email: "bob@example.com"}); err != nil {
		t.Fatal(err)
	}
	var bobs []string
	for range 3 {
		token, _, err := f.CreateToken("BOB", "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		f.signIn(t, token)
		bobs = append(bobs, token)
	}
	u, tokens, err := f.DeleteUser(staff, "bOb")
	if err != nil || u.Login != "bob" || tokens != 3 || u.LastSignIn.IsZero() {
		t.Errorf("DeleteUser(bOb) = %+v, %d, %v, want bob who signed in, 3 tokens", u, tokens, err)
	}
	gone := func() {
		for i, token := range bobs {
			if _, err := f.Authenticate(token); !isNoToken(err) {
				t.Errorf("Authenticate with token %d of a deleted user = %v, want ErrNoToken", i, err)
			}
			if err := f.AuthenticateIngest(token); !isNoToken(err) {
				t.Errorf("AuthenticateIngest with token %d of a deleted user = %v, want ErrNoToken", i, err)
			}
		}
	}
	gone()
	// Login and email are free again, and the old tokens don't come back with them.
	again, err := f.CreateUser(boss, accounts.NewUser{Login: "Bob", Email: "BOB@example.com"})
	if err != nil || !again.LastSignIn.IsZero() {
		t.Errorf("CreateUser(Bob) again = %+v, %v, want one that never signed in", again, err)
	}
	gone()

	if _, tokens, err := f.DeleteUser(staff, "staff1"); err != nil || tokens != 1 {
		t.Errorf("DeleteUser of oneself = %d, %v, want 1 token", tokens, err)
	}
	f.reopen(t)
	gone()
	if _, err := f.Authenticate(staffToken); !isNoToken(err) {
		t.Errorf("Authenticate as the deleted self = %v, want ErrNoToken", err)
	}
	f.signIn(t, bossToken)
}

// With no master-only tool, a role may hold all tools and still not make masters.
func TestOnlyMastersMakeMasters(t *testing.T) {
	o := options()
	o.MasterOnly = nil
	f := open(t, o)
	boss, _ := f.master(t)
	f.role(t, boss, "all", o.Tools...)
	all, _ := f.user(t, boss, "almost", "all")
	_, err := f.SetRole(all, "almost", accounts.MasterRole)
	wantErr(t, "SetRole(almost, master)", err, accounts.ErrForbidden,
		`role: got "master", want a role whose tools are all among your own; you may give member, all`)
	_, _, err = f.DeleteUser(all, "master")
	wantErr(t, "DeleteUser(almost, master)", err, accounts.ErrForbidden, `login: got "master", want a user whose role has no tools beyond your own`)
}

func TestCountThread(t *testing.T) {
	f := open(t, options())
	f.master(t)
	wantErr(t, "CountThread(nobody)", f.CountThread("nobody"), accounts.ErrNotFound, `login: got "nobody", want the login of a user that exists`)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := f.CountThread("MASTER"); err != nil {
				t.Errorf("CountThread(MASTER) = %v", err)
			}
		})
	}
	wg.Wait()
	f.reopen(t)
	users, _, err := f.Users(1)
	if err != nil || users[0].Threads != 20 {
		t.Errorf("Users(1) = %+v, %v, want 20 threads", users, err)
	}
}

// Two masters who demote or delete each other at once: one of them stays.
func TestMastersRace(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	for round := range 15 {
		masters := []accounts.Principal{boss}
		for i := range 3 {
			p, _ := f.user(t, boss, fmt.Sprintf("m%d-%d", round, i), accounts.MasterRole)
			masters = append(masters, p)
		}
		var wg sync.WaitGroup
		for i, by := range masters {
			victim := masters[(i+1)%len(masters)].Login
			wg.Go(func() {
				if i%2 == 0 {
					_, _, _ = f.DeleteUser(by, victim)
				} else {
					_, _ = f.SetRole(by, victim, accounts.MemberRole)
				}
			})
			wg.Go(func() { _, _ = f.SetRole(by, by.Login, accounts.MemberRole) })
		}
		wg.Wait()

		users, _, err := f.Users(0)
		if err != nil {
			t.Fatal(err)
		}
		left := slices.DeleteFunc(users, func(u accounts.User) bool { return u.Role != accounts.MasterRole })
		if len(left) == 0 {
			t.Fatalf("round %d: no master left", round)
		}
		token, _, err := f.CreateToken(left[0].Login, "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		boss = f.signIn(t, token)
	}
}

// Roles deleted while they are being given: no user is left with a role that
// isn't there (Check at the end looks), whoever wins.
func TestRoleGivenAndDeletedRace(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	if _, err := f.CreateUser(boss, accounts.NewUser{Login: "bob"}); err != nil {
		t.Fatal(err)
	}
	for round := range 30 {
		f.role(t, boss, "passing", "logs.query")
		var setErr, createErr, deleteErr error
		login := fmt.Sprintf("new%d", round)
		var wg sync.WaitGroup
		wg.Go(func() { _, setErr = f.SetRole(boss, "bob", "passing") })
		wg.Go(func() { _, createErr = f.CreateUser(boss, accounts.NewUser{Login: login, Role: "passing"}) })
		wg.Go(func() { _, deleteErr = f.DeleteRole(boss, "passing") })
		wg.Wait()
		if (deleteErr == nil) != (setErr != nil && createErr != nil) {
			t.Fatalf("round %d: DeleteRole = %v while SetRole = %v and CreateUser = %v: want both refused or the delete",
				round, deleteErr, setErr, createErr)
		}
		if err := f.Check(); err != nil {
			t.Fatalf("round %d: Check() = %v", round, err)
		}
		if _, err := f.SetRole(boss, "bob", accounts.MemberRole); err != nil {
			t.Fatal(err)
		}
		if createErr == nil {
			if _, _, err := f.DeleteUser(boss, login); err != nil {
				t.Fatal(err)
			}
		}
		if deleteErr != nil {
			if _, err := f.DeleteRole(boss, "passing"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestOneOfManyEqualLoginsWins(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			login := "Same"
			if i%2 == 0 {
				login = "sAME"
			}
			_, errs[i] = f.CreateUser(boss, accounts.NewUser{Login: login})
		})
	}
	wg.Wait()
	if won := len(slices.DeleteFunc(errs, func(err error) bool { return err != nil })); won != 1 {
		t.Errorf("%d of 8 equal logins were created, want 1", won)
	}
}
