package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sonde/storage/accounts"
)

// maxSoulShown cuts souls in the table: they may be 2 KiB each.
const maxSoulShown = 200

var roleColumns = []string{"name", "title", "tools", "soul"}

func roleRow(r accounts.Role) []string {
	soul := cut(r.Soul, maxSoulShown)
	if rest := len(r.Soul) - len(soul); rest > 0 {
		soul += fmt.Sprintf("...(+%dB)", rest)
	}
	return []string{r.Name, r.Title, strings.Join(r.Tools, " "), soul}
}

func roleReply(c *call, what string, r accounts.Role) (reply, error) {
	if c.face.json {
		return jsonReply(r)
	}
	return reply{text: table{columns: roleColumns}.one(what, roleRow(r))}, nil
}

// runRolesList lists the roles, to a master also the tools a role may be given.
func runRolesList(_ context.Context, s *Server, c *call) (reply, error) {
	roles, err := s.db.Roles()
	if err != nil {
		return reply{}, err
	}
	var available []string
	if c.caller.Role.Name == accounts.MasterRole {
		available = grantableTools()
	}
	if c.face.json {
		return jsonReply(struct {
			Roles     []accounts.Role `json:"roles"`
			Total     int             `json:"total"`
			Available []string        `json:"availableTools,omitempty"`
		}{notNil(roles), len(roles), available})
	}
	t := table{noun: "roles", order: "built-in first", columns: roleColumns, total: len(roles)}
	for _, r := range roles {
		t.rows = append(t.rows, roleRow(r))
	}
	text := t.text(&c.arguments, s.o.AnswerBytes)
	if len(available) > 0 {
		text += "\navailableTools: " + strings.Join(available, " ")
	}
	return reply{text: text}, nil
}

func runRolesCreate(_ context.Context, s *Server, c *call) (reply, error) {
	a := &c.arguments
	tools := slices.Clone(a.list("tools"))
	for i, name := range tools {
		// Either spelling is taken here as in tools/call. Resolved before accounts
		// judges, so that no spelling passes a tool by its rule.
		if t := s.byName[name]; t != nil {
			tools[i] = t.name
		}
	}
	r, err := s.db.CreateRole(c.caller, accounts.Role{
		Name: a.text("name"), Title: a.text("title"), Soul: a.text("soul"), Tools: tools,
	})
	if err != nil {
		return reply{}, err
	}
	return roleReply(c, "role created", r)
}

func runRolesDelete(_ context.Context, s *Server, c *call) (reply, error) {
	r, err := s.db.DeleteRole(c.caller, c.arguments.text("name"))
	if err != nil {
		return reply{}, err
	}
	return roleReply(c, "role deleted", r)
}

// grantableTools returns the tools that a role may be given.
func grantableTools() []string {
	return slices.DeleteFunc(ToolNames(), func(name string) bool { return slices.Contains(MasterOnly(), name) })
}
