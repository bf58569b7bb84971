package mcpjson

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"patchbay/internal/connectors"
)

// header is one as the document has it.
type header struct{ name, value string }

func (h header) at() string { return "headers." + h.name }

// headerName is a token of RFC 9110 §5.6.2, of the length that names have.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")

func (h header) valid() bool { return headerName.MatchString(h.name) }

// readHeaders takes an object, or an array of "Name: value".
func (r *reading) readHeaders(at string, n node) {
	if !n.is('{') && !n.is('[') {
		r.refuse(at, "This must be an object of texts.")
		return
	}
	all := n.members()
	if len(all) > connectors.MaxHeaders {
		r.refuse(at, fmt.Sprintf("There are at most %d headers.", connectors.MaxHeaders))
		return
	}
	for _, m := range all {
		value, ok := m.scalar()
		if m.isNull() {
			continue
		}
		h := header{name: m.name, value: value}
		if n.is('[') {
			h.name, h.value, ok = strings.Cut(value, ":")
		}
		h.name, h.value = strings.TrimSpace(h.name), strings.TrimSpace(h.value)
		switch {
		case !ok && h.valid() && n.is('{'):
			r.refuse(h.at(), "A header is a name and a text.")
			continue
		case !ok, !h.valid(): // what is no name can be a line with a secret in it: it is not repeated
			r.refuse(at, "A header is a name and a text, as in \"X-Team\": \"eu\".")
			continue
		}
		r.headers = append(r.headers, h)
	}
}

// plainHeaders keeps what is left when the credential is taken out. They are shown to everybody who may read the connector.
func (r *reading) plainHeaders(rest []header) {
	if _, ok := r.fields["headers"]; !ok && len(r.headers) == 0 {
		return
	}
	plain := map[string]string{}
	for _, h := range rest {
		value := withDefaults(h.value)
		called, missing := placeholder(value)
		switch {
		case connectors.OwnHeader(h.name):
			r.note("The header " + h.name + " is left out: Patchbay sets it itself.")
		case missing:
			r.note("The header " + h.name + " is left out: " + called + " stands in its place.")
		default:
			plain[h.name] = value
		}
	}
	r.set(func(d *connectors.Draft) { d.Headers = plain })
}

// looksSecret tells whether a header would show a secret to everybody who may read the connector.
func (h header) looksSecret() bool {
	return secretName(h.name) || scheme(h.value) != "" && strings.Contains(h.value, " ")
}

var (
	secretWords    = []string{"token", "secret", "authorization", "cookie", "password", "passwd", "credential", "apikey", "signature"}
	secretEndings  = []string{"key", "-auth", "_auth", "jwt", "-pat", "session"}
	secretWholes   = []string{"auth", "pat", "pwd", "sig", "code"}
	harmlessEnding = []string{"idempotency-key", "tokens", "session-key-id"}
)

func secretName(name string) bool {
	name = strings.ToLower(name)
	has := func(list []string, test func(s, part string) bool) bool {
		return slices.ContainsFunc(list, func(part string) bool { return test(name, part) })
	}
	if has(harmlessEnding, strings.HasSuffix) {
		return false
	}
	return has(secretWords, strings.Contains) || has(secretEndings, strings.HasSuffix) || slices.Contains(secretWholes, name)
}

// scheme is the HTTP authentication scheme that a value begins with, in lower case; empty: none that is known.
func scheme(value string) string {
	if first := strings.ToLower(firstWord(value)); first == "bearer" || first == "basic" {
		return first
	}
	return ""
}

// secretParameter is the name of a query parameter that looks like a secret; empty: there is none.
func secretParameter(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	query := u.Query()
	for _, part := range strings.Split(u.RawQuery, "&") {
		name, _, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(name); err == nil && secretName(name) && query.Get(name) != "" {
			return short(name, 64)
		}
	}
	return ""
}
