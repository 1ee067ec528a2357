package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of settings, both included.
const (
	minRetention   = time.Minute
	minMaxBytes    = 1 << 20
	minBodyBytes   = 1 << 10
	maxBodyBytes   = 64 << 20 // what blocks are made to hold in one row
	minAnswerBytes = 1_000
	maxAnswerBytes = 1_000_000
	maxShutdown    = 10 * time.Minute
)

// Validate returns what makes no sense, joined, one line for each fault: the
// key, its value, and what is allowed.
func (c Config) Validate() error { return c.validate(nil) }

// problems gathers what is wrong with a Config.
type problems struct {
	c     *Config
	table []Setting
	from  Provenance // may be nil
	wrong []error
}

// check says of the setting of a key what it must be, unless it is.
func (p *problems) check(key string, ok bool, want string) {
	if ok {
		return
	}
	s, _ := settingOf(p.table, key, func(s Setting) string { return s.Key })
	where := key
	if origin := p.from[key]; origin != "" {
		where += " (" + origin + ")"
	}
	p.wrong = append(p.wrong, fmt.Errorf("%s: %w", where, gotWant(s.value(p.c).String(), want)))
}

func (c Config) validate(from Provenance) error {
	p := &problems{c: &c, table: Settings(), from: from}
	p.check("data", c.Data != "", "a folder")
	p.check("retention", c.Retention >= minRetention, "at least "+FormatDuration(minRetention))
	p.check("max_bytes", c.MaxBytes >= minMaxBytes, "at least "+FormatBytes(minMaxBytes))
	p.check("partition_span", c.PartitionSpan >= time.Hour && c.PartitionSpan%time.Hour == 0, "a whole number of hours, at least 1h")
	p.check("head_bytes", c.HeadBytes >= c.Receiver.MaxBodyBytes,
		"at least receiver.max_body_bytes, "+FormatBytes(c.Receiver.MaxBodyBytes))
	p.check("shutdown_timeout", c.ShutdownTimeout > 0 && c.ShutdownTimeout <= maxShutdown, "more than 0s, at most "+FormatDuration(maxShutdown))
	p.check("receiver.max_body_bytes", c.Receiver.MaxBodyBytes >= minBodyBytes && c.Receiver.MaxBodyBytes <= maxBodyBytes,
		FormatBytes(minBodyBytes)+" to "+FormatBytes(maxBodyBytes))
	p.check("mcp.answer_bytes", c.MCP.AnswerBytes >= minAnswerBytes && c.MCP.AnswerBytes <= maxAnswerBytes,
		fmt.Sprintf("%d to %d bytes", minAnswerBytes, maxAnswerBytes))
	for _, s := range p.table {
		if choices := s.oneOf(); choices != nil {
			p.check(s.Key, slices.Contains(choices, s.value(&c).String()), "one of "+strings.Join(choices, ", "))
		}
	}
	p.check("http.allowed_hosts", !slices.ContainsFunc(c.HTTP.AllowedHosts, notHost), "host names without scheme and path, such as sonde.example.com")
	p.check("http.allowed_origins", !slices.ContainsFunc(c.HTTP.AllowedOrigins, notOrigin), "origins without path, such as https://ops.example.com")
	p.addresses()
	return errors.Join(p.wrong...)
}

// addresses checks the three listeners: well formed, apart from each other, and
// not open to the world by accident.
func (p *problems) addresses() {
	closed := p.c.Receiver.Auth || p.c.Receiver.AllowAnonymous
	seen := map[string]string{}
	for _, l := range []struct {
		key, address string
		ingest       bool
	}{
		{"receiver.grpc", p.c.Receiver.GRPC, true},
		{"receiver.http", p.c.Receiver.HTTP, true},
		{"http.listen", p.c.HTTP.Listen, false},
	} {
		host, port, err := splitAddress(l.address)
		p.check(l.key, err == nil, "HOST:PORT such as 127.0.0.1:4317, or :4317 for all addresses")
		if err != nil {
			continue
		}
		if port != 0 {
			p.check(l.key, seen[l.address] == "", "another address than "+seen[l.address])
			seen[l.address] = l.key
		}
		p.check(l.key, !l.ingest || closed || isLoopback(host),
			"a loopback address, or receiver.auth: true, or receiver.allow_anonymous: true for exports without a token from beyond this machine")
	}
}

func splitAddress(address string) (host string, port int, err error) {
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, err
	}
	if strings.ContainsAny(host, " \t/") {
		return "", 0, fmt.Errorf("host %q has a space or a slash", host)
	}
	return host, int(n), nil
}

// isLoopback reports whether only this machine reaches a host. Of names it
// believes localhost alone: what another one resolves to may change.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func notHost(s string) bool {
	return s == "" || strings.ContainsAny(s, "/@*? \t")
}

func notOrigin(s string) bool {
	u, err := url.Parse(s)
	return err != nil || u.Host == "" || u.User != nil || u.Scheme+"://"+u.Host != s || strings.Contains(u.Host, "*")
}
