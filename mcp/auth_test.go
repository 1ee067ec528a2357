package mcp_test

import (
	"net/http"
	"testing"
	"time"

	"sonde/mcp"
)

func TestBearer(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	revoked, token, err := w.db.CreateToken("ada", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.RevokeToken(token.ID); err != nil {
		t.Fatal(err)
	}
	ingest, _, err := w.db.CreateIngestToken("collector", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	expired, _, err := w.db.CreateToken("ada", "", noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	w.passed.Store(int64(time.Minute))
	good := w.tokens["ada"]
	const none, invalid = `Bearer realm="sonde"`, `Bearer realm="sonde", error="invalid_token"`

	var body string
	for _, c := range []struct {
		name      string
		header    []string
		status    int
		challenge string
	}{
		{"good", []string{"Bearer " + good}, 200, ""},
		{"scheme in lower case", []string{"bearer " + good}, 200, ""},
		{"more blanks", []string{"Bearer   " + good}, 200, ""},
		{"none", nil, 401, none},
		{"empty", []string{""}, 401, none},
		{"another scheme", []string{"Basic " + good}, 401, none},
		{"no scheme", []string{good}, 401, none},
		{"scheme alone", []string{"Bearer"}, 401, invalid},
		{"unknown", []string{"Bearer sonde_0000000000000000000000000000000000000000000"}, 401, invalid},
		{"garbage", []string{"Bearer \x80\xff"}, 401, invalid},
		{"revoked", []string{"Bearer " + revoked}, 401, invalid},
		{"expired", []string{"Bearer " + expired}, 401, invalid},
		{"of ingest", []string{"Bearer " + ingest}, 401, invalid},
		{"two headers", []string{"Bearer " + good, "Bearer " + good}, 401, invalid},
		{"a second scheme", []string{"Basic abc", "Bearer " + good}, 401, invalid},
		{"cut by a byte", []string{"Bearer " + good[:len(good)-1]}, 401, invalid},
	} {
		// The broken body shows that nothing is parsed before the token is known.
		payload := "{"
		if c.status == 200 {
			payload = ping
		}
		x := w.do(t, http.MethodPost, "/mcp", payload, http.Header{"Authorization": c.header})
		if x.status != c.status || x.header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s: POST = %d, %q, want %d, %q", c.name, x.status, x.header.Get("WWW-Authenticate"), c.status, c.challenge)
		}
		if c.status != 401 {
			continue
		}
		if body == "" {
			body = x.body
		}
		if x.body != body {
			t.Errorf("%s: body %q, want %q as for all others", c.name, x.body, body)
		}
	}
	if x := w.do(t, http.MethodPost, "/mcp?access_token="+good, ping, nil); x.status != 401 {
		t.Errorf("token in the query: POST = %d, want 401", x.status)
	}
}

// TestRightsAreReadAnew: what a master takes away is gone with the next call.
func TestRightsAreReadAnew(t *testing.T) {
	w := open(t, nil, nil, mcp.Options{})
	boss, err := w.db.Authenticate(w.tokens["master"])
	if err != nil {
		t.Fatal(err)
	}
	if n := len(w.list(t, "eve", "")); n != len(auditorTools) {
		t.Fatalf("tools of eve = %d, want %d", n, len(auditorTools))
	}
	if _, err := w.db.SetRole(boss, "eve", "member"); err != nil {
		t.Fatal(err)
	}
	if n := len(w.list(t, "eve", "")); n != len(mcp.MemberTools()) {
		t.Errorf("tools of eve, a member now = %d, want %d", n, len(mcp.MemberTools()))
	}
	if _, _, err := w.db.DeleteUser(boss, "eve"); err != nil {
		t.Fatal(err)
	}
	if x := w.post(t, "eve", "", ping); x.status != http.StatusUnauthorized {
		t.Errorf("ping of a deleted user = %d, want 401", x.status)
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	// Clients that look for an authorization server after a 401 must see that
	// there is none.
	w := open(t, nil, nil, mcp.Options{})
	for _, path := range []string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/register"} {
		if x := w.do(t, http.MethodGet, path, "", nil); x.status != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, x.status)
		}
	}
}
