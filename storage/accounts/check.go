package accounts

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Check reads the whole file and returns what is wrong with it, joined: pages
// bbolt can't account for, values that don't decode, an index and what it
// points to that disagree, a user with a role or a token with a user that
// isn't there, a count that is off. It holds a read transaction meanwhile.
func (db *DB) Check() error {
	return db.view(func(tx *bolt.Tx) error {
		var found []error
		for err := range tx.Check() {
			found = append(found, err)
		}
		for _, check := range []func(*bolt.Tx) error{db.checkUsers, db.checkRoles, checkTokens, checkCustomers, checkAudit} {
			if err := check(tx); err != nil {
				found = append(found, err)
			}
		}
		return errors.Join(found...)
	})
}

func (db *DB) checkUsers(tx *bolt.Tx) error {
	emails := 0
	err := each(tx, bucketUsers, func(key []byte, u User) error {
		if !bytes.Equal(key, fold(u.Login)) {
			return fmt.Errorf("user %q is under the key %q", u.Login, key)
		}
		if _, found, err := db.readRole(tx, u.Role); err != nil || !found {
			return errors.Join(fmt.Errorf("user %q has the role %q, which isn't there", u.Login, u.Role), err)
		}
		if u.Email == "" {
			return nil
		}
		emails++
		if owner, _, err := get[string](tx, bucketUserEmails, fold(u.Email)); err != nil || owner != u.Login {
			return errors.Join(fmt.Errorf("email of user %q leads to %q", u.Login, owner), err)
		}
		return nil
	})
	return errors.Join(err, checkLen(tx, bucketUserEmails, emails))
}

func (db *DB) checkRoles(tx *bolt.Tx) error {
	return each(tx, bucketRoles, func(key []byte, r Role) error {
		if _, builtIn := db.tools.builtIn(r.Name); builtIn || string(key) != r.Name {
			return fmt.Errorf("role %q is under the key %q", r.Name, key)
		}
		return nil
	})
}

func checkTokens(tx *bolt.Tx) error {
	tokens := 0
	err := each(tx, bucketTokens, func(key []byte, t tokenRecord) error {
		tokens++
		if string(key) != t.ID || len(t.Digest) != sha256.Size {
			return fmt.Errorf("token %q is under the key %q with a digest of %d bytes", t.ID, key, len(t.Digest))
		}
		if id, _, err := get[string](tx, bucketTokenDigests, t.Digest); err != nil || id != t.ID {
			return errors.Join(fmt.Errorf("digest of token %q leads to %q", t.ID, id), err)
		}
		if t.Ingest == "" && tx.Bucket(bucketUsers).Get(fold(t.Login)) == nil {
			return fmt.Errorf("token %q is of user %q, who isn't there", t.ID, t.Login)
		}
		return nil
	})
	return errors.Join(err, checkLen(tx, bucketTokenDigests, tokens))
}

func checkCustomers(tx *bolt.Tx) error {
	customers := 0
	err := each(tx, bucketCustomers, func(key []byte, c Customer) error {
		customers++
		if id, _, err := get[string](tx, bucketCustomerEmails, fold(c.Email)); err != nil || id != c.ID {
			return errors.Join(fmt.Errorf("email of customer %q leads to %q", c.ID, id), err)
		}
		return nil
	})
	return errors.Join(err, checkLen(tx, bucketCustomerEmails, customers), checkCount(tx, keyCustomerCount, customers))
}

func checkAudit(tx *bolt.Tx) error {
	lines := 0
	err := each(tx, bucketAudit, func(key []byte, e AuditEntry) error {
		lines++
		if want := auditKey(e.Time, 0)[:8]; len(key) != 16 || !bytes.HasPrefix(key, want) {
			return fmt.Errorf("audit line of %v is under the key %x", e.Time, key)
		}
		return nil
	})
	return errors.Join(err, checkCount(tx, keyAuditCount, lines))
}

// checkLen holds an index to the number of entries it should have; that each
// entry wanted is there was checked one by one.
func checkLen(tx *bolt.Tx, bucket []byte, want int) error {
	if got := tx.Bucket(bucket).Stats().KeyN; got != want {
		return fmt.Errorf("index %s has %d entries, want %d", bucket, got, want)
	}
	return nil
}

func checkCount(tx *bolt.Tx, key []byte, want int) error {
	got, err := count(tx, key)
	if err != nil {
		return err
	}
	if got != uint64(want) {
		return fmt.Errorf("%s is %d, want %d", key, got, want)
	}
	return nil
}
