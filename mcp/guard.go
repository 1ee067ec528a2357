package mcp

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard refuses requests that a page in someone's browser was tricked into
// sending: a Host that is not ours (DNS rebinding) or an Origin that is not.
type guard struct {
	hosts   map[string]bool // lower case; a name, or a name with a port
	origins map[string]bool // lower case
}

func newGuard(hosts, origins []string) guard {
	g := guard{hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, h := range hosts {
		g.hosts[strings.ToLower(strings.TrimSpace(h))] = true
	}
	for _, o := range origins {
		g.origins[strings.ToLower(strings.TrimSuffix(strings.TrimSpace(o), "/"))] = true
	}
	return g
}

// allows reports whether the request's Host, and each Origin it has, is ours.
func (g guard) allows(r *http.Request) bool {
	if !g.allowsHost(r.Host) {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if !g.allowsOrigin(origin, r.Host) {
			return false
		}
	}
	return true
}

// allowsHost takes loopback names and addresses with any port, and what was
// configured.
func (g guard) allowsHost(host string) bool {
	host = strings.ToLower(host)
	name := hostname(host)
	return isLoopback(name) || g.hosts[host] || g.hosts[name]
}

// allowsOrigin takes loopback origins, what was configured, and the host the
// request itself was sent to, which allowsHost has judged.
func (g guard) allowsOrigin(origin, host string) bool {
	origin = strings.ToLower(origin)
	if g.origins[origin] {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return false
	}
	return isLoopback(hostname(u.Host)) || u.Host == strings.ToLower(host)
}

// preflight answers what a browser asks before it lets a page of a configured
// origin call us, and marks answers as readable by that page. It reports
// whether the request is done with. Loopback origins are let through the guard
// but get no such leave: that is for the operator to give.
func (g guard) preflight(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || !g.origins[strings.ToLower(origin)] {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// hostname returns the name or address of a Host, without port, brackets and
// the dot that ends a full name.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(host, ".")
}

func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true // RFC 6761 section 6.3: never leaves the machine
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Unmap().IsLoopback()
}
