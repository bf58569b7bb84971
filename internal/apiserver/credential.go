package apiserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/openapi/httpcall"
)

// Credential is what a call gets besides its binding. It is sent to one origin only: a document may name other servers.
type Credential struct {
	Origin string // as of [connectors.Origin]
	// Header has the operator's own headers, too. It replaces headers of the binding.
	Header http.Header
	Query  []Pair
	Cookie []Pair
	// HeaderKeys are the keys in Header, with and without their scheme. Answers do not repeat them.
	HeaderKeys []string
}

// Pair is a key in a query or a cookie.
type Pair struct{ Name, Value string }

// isFor reports whether the credential is for the server of a binding.
func (c Credential) isFor(server string) bool {
	return c.Origin != "" && connectors.Origin(server) == c.Origin
}

// addTo adds the credential to a request for the server of an operation, in the place of parameters with its names.
func (c Credential) addTo(r *http.Request, o *boundOperation) {
	server, err := o.binding.ServerURL()
	if err != nil || c.Origin == "" || c.Origin != o.origin || r.URL.Scheme != server.Scheme || r.URL.Host != server.Host {
		return
	}
	for name, values := range c.Header {
		r.Header[name] = values
	}
	for _, p := range c.Query {
		r.URL.RawQuery = setPair(r.URL.RawQuery, "&", url.QueryEscape(p.Name), url.QueryEscape(p.Value))
	}
	for _, p := range c.Cookie {
		r.Header.Set("Cookie", setPair(r.Header.Get("Cookie"), "; ", p.Name, p.Value))
	}
}

// setPair returns name=value pairs with another value for one name.
func setPair(pairs, separator, name, value string) string {
	var all []string
	for pair := range strings.SplitSeq(pairs, separator) {
		before, _, _ := strings.Cut(pair, "=")
		decoded, err := url.QueryUnescape(before)
		if pair != "" && before != name && (err != nil || url.QueryEscape(decoded) != name) {
			all = append(all, pair)
		}
	}
	return strings.Join(append(all, name+"="+value), separator)
}

// Lengths of the shortest keys that are looked for in answers. Shorter ones are in every text.
const (
	minQueryKey = 4
	minKey      = 8
)

// keyForms returns the texts that say a key of the credential.
func (c Credential) keyForms() (forms []string) {
	for _, p := range c.Query {
		if len(p.Value) >= minQueryKey {
			forms = append(forms, encodeKey(p.Value)...)
		}
	}
	keys := slices.Clone(c.HeaderKeys)
	for _, p := range c.Cookie {
		keys = append(keys, p.Value)
	}
	for _, key := range keys {
		if len(key) >= minKey {
			forms = append(forms, encodeKey(key)...)
		}
	}
	return forms
}

// removeKeys removes keys from an answer. APIs repeat the address of a request, as in links to the next page, and some its headers.
func removeKeys(r *httpcall.Response, forms []string) {
	for _, form := range forms {
		if bytes.Contains(r.Body, []byte(form)) {
			r.Body = bytes.ReplaceAll(r.Body, []byte(form), []byte(redacted))
		}
		for name, values := range r.Header {
			if name == "Content-Type" {
				continue // it decides how the body is read
			}
			for i := range values {
				values[i] = strings.ReplaceAll(values[i], form, redacted)
			}
		}
	}
}

const redacted = "[redacted]"

var escapedByte = regexp.MustCompile(`%[0-9A-F]{2}`)

// encodeKey returns a key as it is, in a URL and in JSON.
func encodeKey(key string) []string {
	text, _ := json.Marshal(key) // a string
	forms := []string{key, url.QueryEscape(key), url.PathEscape(key), string(text[1 : len(text)-1])}
	for _, form := range forms {
		forms = append(forms, escapedByte.ReplaceAllStringFunc(form, strings.ToLower))
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}
