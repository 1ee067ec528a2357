package mcp

import (
	"context"
	"fmt"
	"strconv"

	"sonde/storage/accounts"
)

var userColumns = []string{"login", "email", "name", "role", "lastSignIn", "threadCount"}

func userRow(u accounts.User) []string {
	signIn := when(u.LastSignIn)
	if signIn == "" {
		signIn = "never"
	}
	return []string{u.Login, u.Email, u.Name, u.Role, signIn, strconv.FormatUint(u.Threads, 10)}
}

func userReply(c *call, what string, u accounts.User) (reply, error) {
	if c.face.json {
		return jsonReply(u)
	}
	return reply{text: table{columns: userColumns}.one(what, userRow(u))}, nil
}

func runUsersList(_ context.Context, s *Server, c *call) (reply, error) {
	page, total, err := s.db.Users(c.arguments.limit(defaultRows))
	if err != nil {
		return reply{}, err
	}
	if c.face.json {
		return tableJSON("users", page, total, c.arguments.notes)
	}
	t := table{noun: "users", order: "by login", columns: userColumns, total: total, notes: c.arguments.notes}
	for _, u := range page {
		t.rows = append(t.rows, userRow(u))
	}
	return reply{text: t.text(&c.arguments, s.o.AnswerBytes)}, nil
}

func runUsersCreate(_ context.Context, s *Server, c *call) (reply, error) {
	a := &c.arguments
	u, err := s.db.CreateUser(c.caller, accounts.NewUser{
		Login: a.text("login"), Email: a.text("email"), Name: a.text("name"), Role: a.text("role"),
	})
	if err != nil {
		return reply{}, err
	}
	return userReply(c, "user created", u)
}

func runUsersSetRole(_ context.Context, s *Server, c *call) (reply, error) {
	u, err := s.db.SetRole(c.caller, c.arguments.text("login"), c.arguments.text("role"))
	if err != nil {
		return reply{}, err
	}
	return userReply(c, "role set", u)
}

func runUsersDelete(_ context.Context, s *Server, c *call) (reply, error) {
	u, tokens, err := s.db.DeleteUser(c.caller, c.arguments.text("login"))
	if err != nil {
		return reply{}, err
	}
	if c.face.json {
		return jsonReply(struct {
			accounts.User
			Tokens int `json:"tokensDeleted"`
		}{u, tokens})
	}
	return userReply(c, fmt.Sprintf("user deleted, with %d tokens", tokens), u)
}
