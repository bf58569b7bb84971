package mcptest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// EchoMark is in every text of Echoes.
const EchoMark = "the server repeats: "

// Echoes are failures that repeat the credentials of their request, each in another part of the response. They handle
// initialize or any other method.
func Echoes() map[string]Handler {
	return map[string]Handler{
		"body": func(w http.ResponseWriter, r *http.Request, _ Call) {
			http.Error(w, EchoMark+repeatSecrets(r), http.StatusInternalServerError)
		},
		"refusal": func(w http.ResponseWriter, r *http.Request, _ Call) {
			http.Error(w, EchoMark+repeatSecrets(r), http.StatusForbidden)
		},
		"challenge": func(w http.ResponseWriter, r *http.Request, _ Call) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q, error=%q, error_description=%q", oneLine(repeatSecrets(r)), "invalid_token", EchoMark+oneLine(repeatSecrets(r))))
			w.Header().Set("X-Request", oneLine(repeatSecrets(r)))
			w.WriteHeader(http.StatusUnauthorized)
		},
		"message": func(w http.ResponseWriter, r *http.Request, c Call) {
			text, _ := json.Marshal(EchoMark + repeatSecrets(r))
			Answer("application/json", func(c Call) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%s}}`, c.ID, text)
			})(w, r, c)
		},
		"data": func(w http.ResponseWriter, r *http.Request, c Call) {
			text, _ := json.Marshal(map[string]any{"of": EchoMark, "nested": []any{map[string]string{"x": repeatSecrets(r)}}})
			Answer("application/json", func(c Call) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"it failed","data":%s}}`, c.ID, text)
			})(w, r, c)
		},
		"path": func(w http.ResponseWriter, r *http.Request, _ Call) {
			w.Header().Set("Location", "/"+strings.Join(sentSecrets(r), "/"))
			w.WriteHeader(http.StatusFound)
		},
		"host": func(w http.ResponseWriter, r *http.Request, _ Call) {
			w.Header().Set("Location", "https://"+strings.Join(sentSecrets(r), ".")+".example.com/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"version": func(w http.ResponseWriter, r *http.Request, c Call) {
			version := strings.Join(sentSecrets(r), ".")
			Answer("application/json", func(c Call) string {
				return Result(c, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"serverInfo":{"name":"x","version":"1"}}`, version))
			})(w, r, c)
		},
		"versions": func(w http.ResponseWriter, r *http.Request, c Call) {
			supported, _ := json.Marshal(sentSecrets(r))
			Answer("application/json", func(c Call) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"version","data":{"supported":%s}}}`, c.ID, supported)
			})(w, r, c)
		},
	}
}

// sentSecrets returns the credentials of a request: the words of its credential headers, and the password of Basic.
func sentSecrets(r *http.Request) []string {
	var all []string
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		scheme, rest, hasScheme := strings.Cut(r.Header.Get(name), " ")
		if !hasScheme {
			rest = scheme
		}
		if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && scheme == "Basic" {
			_, rest, _ = strings.Cut(string(pair), ":")
		}
		if rest != "" {
			all = append(all, rest)
		}
	}
	return all
}

// repeatSecrets returns the credentials of a request in every usual encoding, also on two lines.
func repeatSecrets(r *http.Request) string {
	var out strings.Builder
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		fmt.Fprintln(&out, r.Header.Get(name))
	}
	for _, s := range sentSecrets(r) {
		out.WriteString(EncodeAll(s))
	}
	return out.String()
}

// EncodeAll returns a text in every usual encoding, one a line, and on two lines.
func EncodeAll(s string) string {
	encoded := base64.StdEncoding.EncodeToString([]byte(s))
	escaped := &strings.Builder{}
	for _, c := range []byte(s) {
		fmt.Fprintf(escaped, `\u%04x`, c)
	}
	quoted, _ := json.Marshal(s)
	percent := &strings.Builder{}
	for _, c := range []byte(s) {
		fmt.Fprintf(percent, "%%%02X", c)
	}
	address := (&url.URL{Scheme: "https", Host: "example.com", Path: "/" + s, RawQuery: "x=" + url.QueryEscape(s)}).String()
	lines := []string{
		s, string(quoted), fmt.Sprintf("%x", s), fmt.Sprintf("%X", s), encoded, base64.RawURLEncoding.EncodeToString([]byte("x:" + s)), escaped.String(),
		percent.String(), address, "https://ann:" + url.QueryEscape(s) + "@example.com", s[:len(s)/2], s[len(s)/2:], encoded[:len(encoded)/2], encoded[len(encoded)/2:],
	}
	return strings.Join(lines, "\n") + "\n"
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }
