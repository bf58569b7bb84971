package oauthtest

import (
	"crypto"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a running authorization server.
type Server struct {
	Issuer string
	// Elsewhere is where Redirect sends token requests.
	Elsewhere string

	path   string
	mux    *http.ServeMux // what Protect mounts here
	server *httptest.Server

	mu        sync.Mutex // guards what follows
	behaviour Behaviour
	requests  []Request
	clients   map[string]*registeredClient
	codes     map[string]*issuedCode
	refresh   map[string]*issuedGrant // by every refresh token ever given
	access    map[string]*accessToken
	issued    []string
	proofs    map[string]bool          // ids of valid proofs
	waiting   map[Kind][]chan struct{} // callers waiting for the next request of a kind
}

// Request is one request that was received.
type Request struct {
	Kind   Kind
	Path   string
	Query  url.Values
	Form   url.Values
	Header http.Header
	Body   string
}

type registeredClient struct {
	id, secret string
	method     string
	key        crypto.PublicKey
	redirects  []string
}

type issuedCode struct {
	client, redirect, challenge, resource string
	scopes                                []string
}

// issuedGrant is what a person agreed to: all tokens of one family.
type issuedGrant struct {
	client, resource string
	scopes           []string
	current          string // refresh token
	bound            string // thumbprint of the key; empty: none
	dead             bool
}

type accessToken struct {
	grant   *issuedGrant // nil: the client's own
	scopes  []string
	expires time.Time
}

// Start serves until the test ends.
func Start(t testing.TB, b Behaviour) *Server {
	t.Helper()
	s := &Server{
		path: b.IssuerPath, behaviour: b, mux: http.NewServeMux(),
		clients: map[string]*registeredClient{}, codes: map[string]*issuedCode{}, refresh: map[string]*issuedGrant{}, access: map[string]*accessToken{},
		waiting: map[Kind][]chan struct{}{}, proofs: map[string]bool{},
	}
	s.server = httptest.NewServer(s)
	s.Issuer = s.server.URL + b.IssuerPath
	t.Cleanup(s.Stop)
	return s
}

// Stop ends the server: connections to it are refused from now on.
func (s *Server) Stop() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// Origin is scheme, host and port.
func (s *Server) Origin() string { return s.server.URL }

// Set changes the behaviour from the next request on.
func (s *Server) Set(change func(*Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.behaviour)
}

// Requests returns what was received of these kinds (none: of all), in order.
func (s *Server) Requests(kinds ...Kind) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Request
	for _, r := range s.requests {
		if len(kinds) == 0 || slices.Contains(kinds, r.Kind) {
			all = append(all, r)
		}
	}
	return all
}

// Count is how many requests of these kinds came.
func (s *Server) Count(kinds ...Kind) int { return len(s.Requests(kinds...)) }

// Arrived is closed as soon as a request of this kind has been counted; at once where one has been.
func (s *Server) Arrived(kind Kind) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	arrived := make(chan struct{})
	if slices.ContainsFunc(s.requests, func(r Request) bool { return r.Kind == kind }) {
		close(arrived)
	} else {
		s.waiting[kind] = append(s.waiting[kind], arrived)
	}
	return arrived
}

// Issued lists every code, token and secret that was given out.
func (s *Server) Issued() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.issued)
}

// AddClient makes a client that an admin would have registered by hand. key is for private_key_jwt; nil: none.
func (s *Server) AddClient(id, secret string, key crypto.PublicKey, redirects ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[id] = &registeredClient{id: id, secret: secret, key: key, redirects: redirects}
}

// Give gives a client tokens for a resource, as if a person had agreed.
func (s *Server) Give(client, resource string, scopes ...string) (access, refresh string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &issuedGrant{client: client, resource: resource, scopes: scopes}
	doc := s.issueGrantTokens(g, s.behaviour)
	access, _ = doc["access_token"].(string)
	return access, g.current
}

// ForgetClients purges every client.
func (s *Server) ForgetClients() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.clients)
}

// EndGrants makes every refresh token invalid, as when a person removes the access.
func (s *Server) EndGrants() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.refresh {
		g.dead = true
	}
}

// ExpireAccess makes every access token that was given out invalid; refresh tokens go on.
func (s *Server) ExpireAccess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Accepts reports whether an access token is good now, and for which scopes.
func (s *Server) Accepts(token string) (scopes []string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.access[token]
	if !ok || a.grant != nil && a.grant.dead || time.Now().After(a.expires) {
		return nil, false
	}
	return a.scopes, true
}

// ServeHTTP answers by the behaviour.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := readRequest(r)
	path := strings.TrimPrefix(r.URL.Path, s.path)
	switch {
	case strings.Contains(r.URL.Path, "/.well-known/") && !strings.Contains(r.URL.Path, "oauth-protected-resource"):
		request.Kind = MetadataRequest
	case path == "/register":
		request.Kind = Register
	case path == "/authorize":
		request.Kind = Authorize
	case path == "/token":
		request.Kind = Kind(request.Form.Get("grant_type"))
	case path == "/revoke":
		request.Kind = Revoke
	case path == "/userinfo":
		request.Kind = Userinfo
	default:
		request.Kind = Other
	}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	for _, arrived := range s.waiting[request.Kind] {
		close(arrived)
	}
	delete(s.waiting, request.Kind)
	b := s.behaviour
	s.mu.Unlock()
	switch request.Kind {
	case MetadataRequest:
		s.serveMetadata(w, request, b)
	case Register:
		s.serveRegister(w, request, b)
	case Authorize:
		s.serveAuthorize(w, r, b)
	case Revoke:
		s.serveRevoke(w, request, b)
	case Userinfo:
		s.serveUserinfo(w, request, b)
	case Other:
		s.mux.ServeHTTP(w, r)
	default:
		s.serveToken(w, r, request, b)
	}
}

func readRequest(r *http.Request) Request {
	request := Request{Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone()}
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		request.Body = string(body)
		request.Form, _ = url.ParseQuery(request.Body)
	}
	return request
}

// newSecret makes a value that Issued will list. s.mu is held.
func (s *Server) newSecret(prefix string) string {
	text := prefix + "-" + rand.Text()
	s.issued = append(s.issued, text)
	return text
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
