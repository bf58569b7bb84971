package clientconfig

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"patchbay/internal/connectors"
)

type header struct{ name, value string }

func (h header) location() string { return "headers." + h.name }

// headerName is a token (RFC 9110 section 5.6.2) of the allowed length.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")

func (h header) hasValidName() bool { return headerName.MatchString(h.name) }

// readHeaders reads an object, or an array of "Name: value".
func (r *serverReader) readHeaders(location string, n node) {
	if !n.isKind('{') && !n.isKind('[') {
		r.addProblem(location, "Must be an object of strings.")
		return
	}
	all := n.members()
	if len(all) > connectors.MaxHeaders {
		r.addProblem(location, fmt.Sprintf("At most %d headers.", connectors.MaxHeaders))
		return
	}
	for _, m := range all {
		value, ok := m.scalarText()
		if m.isNull() {
			continue
		}
		h := header{name: m.name, value: value}
		if n.isKind('[') {
			h.name, h.value, ok = strings.Cut(value, ":")
		}
		h.name, h.value = strings.TrimSpace(h.name), strings.TrimSpace(h.value)
		switch {
		case !ok && h.hasValidName() && n.isKind('{'):
			r.addProblem(h.location(), "Header values must be strings.")
			continue
		case !ok, !h.hasValidName(): // an invalid name may be a secret: it is not repeated
			r.addProblem(location, `Write headers as "X-Team": "eu".`)
			continue
		}
		r.headers = append(r.headers, h)
	}
}

// readEnvHeaders reads Codex's headers with values from variables of its environment.
func (r *serverReader) readEnvHeaders(location string, n node) {
	before := len(r.headers)
	r.readHeaders(location, n)
	for i := range r.headers[before:] {
		h := &r.headers[before+i]
		h.value = "${" + h.value + "}"
	}
}

// addBearer adds a header with a token.
func (r *serverReader) addBearer(token string) {
	r.headers = append(r.headers, header{name: "Authorization", value: "Bearer " + token})
}

// setPlainHeaders stores the other headers, which every reader of the connector sees.
func (r *serverReader) setPlainHeaders(rest []header) {
	if _, ok := r.fields["headers"]; !ok && len(r.headers) == 0 {
		return
	}
	plain := map[string]string{}
	for _, h := range rest {
		value := expandDefaults(h.value)
		called, missing := parsePlaceholder(value)
		switch {
		case connectors.OwnHeader(h.name):
			r.addNotice("Header " + h.name + " left out: Patchbay sets it.")
		case missing:
			r.addNotice("Header " + h.name + " left out: its value is " + called + ".")
		default:
			plain[h.name] = value
		}
	}
	r.addSetting(func(d *connectors.Draft) { d.Headers = plain })
}

func (h header) looksSecret() bool {
	return secretName(h.name) || authScheme(h.value) != "" && strings.Contains(h.value, " ")
}

var (
	secretWords    = []string{"token", "secret", "authorization", "cookie", "password", "passwd", "credential", "apikey", "signature"}
	secretEndings  = []string{"key", "-auth", "_auth", "jwt", "-pat", "session"}
	secretNames    = []string{"auth", "pat", "pwd", "sig", "code"}
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
	return has(secretWords, strings.Contains) || has(secretEndings, strings.HasSuffix) || slices.Contains(secretNames, name)
}

// authScheme returns the known HTTP authentication scheme at the start of a value, in lower case, or "".
func authScheme(value string) string {
	if first := strings.ToLower(firstWord(value)); first == "bearer" || first == "basic" {
		return first
	}
	return ""
}

// secretParameter returns the name of a query parameter that looks secret, or "".
func secretParameter(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	query := u.Query()
	for _, part := range strings.Split(u.RawQuery, "&") {
		name, _, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(name); err == nil && secretName(name) && query.Get(name) != "" {
			return shorten(name, 64)
		}
	}
	return ""
}
