package accounts

import (
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// User is a member of the team.
type User struct {
	Login      string    `json:"login"`           // ^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,38}$, unique ignoring case
	Email      string    `json:"email,omitempty"` // unique among users ignoring case
	Name       string    `json:"name,omitempty"`  // at most 200 characters
	Role       string    `json:"role"`
	Created    time.Time `json:"created"`
	LastSignIn time.Time `json:"lastSignIn,omitzero"` // to the minute; zero: never
	Threads    uint64    `json:"threadCount"`         // initialize handshakes
}

// NewUser is what CreateUser takes; Role "" means member.
type NewUser struct{ Login, Email, Name, Role string }

// Users returns users by login, at most limit (all when limit < 1), and how
// many there are in all.
func (db *DB) Users(limit int) (page []User, total int, err error) {
	pending := db.uses.snapshot()
	err = db.view(func(tx *bolt.Tx) error {
		latest, err := signIns(tx, pending)
		if err != nil {
			return err
		}
		c := tx.Bucket(bucketUsers).Cursor()
		for key, raw := c.First(); key != nil; key, raw = c.Next() {
			total++
			if limit > 0 && total > limit {
				continue
			}
			u, err := decodeAt[User](bucketUsers, key, raw)
			if err != nil {
				return err
			}
			if at := latest[string(key)]; u.LastSignIn.Before(at) {
				u.LastSignIn = at
			}
			page = append(page, u)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return page, total, nil
}

// CreateUser adds a user; the caller may grant only a role whose tools are a
// subset of their own. ErrInvalid, ErrExists, ErrForbidden, or ErrNotFound for
// the role.
func (db *DB) CreateUser(caller Principal, n NewUser) (User, error) {
	u := User{
		Login: n.Login, Email: strings.TrimSpace(n.Email), Name: strings.TrimSpace(n.Name), Role: n.Role,
		Created: db.now().UTC(),
	}
	if u.Role == "" {
		u.Role = MemberRole
	}
	err := db.update(func(tx *bolt.Tx) error {
		mine, err := db.callerRole(tx, caller)
		if err != nil {
			return err
		}
		if err := checkUser(u); err != nil {
			return err
		}
		if err := db.checkGrant(tx, mine, u.Role); err != nil {
			return err
		}
		return addUser(tx, u)
	})
	if err != nil {
		return User{}, err
	}
	return u, nil
}

func checkUser(u User) error {
	if err := checkLogin("login", u.Login); err != nil {
		return err
	}
	if u.Email != "" {
		if err := checkEmail(u.Email); err != nil {
			return err
		}
	}
	return checkText("name", u.Name, 0, maxName)
}

// addUser writes a user under a login and an email that are still free.
func addUser(tx *bolt.Tx, u User) error {
	key := fold(u.Login)
	if tx.Bucket(bucketUsers).Get(key) != nil {
		return refuseValue(ErrExists, "login", u.Login, "a login that no user has, in any case of letters")
	}
	if u.Email != "" {
		if tx.Bucket(bucketUserEmails).Get(fold(u.Email)) != nil {
			return refuseValue(ErrExists, "email", u.Email, "an email that no user has")
		}
		if err := put(tx, bucketUserEmails, fold(u.Email), u.Login); err != nil {
			return err
		}
	}
	return put(tx, bucketUsers, key, u)
}

// findUser returns the user of a login in any case of letters, or ErrNotFound.
func findUser(tx *bolt.Tx, login string) (User, error) {
	u, found, err := get[User](tx, bucketUsers, fold(login))
	if err != nil {
		return User{}, err
	}
	if !found {
		return User{}, refuseValue(ErrNotFound, "login", login, "the login of a user that exists")
	}
	return u, nil
}

// holders returns the logins that have a role.
func holders(tx *bolt.Tx, role string) (logins []string, err error) {
	err = each(tx, bucketUsers, func(_ []byte, u User) error {
		if u.Role == role {
			logins = append(logins, u.Login)
		}
		return nil
	})
	return logins, err
}

// subject returns the user that a holder of mine wants to change or delete, if
// that user's role has nothing beyond mine.
func (db *DB) subject(tx *bolt.Tx, mine Role, login string) (User, error) {
	u, err := findUser(tx, login)
	if err != nil {
		return User{}, err
	}
	role, _, err := db.readRole(tx, u.Role)
	if err != nil {
		return User{}, err
	}
	if !covers(mine, role) {
		return User{}, refuseValue(ErrForbidden, "login", login, "a user whose role has no tools beyond your own")
	}
	return u, nil
}

// notLastMaster refuses to take the only master away.
func notLastMaster(tx *bolt.Tx, u User) error {
	if u.Role != MasterRole {
		return nil
	}
	masters, err := holders(tx, MasterRole)
	if err != nil {
		return err
	}
	if len(masters) < 2 {
		return refuseValue(ErrConflict, "login", u.Login, "a user that is not the last master; make another one master first")
	}
	return nil
}

// SetRole changes a user's role, under the rule of CreateUser, for users whose
// own role has no tools beyond the caller's. It acts at once. ErrNotFound,
// ErrForbidden, or ErrConflict for the last master.
func (db *DB) SetRole(caller Principal, login, role string) (u User, err error) {
	err = db.update(func(tx *bolt.Tx) error {
		mine, err := db.callerRole(tx, caller)
		if err != nil {
			return err
		}
		if u, err = db.subject(tx, mine, login); err != nil {
			return err
		}
		if err := db.checkGrant(tx, mine, role); err != nil {
			return err
		}
		if role == u.Role {
			return nil
		}
		if err := notLastMaster(tx, u); err != nil {
			return err
		}
		u.Role = role
		return put(tx, bucketUsers, fold(u.Login), u)
	})
	if err != nil {
		return User{}, err
	}
	return u, nil
}

// DeleteUser removes a user whose role has no tools beyond the caller's, with
// their tokens, and returns what was removed. Deleting oneself is allowed.
// ErrNotFound, ErrForbidden, or ErrConflict for the last master.
func (db *DB) DeleteUser(caller Principal, login string) (u User, tokens int, err error) {
	err = db.update(func(tx *bolt.Tx) error {
		mine, err := db.callerRole(tx, caller)
		if err != nil {
			return err
		}
		if u, err = db.subject(tx, mine, login); err != nil {
			return err
		}
		if err := notLastMaster(tx, u); err != nil {
			return err
		}
		if tokens, err = removeTokens(tx, u.Login); err != nil {
			return err
		}
		if u.Email != "" {
			if err := tx.Bucket(bucketUserEmails).Delete(fold(u.Email)); err != nil {
				return err
			}
		}
		return tx.Bucket(bucketUsers).Delete(fold(u.Login))
	})
	if err != nil {
		return User{}, 0, err
	}
	return u, tokens, nil
}

// CountThread notes that a conversation was opened under the login. Calls that
// come together share a commit. ErrNotFound when there is no such user.
func (db *DB) CountThread(login string) error {
	return outward("write", db.bolt.Batch(func(tx *bolt.Tx) error {
		u, err := findUser(tx, login)
		if err != nil {
			return err
		}
		u.Threads++
		return put(tx, bucketUsers, fold(u.Login), u)
	}))
}
