package oauthtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ResourceBehaviour says how a protected MCP server behaves. The zero value challenges with resource_metadata, and
// publishes that document at the path-aware place.
type ResourceBehaviour struct {
	Path      string // of the MCP endpoint; empty: /mcp
	OnServer  bool   // on the authorization server's own origin, as in MCP 2025-03-26
	Challenge Challenge
	Scope     string // of the challenge

	Metadata    ResourceMetadata
	Resource    string   // what the document claims; empty: the endpoint's URL
	Servers     []string // authorization_servers; nil: the one
	Scopes      []string // scopes_supported
	MetadataURL string   // what the challenge names; empty: the truth

	OpenMethods []string          // JSON-RPC methods that need no token
	StepUp      map[string]string // JSON-RPC method → scope without which it is answered 403
	RefuseAll   bool              // 401 for good tokens, too
	TakesProofs bool              // the document says that tokens have to be bound to a key
	Nonce       string            // that proofs of bound tokens must have; empty: none
	Next        http.Handler      // what is protected; nil: answers {}
}

// Challenge is what a 401 says.
type Challenge int

// The challenges.
const (
	WithMetadata Challenge = iota // Bearer resource_metadata="…"
	Bare                          // Bearer
	NoChallenge                   // no WWW-Authenticate at all
	NotBearer                     // Basic realm="…"
)

// ResourceMetadata is where the document stands.
type ResourceMetadata int

// The places.
const (
	AtPath        ResourceMetadata = iota // /.well-known/oauth-protected-resource/mcp
	AtRoot                                // /.well-known/oauth-protected-resource
	NoMetadata                            // 404
	MetadataFails                         // 503 everywhere
)

// Resource is a running MCP server behind an authorization server.
type Resource struct {
	URL string // of the MCP endpoint

	as     *Server
	origin string

	mu        sync.Mutex // guards what follows
	behaviour ResourceBehaviour
	tokens    []string
	refused   int
	looked    []string
}

// Protect serves an MCP endpoint that asks for this server's tokens until the test ends.
func (s *Server) Protect(t testing.TB, b ResourceBehaviour) *Resource {
	t.Helper()
	if b.Path == "" {
		b.Path = "/mcp"
	}
	r := &Resource{as: s, behaviour: b, origin: s.Origin()}
	mux := s.mux
	if !b.OnServer {
		mux = http.NewServeMux()
		server := httptest.NewServer(mux)
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		r.origin = server.URL
	}
	r.URL = r.origin + b.Path
	mux.HandleFunc("/.well-known/", r.serveMetadata)
	mux.HandleFunc(b.Path, r.serveResource)
	return r
}

// Set changes the behaviour from the next request on.
func (r *Resource) Set(change func(*ResourceBehaviour)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.behaviour)
}

// Tokens returns the bearer tokens that requests carried, in order; one without is "".
func (r *Resource) Tokens() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.tokens)
}

// Refused is how many requests were answered 401.
func (r *Resource) Refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// Looked returns the paths under /.well-known/ that were asked for, in order.
func (r *Resource) Looked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.looked)
}

const wellKnown = "/.well-known/oauth-protected-resource"

func (r *Resource) serveMetadata(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.looked = append(r.looked, req.URL.Path)
	b := r.behaviour
	r.mu.Unlock()
	place := wellKnown + b.Path
	if b.Metadata == AtRoot {
		place = wellKnown
	}
	switch {
	case b.Metadata == MetadataFails:
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	case b.Metadata == NoMetadata, req.URL.Path != place:
		http.NotFound(w, req)
		return
	}
	doc := Document{"resource": r.URL, "authorization_servers": []string{r.as.Issuer}, "bearer_methods_supported": []string{"header"}}
	if b.Resource != "" {
		doc["resource"] = b.Resource
	}
	if b.Servers != nil {
		doc["authorization_servers"] = b.Servers
	}
	if b.Scopes != nil {
		doc["scopes_supported"] = b.Scopes
	}
	if b.TakesProofs {
		doc["dpop_bound_access_tokens_required"] = true
	}
	sendJSON(w, http.StatusOK, doc)
}

func (r *Resource) serveResource(w http.ResponseWriter, req *http.Request) {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	method := peekMethod(req)
	r.mu.Lock()
	r.tokens = append(r.tokens, token)
	b := r.behaviour
	r.mu.Unlock()
	scopes, good := r.as.Accepts(token)
	if good && !r.isProven(w, req, b, scheme, token) {
		return
	}
	switch need := b.StepUp[method]; {
	case slices.Contains(b.OpenMethods, method):
	case !good || b.RefuseAll:
		r.writeChallenge(w, b, token)
		return
	case need != "" && !slices.Contains(scopes, need):
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q, resource_metadata=%q`, need, r.metadataURL(b)))
		http.Error(w, "more scope", http.StatusForbidden)
		return
	}
	if b.Next == nil {
		sendJSON(w, http.StatusOK, Document{})
		return
	}
	b.Next.ServeHTTP(w, req)
}

// isProven answers a request with a bound token that comes without a valid proof, or with one without the nonce.
func (r *Resource) isProven(w http.ResponseWriter, req *http.Request, b ResourceBehaviour, scheme, token string) bool {
	bound := r.as.boundTo(token)
	if bound == "" && scheme == "Bearer" {
		return true
	}
	thumbprint, nonce, err := r.as.verifyProof(req.Header, req.Method, r.URL, token)
	switch {
	case err != nil || scheme != "DPoP" || thumbprint != bound:
		r.writeChallenge(w, b, token)
		return false
	case nonce != b.Nonce:
		w.Header().Set("DPoP-Nonce", b.Nonce)
		w.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
		http.Error(w, "nonce", http.StatusUnauthorized)
		return false
	}
	return true
}

func (r *Resource) writeChallenge(w http.ResponseWriter, b ResourceBehaviour, token string) {
	r.mu.Lock()
	r.refused++
	r.mu.Unlock()
	challenge := "Bearer"
	if b.Challenge == WithMetadata {
		challenge += fmt.Sprintf(` resource_metadata=%q`, r.metadataURL(b))
		if b.Scope != "" {
			challenge += fmt.Sprintf(`, scope=%q`, b.Scope)
		}
		if token != "" {
			challenge += `, error="invalid_token"`
		}
	}
	if b.Challenge == NotBearer {
		challenge = `Basic realm="mcp"`
	}
	if b.Challenge != NoChallenge {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	http.Error(w, "who are you?", http.StatusUnauthorized)
}

// MetadataURL is where a challenge points.
func (r *Resource) MetadataURL() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.metadataURL(r.behaviour)
}

func (r *Resource) metadataURL(b ResourceBehaviour) string {
	switch {
	case b.MetadataURL != "":
		return b.MetadataURL
	case b.Metadata == AtRoot:
		return r.origin + wellKnown
	}
	return r.origin + wellKnown + b.Path
}

func peekMethod(req *http.Request) string {
	body, _ := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	req.Body = io.NopCloser(bytes.NewReader(body))
	var message struct{ Method string }
	_ = json.Unmarshal(body, &message)
	return message.Method
}
