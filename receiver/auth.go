package receiver

import (
	"fmt"
	"strings"
)

// authorize checks the value of an Authorization header, "" when there is none.
func (r *Receiver) authorize(header string) error {
	if r.options.Authorize == nil {
		return nil
	}
	if err := r.options.Authorize(bearerToken(header)); err != nil {
		return fmt.Errorf("%w: %w", errUnauthorized, err)
	}
	return nil
}

// bearerToken returns the token of "Bearer TOKEN" (RFC 6750), "" for anything
// else. Schemes are case-insensitive.
func bearerToken(header string) string {
	scheme, token, found := strings.Cut(header, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
