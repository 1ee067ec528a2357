package accounts

// SetAuditBounds makes the audit log of a test small.
func (db *DB) SetAuditBounds(keep, slack uint64) { db.auditKeep, db.auditSlack = keep, slack }

// Codec of values, for tests of damage.
var Encode = encode

func DecodeUser(raw []byte) (User, error) { return decode[User](raw) }
