package accounts

import (
	"bytes"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// auditKeep is how many lines the log keeps at least; auditSlack how many
	// more may gather before they are trimmed in one go.
	auditKeep  = 100_000
	auditSlack = 1_000

	maxAuditArgumentsBytes = 4 << 10
	maxAuditOutcomeBytes   = 1 << 10
)

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Time      time.Time `json:"time"` // zero: the time of the call to Audit
	Login     string    `json:"login"`
	Tool      string    `json:"tool"`                // as sent, cut at 100 bytes
	Arguments string    `json:"arguments,omitempty"` // JSON without secrets, cut at 4 KiB
	Outcome   string    `json:"outcome"`             // "ok", "refused: …", "error: …"; cut at 1 KiB
}

// auditKey orders lines by time, those of one time by their coming. Flipping
// the sign bit puts times before 1970 first.
func auditKey(at time.Time, seq uint64) []byte {
	key := binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())^1<<63)
	return binary.BigEndian.AppendUint64(key, seq)
}

// Audit appends a line to the audit log. The log keeps its newest 100,000
// lines. Calls that come together share a commit.
func (db *DB) Audit(e AuditEntry) error {
	if e.Time.IsZero() {
		e.Time = db.now()
	}
	e.Time = e.Time.UTC()
	e.Login = cutBytes(e.Login, maxQuoted)
	e.Tool = cutBytes(e.Tool, maxQuoted)
	e.Arguments = cutBytes(e.Arguments, maxAuditArgumentsBytes)
	e.Outcome = cutBytes(e.Outcome, maxAuditOutcomeBytes)
	return outward("write", db.bolt.Batch(func(tx *bolt.Tx) error {
		seq, err := tx.Bucket(bucketAudit).NextSequence()
		if err != nil {
			return err
		}
		if err := put(tx, bucketAudit, auditKey(e.Time, seq), e); err != nil {
			return err
		}
		n, err := count(tx, keyAuditCount)
		if err != nil {
			return err
		}
		n++
		if n > db.auditKeep+db.auditSlack {
			if err := trimAudit(tx, n-db.auditKeep); err != nil {
				return err
			}
			n = db.auditKeep
		}
		return put(tx, bucketMeta, keyAuditCount, n)
	}))
}

// trimAudit removes the oldest n lines.
func trimAudit(tx *bolt.Tx, n uint64) error {
	b := tx.Bucket(bucketAudit)
	oldest := make([][]byte, 0, n) // a cursor skips keys when it deletes as it walks
	c := b.Cursor()
	for key, _ := c.First(); key != nil && uint64(len(oldest)) < n; key, _ = c.Next() {
		oldest = append(oldest, bytes.Clone(key))
	}
	for _, key := range oldest {
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// AuditLog returns the newest lines, newest first, at most limit (all when
// limit < 1).
func (db *DB) AuditLog(limit int) (page []AuditEntry, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketAudit).Cursor()
		for key, raw := c.Last(); key != nil; key, raw = c.Prev() {
			if limit > 0 && len(page) == limit {
				break
			}
			e, err := decodeAt[AuditEntry](bucketAudit, key, raw)
			if err != nil {
				return err
			}
			page = append(page, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}
