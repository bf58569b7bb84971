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

// RequestID sets the id that chi's GetReqID returns.
func RequestID(trusted []netip.Prefix) Middleware {
	name := RequestIDFunc(trusted)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id := name(w.Header(), r)
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), middleware.RequestIDKey, id)))
		})
	}
}

const requestIDHeader = "X-Request-Id"

// RequestIDFunc returns a function that sets and returns a request's id. It keeps a trusted proxy's id if that
// is safe for a log line. Other clients cannot choose an id, which would let them imitate another one in the
// log. Ids are not secret.
func RequestIDFunc(trusted []netip.Prefix) func(answer http.Header, r *http.Request) string {
	return func(answer http.Header, r *http.Request) string {
		if given := r.Header[requestIDHeader]; len(given) > 0 && isSafeID(given[0]) && isFromTrusted(trusted, r) {
			id := strings.Clone(given[0]) // does not retain the request's header memory
			answer[requestIDHeader] = []string{id}
			return id
		}
		id := requestIDs.nextID()
		answer[requestIDHeader] = id
		return id[0]
	}
}

// isSafeID reports whether an id has 8 to 64 letters, digits, points, underscores and hyphens.
func isSafeID(id string) bool {
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

// requestIDs holds the next ids. They are made in batches with two allocations, because each agent call takes
// one.
var requestIDs requestIDPool

type requestIDPool struct {
	mu  sync.Mutex
	ids []string // guarded by mu
}

// nextID returns an id as a header value.
func (p *requestIDPool) nextID() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ids) == 0 {
		p.ids = newRequestIDs()
	}
	id := p.ids[:1:1]
	p.ids = p.ids[1:]
	return id
}

// newRequestIDs makes ids of 130 random bits each, like [rand.Text].
func newRequestIDs() []string {
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
