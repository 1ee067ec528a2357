package accounts

import (
	"fmt"
	"net/mail"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of fields. Those of texts count characters (code points) unless the
// name says bytes.
const (
	maxEmailBytes = 254 // RFC 5321 section 4.5.3.1.3, less the angle brackets
	maxName       = 200
	maxPlan       = 64
	maxTitle      = 120
	maxLabel      = 120
	maxSoulBytes  = 2048
	minSecret     = 16  // bytes of a secret that is given, not made
	maxQuoted     = 100 // bytes of a wrong value that its error repeats
)

var (
	loginRule = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,38}$`)
	roleRule  = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)
)

const (
	wantLogin = "1-39 of letters, digits, _ . - starting with a letter or digit"
	wantRole  = "1-32 of lower-case letters, digits, _ - starting with a letter"
	wantEmail = "a bare address like ada@example.com of at most 254 bytes"
)

// refusal is an error whose text is the whole line a caller reads; its kind is
// one of the package's sentinels and not part of the text.
type refusal struct {
	kind error
	text string
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.kind }

func refuse(kind error, format string, args ...any) error {
	return &refusal{kind: kind, text: fmt.Sprintf(format, args...)}
}

// refuseValue says that a field was given a value it can't have.
func refuseValue(kind error, field, got, want string) error {
	return refuse(kind, "%s: got %s, want %s", field, quote(got), want)
}

// quote makes a given text safe to repeat: one line, printable, bounded.
func quote(s string) string {
	if cut := cutBytes(s, maxQuoted); cut != s {
		return strconv.Quote(cut) + "…"
	}
	return strconv.Quote(s)
}

// cutBytes returns the longest start of s that has at most n bytes and ends
// between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func checkLogin(field, login string) error {
	if !loginRule.MatchString(login) {
		return refuseValue(ErrInvalid, field, login, wantLogin)
	}
	return nil
}

func checkRoleName(name string) error {
	if !roleRule.MatchString(name) {
		return refuseValue(ErrInvalid, "name", name, wantRole)
	}
	return nil
}

// checkEmail accepts what net/mail reads as exactly this address: no display
// name, no brackets, no comment, nothing invisible.
func checkEmail(email string) error {
	a, err := mail.ParseAddress(email)
	if err != nil || a.Address != email || len(email) > maxEmailBytes ||
		strings.ContainsFunc(email, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return refuseValue(ErrInvalid, "email", email, wantEmail)
	}
	return nil
}

// checkText holds a one-line text to its bounds, both included, in characters.
func checkText(field, s string, least, most int) error {
	n := utf8.RuneCountInString(s)
	if n >= least && n <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, unseen) {
		return nil
	}
	want := fmt.Sprintf("at most %d characters on one line, no control characters", most)
	if least > 0 {
		want = fmt.Sprintf("%d-%d characters on one line, no control characters", least, most)
	}
	return refuseValue(ErrInvalid, field, s, want)
}

// unseen reports whether a character could forge or hide text where a name is
// shown: controls, line separators, overrides of the writing direction, tags.
// Joiners stay: names in several scripts need them.
func unseen(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) ||
		(r >= 0xE0000 && r <= 0xE007F)
}

func checkSoul(soul string) error {
	if len(soul) > maxSoulBytes {
		return refuse(ErrInvalid, "soul: got %d bytes, want at most %d bytes of UTF-8 text", len(soul), maxSoulBytes)
	}
	if !utf8.ValidString(soul) {
		return refuseValue(ErrInvalid, "soul", soul, "valid UTF-8 text")
	}
	return nil
}

// checkSecret judges a token that was given instead of made. Its error never
// repeats it.
func checkSecret(secret string) error {
	if len(secret) < minSecret {
		return refuse(ErrInvalid, "secret: got %d bytes, want at least %d bytes without spaces", len(secret), minSecret)
	}
	if strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r >= utf8.RuneSelf || r == 0x7f }) {
		// Other characters can't travel in an Authorization header.
		return refuse(ErrInvalid, "secret: got %d bytes with a space or a character outside ASCII, want at least %d bytes without spaces",
			len(secret), minSecret)
	}
	return nil
}

// fold is the form under which logins and emails are unique and found.
func fold(s string) []byte { return []byte(strings.ToLower(s)) }
