package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"sonde/storage/accounts"
)

// Admin commands speak to a running server over a unix socket in its data
// folder. Who may open the folder may administer it: the socket's mode is 0600
// and there is no other check.

// tokenAdmin is what the token commands need: the accounts file itself, or a
// server that has it open.
type tokenAdmin interface {
	create(ctx context.Context, r tokenRequest) (tokenCreated, error)
	list(ctx context.Context) ([]accounts.Token, error)
	revoke(ctx context.Context, id string) (accounts.Token, error)
	io.Closer
}

// tokenRequest asks for a token: of a login, or for ingest.
type tokenRequest struct {
	Login   string    `json:"login,omitempty"`
	Ingest  string    `json:"ingest,omitempty"`
	Label   string    `json:"label,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

// tokenCreated carries the secret, the one time that it is known.
type tokenCreated struct {
	Secret string         `json:"secret"`
	Token  accounts.Token `json:"token"`
}

// openAdmin reaches the server that runs on the folder, else opens the folder.
func openAdmin(ctx context.Context, dir string) (tokenAdmin, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("cannot open data folder %q: %w; --data names another", dir, err)
	}
	conn, err := dialSocket(ctx, dir)
	if err == nil {
		return remoteAdmin{dialOnce(conn, dir)}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("cannot reach the running server: %w", err)
	}
	db, err := openAccounts(dir)
	if errors.Is(err, accounts.ErrLocked) {
		return nil, fmt.Errorf("a server has %q open, but its socket %s does not answer: %w", dir, socketName, err)
	}
	if err != nil {
		return nil, err
	}
	return localAdmin{db}, nil
}

// dialOnce is a client whose first connection is the one that was made to see
// whether anyone is there.
func dialOnce(first net.Conn, dir string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if conn := first; conn != nil {
				first = nil
				return conn, nil
			}
			return dialSocket(ctx, dir)
		},
	}}
}

// localAdmin works on the open accounts file.
type localAdmin struct{ db *accounts.DB }

func (l localAdmin) create(_ context.Context, r tokenRequest) (c tokenCreated, err error) {
	if r.Ingest != "" {
		c.Secret, c.Token, err = l.db.CreateIngestToken(r.Ingest, r.Label, r.Expires)
	} else {
		c.Secret, c.Token, err = l.db.CreateToken(r.Login, r.Label, r.Expires)
	}
	return c, err
}

func (l localAdmin) list(context.Context) ([]accounts.Token, error) { return l.db.Tokens() }

func (l localAdmin) revoke(_ context.Context, id string) (accounts.Token, error) {
	return l.db.RevokeToken(id)
}

func (l localAdmin) Close() error { return l.db.Close() }

// adminHandler serves a tokenAdmin over HTTP.
func adminHandler(t tokenAdmin) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tokens", func(w http.ResponseWriter, r *http.Request) {
		var req tokenRequest
		if err := json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&req); err != nil {
			writeAdmin(w, nil, fmt.Errorf("%w: request: %w", accounts.ErrInvalid, err))
			return
		}
		created, err := t.create(r.Context(), req)
		writeAdmin(w, created, err)
	})
	mux.HandleFunc("GET /tokens", func(w http.ResponseWriter, r *http.Request) {
		tokens, err := t.list(r.Context())
		writeAdmin(w, tokens, err)
	})
	// Not in the path: an operator's slip such as ../x would lead elsewhere.
	mux.HandleFunc("DELETE /tokens", func(w http.ResponseWriter, r *http.Request) {
		removed, err := t.revoke(r.Context(), r.URL.Query().Get("id"))
		writeAdmin(w, removed, err)
	})
	return mux
}

// adminReply is an answer over the socket: a value or an error's text.
type adminReply struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

func writeAdmin(w http.ResponseWriter, value any, err error) {
	reply := adminReply{Value: value}
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		reply = adminReply{Error: err.Error()}
	}
	_ = json.NewEncoder(w).Encode(reply) // the client that left needs no answer
}

// remoteAdmin is the other end of adminHandler.
type remoteAdmin struct{ client *http.Client }

func (r remoteAdmin) create(ctx context.Context, req tokenRequest) (c tokenCreated, err error) {
	err = r.do(ctx, http.MethodPost, "/tokens", req, &c)
	return c, err
}

func (r remoteAdmin) list(ctx context.Context) (tokens []accounts.Token, err error) {
	err = r.do(ctx, http.MethodGet, "/tokens", nil, &tokens)
	return tokens, err
}

func (r remoteAdmin) revoke(ctx context.Context, id string) (t accounts.Token, err error) {
	err = r.do(ctx, http.MethodDelete, "/tokens?id="+url.QueryEscape(id), nil, &t)
	return t, err
}

func (r remoteAdmin) Close() error {
	r.client.CloseIdleConnections()
	return nil
}

func (r remoteAdmin) do(ctx context.Context, method, path string, body, value any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://sonde"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot ask the running server: %w", err)
	}
	defer resp.Body.Close()
	reply := adminReply{Value: value}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return fmt.Errorf("the running server answered %s: %w", resp.Status, err)
	}
	if reply.Error != "" {
		return errors.New(reply.Error)
	}
	return nil
}
