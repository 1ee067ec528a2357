package mcp

import (
	"context"

	"sonde/storage/accounts"
)

var customerColumns = []string{"id", "name", "email", "plan", "created"}

func customerRow(c accounts.Customer) []string {
	return []string{c.ID, c.Name, c.Email, c.Plan, when(c.Created)}
}

func runCustomersList(_ context.Context, s *Server, c *call) (reply, error) {
	page, total, err := s.db.Customers(c.arguments.whole("limit", defaultRows))
	if err != nil {
		return reply{}, err
	}
	if c.face.json {
		return jsonReply(map[string]any{"customers": notNil(page), "total": total})
	}
	t := table{noun: "customers", order: "newest first", columns: customerColumns, total: total, notes: c.arguments.notes}
	for _, one := range page {
		t.rows = append(t.rows, customerRow(one))
	}
	return reply{text: t.text(&c.arguments, s.o.AnswerBytes)}, nil
}

func runCustomersCreate(_ context.Context, s *Server, c *call) (reply, error) {
	a := &c.arguments
	one, err := s.db.CreateCustomer(a.text("name"), a.text("email"), a.text("plan"))
	if err != nil {
		return reply{}, err
	}
	if c.face.json {
		return jsonReply(one)
	}
	return reply{text: table{columns: customerColumns}.one("customer created", customerRow(one))}, nil
}

// jsonReply returns the reply for programs.
func jsonReply(v any) (reply, error) {
	b, err := marshal(v)
	return reply{json: b}, err
}

// notNil makes an empty list [] in JSON, not null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
