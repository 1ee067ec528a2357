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
	page, total, err := s.db.Customers(c.arguments.limit(defaultRows))
	if err != nil {
		return reply{}, err
	}
	if c.face.json {
		return tableJSON("customers", page, total, c.arguments.notes)
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
