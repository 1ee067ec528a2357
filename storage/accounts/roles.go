package accounts

import (
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// Role names that always exist and can't be deleted.
const (
	MasterRole = "master"
	MemberRole = "member"
)

// maxListed bounds how many names an error lists.
const maxListed = 20

// Role is a named set of tools.
type Role struct {
	Name    string   `json:"name"`            // ^[a-z][a-z0-9_-]{0,31}$
	Title   string   `json:"title,omitempty"` // at most 120 characters
	Soul    string   `json:"soul,omitempty"`  // served as instructions; at most 2,048 bytes
	Tools   []string `json:"tools"`           // canonical names, in the order of Options.Tools
	BuiltIn bool     `json:"builtIn,omitempty"`
}

// toolList is what the Options say of tools.
type toolList struct {
	all, member, masterOnly, grantable []string // each in the order of all
}

func newToolList(o Options) (toolList, error) {
	t := toolList{all: slices.Clone(o.Tools)}
	for i, name := range t.all {
		if name == "" || slices.Contains(t.all[:i], name) {
			return t, fmt.Errorf("options: tool %q is empty or named twice", name)
		}
	}
	for _, name := range slices.Concat(o.MemberTools, o.MasterOnly) {
		if !slices.Contains(t.all, name) {
			return t, fmt.Errorf("options: tool %q is not in Tools", name)
		}
	}
	for _, name := range t.all {
		only := slices.Contains(o.MasterOnly, name)
		member := slices.Contains(o.MemberTools, name)
		switch {
		case only && member:
			return t, fmt.Errorf("options: tool %q is in MemberTools and in MasterOnly", name)
		case only:
			t.masterOnly = append(t.masterOnly, name)
		default:
			t.grantable = append(t.grantable, name)
			if member {
				t.member = append(t.member, name)
			}
		}
	}
	return t, nil
}

// builtIn returns a role that always exists. Its tools are the caller's own.
func (t toolList) builtIn(name string) (Role, bool) {
	switch name {
	case MasterRole:
		return Role{Name: name, Title: "Master", Tools: slices.Clone(t.all), BuiltIn: true}, true
	case MemberRole:
		return Role{Name: name, Title: "Member", Tools: slices.Clone(t.member), BuiltIn: true}, true
	}
	return Role{}, false
}

// choose checks the tools asked for a new role and puts them in order.
func (t toolList) choose(asked []string) ([]string, error) {
	want := "names out of " + strings.Join(t.grantable, ", ")
	for _, name := range asked {
		if slices.Contains(t.masterOnly, name) {
			return nil, refuseValue(ErrInvalid, "tools", name, "no tool that is for the role master alone; "+want)
		}
		if !slices.Contains(t.grantable, name) {
			return nil, refuseValue(ErrInvalid, "tools", name, want)
		}
	}
	if len(asked) == 0 {
		return nil, refuse(ErrInvalid, "tools: got none, want at least one of %s", strings.Join(t.grantable, ", "))
	}
	return t.known(asked), nil
}

// known returns those of the tools that a role other than master can have, in
// order and once each. A role read from the file goes through it too: a tool
// that no longer exists, or became master's, is in no role.
func (t toolList) known(tools []string) []string {
	out := make([]string, 0, len(tools))
	for _, name := range t.grantable {
		if slices.Contains(tools, name) {
			out = append(out, name)
		}
	}
	return out
}

// covers reports whether a holder of the role mine may decide over one of the
// role other: its tools must all be among mine.
func covers(mine, other Role) bool {
	if other.Name == MasterRole {
		return mine.Name == MasterRole
	}
	return !slices.ContainsFunc(other.Tools, func(tool string) bool { return !slices.Contains(mine.Tools, tool) })
}

// readRole returns a role by name. A role that isn't there has its name and no
// tools.
func (db *DB) readRole(tx *bolt.Tx, name string) (Role, bool, error) {
	if r, ok := db.tools.builtIn(name); ok {
		return r, true, nil
	}
	r, found, err := get[Role](tx, bucketRoles, []byte(name))
	if err != nil || !found {
		return Role{Name: name}, false, err
	}
	r.Tools = db.tools.known(r.Tools)
	return r, true, nil
}

func (db *DB) readRoles(tx *bolt.Tx) ([]Role, error) {
	master, _ := db.tools.builtIn(MasterRole)
	member, _ := db.tools.builtIn(MemberRole)
	roles := []Role{master, member}
	err := each(tx, bucketRoles, func(_ []byte, r Role) error {
		r.Tools = db.tools.known(r.Tools)
		roles = append(roles, r)
		return nil
	})
	return roles, err
}

// checkGrant returns nil when a holder of mine may give the role of a name.
func (db *DB) checkGrant(tx *bolt.Tx, mine Role, name string) error {
	r, found, err := db.readRole(tx, name)
	if err != nil {
		return err
	}
	if found && covers(mine, r) {
		return nil
	}
	roles, err := db.readRoles(tx)
	if err != nil {
		return err
	}
	var names []string
	for _, r := range roles {
		if covers(mine, r) {
			names = append(names, r.Name)
		}
	}
	choice := "; you may give " + listed(names)
	if found {
		return refuseValue(ErrForbidden, "role", name, "a role whose tools are all among your own"+choice)
	}
	return refuseValue(ErrNotFound, "role", name, "a role that exists"+choice)
}

// listed joins names for an error line, at most maxListed of them.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Roles lists the roles: built-in ones first, then by name.
func (db *DB) Roles() (roles []Role, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		roles, err = db.readRoles(tx)
		return err
	})
	return roles, err
}

// CreateRole adds a role; for masters alone. Tools named twice count once, and
// the role returned has them in the order of Options.Tools. ErrForbidden,
// ErrInvalid or ErrExists.
func (db *DB) CreateRole(caller Principal, r Role) (Role, error) {
	err := db.update(func(tx *bolt.Tx) error {
		if err := db.masterAlone(tx, caller, "create"); err != nil {
			return err
		}
		var err error
		if r, err = db.checkRole(r); err != nil {
			return err
		}
		if _, found, err := db.readRole(tx, r.Name); err != nil {
			return err
		} else if found {
			return refuseValue(ErrExists, "name", r.Name, "a name that no role has")
		}
		return put(tx, bucketRoles, []byte(r.Name), r)
	})
	if err != nil {
		return Role{}, err
	}
	return r, nil
}

func (db *DB) checkRole(r Role) (Role, error) {
	r.Title, r.BuiltIn = strings.TrimSpace(r.Title), false
	if err := checkRoleName(r.Name); err != nil {
		return r, err
	}
	if err := checkText("title", r.Title, 0, maxTitle); err != nil {
		return r, err
	}
	if err := checkSoul(r.Soul); err != nil {
		return r, err
	}
	var err error
	r.Tools, err = db.tools.choose(r.Tools)
	return r, err
}

// DeleteRole removes a role that no user has; for masters alone. ErrForbidden,
// ErrNotFound, or ErrConflict for a role in use or built in.
func (db *DB) DeleteRole(caller Principal, name string) (r Role, err error) {
	err = db.update(func(tx *bolt.Tx) error {
		if err := db.masterAlone(tx, caller, "delete"); err != nil {
			return err
		}
		var found bool
		if r, found, err = db.readRole(tx, name); err != nil {
			return err
		}
		if !found {
			return refuseValue(ErrNotFound, "name", name, "the name of a role that exists")
		}
		if r.BuiltIn {
			return refuseValue(ErrConflict, "name", name, "a role that is not built in")
		}
		holders, err := holders(tx, name)
		if err != nil {
			return err
		}
		if len(holders) > 0 {
			return refuseValue(ErrConflict, "name", name, "a role that no user has; give another one first to "+listed(holders))
		}
		return tx.Bucket(bucketRoles).Delete([]byte(name))
	})
	if err != nil {
		return Role{}, err
	}
	return r, nil
}

// masterAlone refuses callers of any other role than master.
func (db *DB) masterAlone(tx *bolt.Tx, caller Principal, verb string) error {
	mine, err := db.callerRole(tx, caller)
	if err != nil {
		return err
	}
	if mine.Name != MasterRole {
		return refuse(ErrForbidden, "caller: got role %s, want role %s to %s a role", quote(mine.Name), MasterRole, verb)
	}
	return nil
}
