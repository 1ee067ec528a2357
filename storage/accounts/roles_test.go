package accounts_test

import (
	"fmt"
	"strings"
	"testing"

	"sonde/storage/accounts"
)

func TestRoles(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	soul := strings.Repeat("é", 1024)
	got, err := f.CreateRole(boss, accounts.Role{
		Name: "support", Title: " Customer support ", Soul: soul, BuiltIn: true,
		Tools: []string{"users.create", "logs.query", "users.create"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := accounts.Role{Name: "support", Title: "Customer support", Soul: soul, Tools: []string{"logs.query", "users.create"}}
	diff(t, "CreateRole", got, want)
	f.role(t, boss, "asking", "logs.query")

	f.reopen(t)
	roles, err := f.Roles()
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "Roles", roles, []accounts.Role{
		{Name: "master", Title: "Master", Tools: options().Tools, BuiltIn: true},
		{Name: "member", Title: "Member", Tools: options().MemberTools, BuiltIn: true},
		{Name: "asking", Tools: []string{"logs.query"}},
		want,
	})
}

func TestCreateRoleRefuses(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	f.role(t, boss, "admin", "logs.query", "customers.list", "users.create", "users.set_role")
	admin, _ := f.user(t, boss, "ada", "admin")
	const name = "1-32 of lower-case letters, digits, _ - starting with a letter"
	const tools = "logs.query, customers.list, users.create, users.set_role"
	one := []string{"logs.query"}
	for _, c := range []struct {
		caller accounts.Principal
		role   accounts.Role
		kind   error
		text   string
	}{
		{admin, accounts.Role{Name: "x", Tools: one}, accounts.ErrForbidden, `caller: got role "admin", want role master to create a role`},
		{accounts.Principal{}, accounts.Role{Name: "x", Tools: one}, accounts.ErrForbidden, `caller: got "", want a user that exists`},
		{boss, accounts.Role{Name: "Big", Tools: one}, accounts.ErrInvalid, `name: got "Big", want ` + name},
		{boss, accounts.Role{Name: "", Tools: one}, accounts.ErrInvalid, `name: got "", want ` + name},
		{boss, accounts.Role{Name: "1st", Tools: one}, accounts.ErrInvalid, `name: got "1st", want ` + name},
		{boss, accounts.Role{Name: strings.Repeat("x", 33), Tools: one}, accounts.ErrInvalid, `name: got "` + strings.Repeat("x", 33) + `", want ` + name},
		{boss, accounts.Role{Name: "master", Tools: one}, accounts.ErrExists, `name: got "master", want a name that no role has`},
		{boss, accounts.Role{Name: "member", Tools: one}, accounts.ErrExists, `name: got "member", want a name that no role has`},
		{boss, accounts.Role{Name: "admin", Tools: one}, accounts.ErrExists, `name: got "admin", want a name that no role has`},
		{boss, accounts.Role{Name: "x"}, accounts.ErrInvalid, `tools: got none, want at least one of ` + tools},
		{boss, accounts.Role{Name: "x", Tools: []string{"logs.query", "chats.list"}}, accounts.ErrInvalid, `tools: got "chats.list", want names out of ` + tools},
		{boss, accounts.Role{Name: "x", Tools: []string{"roles.create"}}, accounts.ErrInvalid, `tools: got "roles.create", want no tool that is for the role master alone; names out of ` + tools},
		{boss, accounts.Role{Name: "x", Tools: one, Title: strings.Repeat("é", 121)}, accounts.ErrInvalid, `title: got "` + strings.Repeat("é", 50) + `"…, want at most 120 characters on one line, no control characters`},
		{boss, accounts.Role{Name: "x", Tools: one, Title: "two\nlines"}, accounts.ErrInvalid, `title: got "two\nlines", want at most 120 characters on one line, no control characters`},
		{boss, accounts.Role{Name: "x", Tools: one, Soul: strings.Repeat("x", 2049)}, accounts.ErrInvalid, `soul: got 2049 bytes, want at most 2048 bytes of UTF-8 text`},
		{boss, accounts.Role{Name: "x", Tools: one, Soul: "a\xffb"}, accounts.ErrInvalid, `soul: got "a\xffb", want valid UTF-8 text`},
	} {
		_, err := f.CreateRole(c.caller, c.role)
		wantErr(t, fmt.Sprintf("CreateRole(%s, %.60v)", c.caller.Login, c.role), err, c.kind, c.text)
	}
	if roles, _ := f.Roles(); len(roles) != 3 {
		t.Errorf("Roles after refusals = %v, want three", roles)
	}
}

func TestDeleteRole(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	f.role(t, boss, "support", "logs.query", "customers.list")
	f.user(t, boss, "zoe", "support")
	ada, _ := f.user(t, boss, "ada", "support")
	for _, c := range []struct {
		caller accounts.Principal
		name   string
		kind   error
		text   string
	}{
		{ada, "support", accounts.ErrForbidden, `caller: got role "support", want role master to delete a role`},
		{boss, "none", accounts.ErrNotFound, `name: got "none", want the name of a role that exists`},
		{boss, "master", accounts.ErrConflict, `name: got "master", want a role that is not built in`},
		{boss, "member", accounts.ErrConflict, `name: got "member", want a role that is not built in`},
		{boss, "support", accounts.ErrConflict, `name: got "support", want a role that no user has; give another one first to ada, zoe`},
	} {
		_, err := f.DeleteRole(c.caller, c.name)
		wantErr(t, fmt.Sprintf("DeleteRole(%s, %s)", c.caller.Login, c.name), err, c.kind, c.text)
	}
	if _, err := f.SetRole(boss, "zoe", accounts.MemberRole); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.DeleteUser(boss, "ada"); err != nil {
		t.Fatal(err)
	}
	got, err := f.DeleteRole(boss, "support")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "DeleteRole", got, accounts.Role{Name: "support", Tools: []string{"logs.query", "customers.list"}})
	f.reopen(t)
	if roles, _ := f.Roles(); len(roles) != 2 {
		t.Errorf("Roles after the delete = %v, want the built-in ones", roles)
	}
}

func TestManyHoldersAreCut(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	f.role(t, boss, "crowd", "logs.query")
	for i := range 23 {
		if _, err := f.CreateUser(boss, accounts.NewUser{Login: fmt.Sprintf("u%02d", i), Role: "crowd"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := f.DeleteRole(boss, "crowd")
	if err == nil || !strings.HasSuffix(err.Error(), ", u18, u19 and 3 more") {
		t.Errorf("DeleteRole of 23 users = %v, want 20 of them and 3 more", err)
	}
}

// A role of an older program may hold tools that are gone or master's now.
func TestRolesFollowTheTools(t *testing.T) {
	f := open(t, options())
	boss, _ := f.master(t)
	f.role(t, boss, "mixed", "logs.query", "users.create", "users.set_role")
	_, token := f.user(t, boss, "ada", "mixed")
	f.o = accounts.Options{
		Tools:      []string{"users.set_role", "users.create", "new.tool"},
		MasterOnly: []string{"users.set_role"},
	}
	f.reopen(t)
	roles, err := f.Roles()
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "tools of mixed", roles[2].Tools, []string{"users.create"})
	if p := f.signIn(t, token); p.May("logs.query") || p.May("users.set_role") || p.May("new.tool") || !p.May("users.create") {
		t.Errorf("May of a role with old tools = %+v, want users.create alone", p)
	}
}
