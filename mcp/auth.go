package mcp

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sonde/storage/accounts"
)

// authenticate finds the caller by the bearer token of the request. Nothing in
// the problem tells a revoked token from one that never was.
func (s *Server) authenticate(c echo.Context) (accounts.Principal, *problem) {
	token, sent := bearer(c.Request().Header)
	if token == "" {
		return accounts.Principal{}, unauthorized(c, sent)
	}
	p, err := s.db.Authenticate(token)
	if err == nil {
		return p, nil
	}
	if errors.Is(err, accounts.ErrNoToken) {
		return accounts.Principal{}, unauthorized(c, true)
	}
	s.o.Log.Error("cannot authenticate", "error", err)
	return accounts.Principal{}, &problem{http.StatusServiceUnavailable, "cannot check the token now"}
}

// bearer returns the token of the Authorization header, "" when there is not
// exactly one header of the scheme Bearer; sent reports whether any was tried.
func bearer(h http.Header) (token string, sent bool) {
	values := h.Values("Authorization")
	for _, v := range values {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(v), " ")
		if strings.EqualFold(scheme, "Bearer") {
			token, sent = strings.TrimSpace(rest), true
		}
	}
	if len(values) != 1 {
		token = ""
	}
	return token, sent
}

// unauthorized is the problem of a missing or bad token, by RFC 6750 section 3:
// an error code only when a token was sent.
func unauthorized(c echo.Context, sent bool) *problem {
	challenge := `Bearer realm="sonde"`
	if sent {
		challenge += `, error="invalid_token"`
	}
	c.Response().Header().Set(echo.HeaderWWWAuthenticate, challenge)
	return &problem{http.StatusUnauthorized, "a valid token is required: Authorization: Bearer sonde_..."}
}
