package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// stub plays Patchbay, with an authorization server that agrees to everything.
type stub struct {
	*httptest.Server
	authorization *httptest.Server

	// What the next sync answers, in their order; the last one stays.
	syncs []answer
	// refuse is the status of every step that has one: connect, page, accept, callback.
	refuse map[string]int

	mu         sync.Mutex // guards what follows
	connectors []map[string]any
	connected  int
}

type answer struct {
	status int
	body   string
}

func newStub(t *testing.T) *stub {
	t.Helper()
	s := &stub{syncs: []answer{{http.StatusOK, `{"tools_total": 1}`}}}
	s.authorization = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.URL+"/oauth/callback?code=x", http.StatusFound)
	}))
	t.Cleanup(s.authorization.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/connectors", s.create)
	mux.HandleFunc("POST /api/v1/connectors/7/connect", s.connect)
	mux.HandleFunc("POST /api/v1/connectors/7/sync_tools", s.sync)
	mux.HandleFunc("GET /connect/{token}", s.page)
	mux.HandleFunc("POST /connect/{token}", s.accept)
	mux.HandleFunc("GET /oauth/callback", s.callback)
	mux.HandleFunc("GET /connect/done", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><main><p>Connected 'X'.</p></main>")
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *stub) create(w http.ResponseWriter, r *http.Request) {
	var connector map[string]any
	if err := json.NewDecoder(r.Body).Decode(&connector); err != nil || r.Header.Get("Authorization") != "Bearer the-key" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connectors = append(s.connectors, connector)
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, `{"id": "7"}`)
}

func (s *stub) connect(w http.ResponseWriter, _ *http.Request) {
	if s.refused(w, "connect") {
		return
	}
	fmt.Fprintf(w, `{"authorize_url": null, "connect_url": %q}`, s.URL+"/connect/the-token")
}

func (s *stub) sync(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.syncs[0]
	if len(s.syncs) > 1 {
		s.syncs = s.syncs[1:]
	}
	w.WriteHeader(next.status)
	fmt.Fprint(w, next.body)
}

func (s *stub) page(w http.ResponseWriter, _ *http.Request) {
	if s.refused(w, "page") {
		return
	}
	fmt.Fprint(w, `<!doctype html><header><form action="/search"><input name="q"></form></header>
		<main><form method="post" action="/connect/the-token"><input type="hidden" name="agreed" value="yes"><button>Go</button></form></main>`)
}

func (s *stub) accept(w http.ResponseWriter, r *http.Request) {
	if s.refused(w, "accept") {
		return
	}
	if r.PostFormValue("agreed") != "yes" || r.Header.Get("Origin") != s.URL {
		http.Error(w, "not from our page", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "binding", Value: "b", Path: "/", HttpOnly: true})
	http.Redirect(w, r, s.authorization.URL, http.StatusSeeOther)
}

func (s *stub) callback(w http.ResponseWriter, r *http.Request) {
	if s.refused(w, "callback") {
		return
	}
	if _, err := r.Cookie("binding"); err != nil {
		http.Error(w, "another browser", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.connected++
	s.mu.Unlock()
	http.Redirect(w, r, "/connect/done", http.StatusSeeOther)
}

func (s *stub) refused(w http.ResponseWriter, step string) bool {
	status, ok := s.refuse[step]
	if ok {
		w.WriteHeader(status)
		fmt.Fprint(w, "<main>No.</main>")
	}
	return ok
}

// offer is a sync refused for want of a credential, with the page that mends it.
func (s *stub) offer() answer {
	return answer{http.StatusConflict, fmt.Sprintf(`{"detail": "It needs you.", "connect_url": %q}`, s.URL+"/connect/the-token")}
}
