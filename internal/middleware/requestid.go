package middleware

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5/middleware"
)

// RequestID names the request; chi's GetReqID reads the name.
func RequestID(trusted []netip.Prefix) Middleware {
	name := NameRequest(trusted)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id := name(w.Header(), r)
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), middleware.RequestIDKey, id)))
		})
	}
}

// requestHeader is where the name stands, in requests and in answers.
const requestHeader = "X-Request-Id"

// NameRequest names requests, and says each name in its answer's header. One that a trusted proxy has given is kept where it is harmless in a
// log line; others would choose under which name they are on record, as somebody else's. The name is nobody's secret, and no proof of anything.
func NameRequest(trusted []netip.Prefix) func(answer http.Header, r *http.Request) string {
	return func(answer http.Header, r *http.Request) string {
		if given := r.Header[requestHeader]; len(given) > 0 && harmless(given[0]) && fromOneOf(trusted, r) {
			id := strings.Clone(given[0]) // what is kept of a request does not keep its head in memory
			answer[requestHeader] = []string{id}
			return id
		}
		id := made.take()
		answer[requestHeader] = id
		return id[0]
	}
}

// harmless tells whether an id that came with a request may be kept: 8 to 64 letters, digits, points, underscores and hyphens.
func harmless(id string) bool {
	if len(id) < 8 || len(id) > 64 {
		return false
	}
	for _, c := range []byte(id) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// made are the names of the next requests. Each call of an agent takes one: they are made some at a time, in two pieces of memory.
var made names

type names struct {
	mu   sync.Mutex
	left []string // guarded by mu
}

// take is one name, as an answer's header has it.
func (n *names) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.left) == 0 {
		n.left = makeNames()
	}
	one := n.left[:1:1]
	n.left = n.left[1:]
	return one
}

// makeNames makes names of 130 bits each, as [rand.Text] does.
func makeNames() []string {
	const (
		some     = 64
		length   = 26
		alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	)
	var b [some * length]byte
	_, _ = rand.Read(b[:]) // it never fails
	for i := range b {
		b[i] = alphabet[b[i]%32]
	}
	text, list := string(b[:]), make([]string, some)
	for i := range list {
		list[i] = text[i*length:][:length]
	}
	return list
}
