package accounts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/storage/accounts"
)

func TestCustomers(t *testing.T) {
	at := newClock()
	o := options()
	o.Now = at.now
	f := open(t, o)
	if page, total, err := f.Customers(10); len(page) != 0 || total != 0 || err != nil {
		t.Errorf("Customers of a new file = %v, %d, %v, want none", page, total, err)
	}
	var all []accounts.Customer
	for i := range 300 {
		at.add(time.Duration(i%3-1) * time.Second) // the clock may stand or step back
		got, err := f.CreateCustomer(fmt.Sprintf(" Customer %d ", i), fmt.Sprintf("c%d@example.com", i), " gold ")
		if err != nil {
			t.Fatal(err)
		}
		want := accounts.Customer{
			ID: fmt.Sprintf("c%d", i+1), Name: fmt.Sprintf("Customer %d", i), Email: fmt.Sprintf("c%d@example.com", i),
			Plan: "gold", Created: at.now().UTC(),
		}
		diff(t, "CreateCustomer", got, want)
		all = append(all, got)
	}
	slices.Reverse(all)
	f.reopen(t)
	for _, limit := range []int{1, 2, 299, 300, 301, 0, -1} {
		want := all
		if limit > 0 && limit < len(all) {
			want = all[:limit]
		}
		page, total, err := f.Customers(limit)
		if err != nil || total != 300 {
			t.Errorf("Customers(%d): total = %d, %v, want 300", limit, total, err)
		}
		diff(t, fmt.Sprintf("Customers(%d)", limit), page, want)
	}
}

func TestCreateCustomerRefuses(t *testing.T) {
	f := open(t, options())
	if _, err := f.CreateCustomer("Ada", "ada@example.com", ""); err != nil {
		t.Fatal(err)
	}
	const name = "1-200 characters on one line, no control characters"
	const email = "a bare address like ada@example.com of at most 254 bytes"
	const plan = "at most 64 characters on one line, no control characters"
	for _, c := range []struct {
		name, email, plan string
		kind              error
		text              string
	}{
		{"", "x@y.z", "", accounts.ErrInvalid, `name: got "", want ` + name},
		{" \t ", "x@y.z", "", accounts.ErrInvalid, `name: got "", want ` + name},
		{strings.Repeat("é", 201), "x@y.z", "", accounts.ErrInvalid, `name: got "` + strings.Repeat("é", 50) + `"…, want ` + name},
		{"a\x00b", "x@y.z", "", accounts.ErrInvalid, `name: got "a\x00b", want ` + name},
		{"a\u2028b", "x@y.z", "", accounts.ErrInvalid, `name: got "a\u2028b", want ` + name},
		{"a\u202eb", "x@y.z", "", accounts.ErrInvalid, `name: got "a\u202eb", want ` + name},
		{"a\U000e0041b", "x@y.z", "", accounts.ErrInvalid, `name: got "a\U000e0041b", want ` + name},
		{"a\xffb", "x@y.z", "", accounts.ErrInvalid, `name: got "a\xffb", want ` + name},
		{"x", "", "", accounts.ErrInvalid, `email: got "", want ` + email},
		{"x", "not-an-address", "", accounts.ErrInvalid, `email: got "not-an-address", want ` + email},
		{"x", "x@y.z", strings.Repeat("p", 65), accounts.ErrInvalid, `plan: got "` + strings.Repeat("p", 65) + `", want ` + plan},
		{"x", "ADA@EXAMPLE.com", "", accounts.ErrExists, `email: got "ADA@EXAMPLE.com", want an email that no customer has`},
	} {
		_, err := f.CreateCustomer(c.name, c.email, c.plan)
		wantErr(t, fmt.Sprintf("CreateCustomer(%.40q, %q, %.40q)", c.name, c.email, c.plan), err, c.kind, c.text)
	}
	// At the bounds, and a user's email is free for a customer.
	boss, _ := f.master(t)
	if _, err := f.CreateUser(boss, accounts.NewUser{Login: "bob", Email: "bob@example.com"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.CreateCustomer(strings.Repeat("é", 200), "bob@example.com", strings.Repeat("é", 64)); err != nil {
		t.Errorf("CreateCustomer at the bounds = %v, want nil", err)
	}
	if _, total, _ := f.Customers(1); total != 2 {
		t.Errorf("%d customers, want 2", total)
	}
}
