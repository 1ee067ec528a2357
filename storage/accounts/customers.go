package accounts

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Customer is an account of the CRM.
type Customer struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`           // 1-200 characters
	Email   string    `json:"email"`          // unique among customers ignoring case
	Plan    string    `json:"plan,omitempty"` // at most 64 characters
	Created time.Time `json:"created"`
}

// customerKey counts down, so that walking forward is newest first. It holds
// the order of creation, which a clock that steps back can't upset.
func customerKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, ^seq) }

// Customers returns the newest customers, at most limit (all when limit < 1),
// and how many there are in all.
func (db *DB) Customers(limit int) (page []Customer, total int, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		n, err := count(tx, keyCustomerCount)
		if err != nil {
			return err
		}
		total = int(n)
		c := tx.Bucket(bucketCustomers).Cursor()
		for key, raw := c.First(); key != nil; key, raw = c.Next() {
			if limit > 0 && len(page) == limit {
				break
			}
			one, err := decodeAt[Customer](bucketCustomers, key, raw)
			if err != nil {
				return err
			}
			page = append(page, one)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return page, total, nil
}

// CreateCustomer validates and adds a customer. ErrInvalid, or ErrExists for
// the email.
func (db *DB) CreateCustomer(name, email, plan string) (Customer, error) {
	one := Customer{
		Name: strings.TrimSpace(name), Email: strings.TrimSpace(email), Plan: strings.TrimSpace(plan),
		Created: db.now().UTC(),
	}
	if err := checkText("name", one.Name, 1, maxName); err != nil {
		return Customer{}, err
	}
	if err := checkEmail(one.Email); err != nil {
		return Customer{}, err
	}
	if err := checkText("plan", one.Plan, 0, maxPlan); err != nil {
		return Customer{}, err
	}
	err := outward("write", db.bolt.Update(func(tx *bolt.Tx) error { return addCustomer(tx, &one) }))
	if err != nil {
		return Customer{}, err
	}
	return one, nil
}

// addCustomer gives a customer its id and writes it under a free email.
func addCustomer(tx *bolt.Tx, one *Customer) error {
	if tx.Bucket(bucketCustomerEmails).Get(fold(one.Email)) != nil {
		return refuseValue(ErrExists, "email", one.Email, "an email that no customer has")
	}
	seq, err := tx.Bucket(bucketCustomers).NextSequence()
	if err != nil {
		return err
	}
	one.ID = "c" + strconv.FormatUint(seq, 10)
	if err := put(tx, bucketCustomers, customerKey(seq), one); err != nil {
		return err
	}
	if err := put(tx, bucketCustomerEmails, fold(one.Email), one.ID); err != nil {
		return err
	}
	n, err := count(tx, keyCustomerCount)
	if err != nil {
		return err
	}
	return put(tx, bucketMeta, keyCustomerCount, n+1)
}
