package accounts

import (
	"maps"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

// uses gathers when tokens were last used, so that a request costs no disk
// write. A crash loses about a minute of it, and nothing else.
type uses struct {
	mu      sync.Mutex           // protects pending
	pending map[string]time.Time // by token id, to the minute
}

func (u *uses) add(tokenID string, minute time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pending == nil {
		u.pending = map[string]time.Time{}
	}
	if u.pending[tokenID].Before(minute) {
		u.pending[tokenID] = minute
	}
}

func (u *uses) snapshot() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.pending)
}

// forget drops what was written, unless the token was used again since.
func (u *uses) forget(written map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, minute := range written {
		if u.pending[id].Equal(minute) {
			delete(u.pending, id)
		}
	}
}

// note remembers that the token was just used. Within a minute only the first
// use takes the lock.
func (db *DB) note(e *authEntry) {
	minute := db.now().UTC().Truncate(time.Minute)
	if e.noted.Swap(minute.Unix()) != minute.Unix() {
		db.uses.add(e.tokenID, minute)
	}
}

// applyUses writes times of last use into the tokens and users they belong to.
// A token that is gone takes its last use along.
func applyUses(tx *bolt.Tx, pending map[string]time.Time) error {
	for id, minute := range pending {
		t, found, err := get[tokenRecord](tx, bucketTokens, []byte(id))
		if err != nil {
			return err
		}
		if !found || !t.LastUse.Before(minute) {
			continue
		}
		t.LastUse = minute
		if err := put(tx, bucketTokens, []byte(id), t); err != nil {
			return err
		}
		u, found, err := get[User](tx, bucketUsers, fold(t.Login))
		if err != nil {
			return err
		}
		if !found || !u.LastSignIn.Before(minute) {
			continue
		}
		u.LastSignIn = minute
		if err := put(tx, bucketUsers, fold(u.Login), u); err != nil {
			return err
		}
	}
	return nil
}

// signIns returns the sign-ins not yet written, by folded login.
func signIns(tx *bolt.Tx, pending map[string]time.Time) (map[string]time.Time, error) {
	byLogin := map[string]time.Time{}
	for id, minute := range pending {
		t, found, err := get[tokenRecord](tx, bucketTokens, []byte(id))
		if err != nil {
			return nil, err
		}
		if login := string(fold(t.Login)); found && byLogin[login].Before(minute) {
			byLogin[login] = minute
		}
	}
	return byLogin, nil
}

// flush writes what is pending. What can't be written stays pending.
func (db *DB) flush() error {
	pending := db.uses.snapshot()
	if len(pending) == 0 {
		return nil
	}
	if err := db.bolt.Update(func(tx *bolt.Tx) error { return applyUses(tx, pending) }); err != nil {
		return outward("write", err)
	}
	db.uses.forget(pending)
	return nil
}

func (db *DB) flushLoop() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			// A failed flush is tried again at the next tick; the last one, in
			// Close, is the one whose error is returned.
			_ = db.flush()
		case <-db.stop:
			return
		}
	}
}
