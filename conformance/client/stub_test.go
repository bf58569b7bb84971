package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stubServer imitates Patchbay with an authorization server that grants everything.
type stubServer struct {
	*httptest.Server
	authorization *httptest.Server

	// Responses of syncs in order; the last one repeats.
	syncs []stubAnswer
	// refuse is the error status by step: connect, page, accept, callback.
	refuse map[string]int

	// wants is the number of calls that the gateway refuses because no account is connected.
	wants int

	mu         sync.Mutex // guards wants and the fields below
	connectors []map[string]any
	connected  int
	called     []string // tools with their arguments
}

type stubAnswer struct {
	status int
	body   string
}

func newStub(t *testing.T) *stubServer {
	t.Helper()
	s := &stubServer{syncs: []stubAnswer{{http.StatusOK, `{"tools_total": 1}`}}}
	s.authorization = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.URL+"/oauth/callback?code=x", http.StatusFound)
	}))
	t.Cleanup(s.authorization.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/connectors", s.createConnector)
	mux.HandleFunc("POST /api/v1/connectors/{slug}/connect", s.startConnect)
	mux.HandleFunc("POST /api/v1/connectors/{slug}/sync_tools", s.syncTools)
	mux.HandleFunc("GET /connect/{token}", s.serveConnectPage)
	mux.HandleFunc("POST /connect/{token}", s.acceptConnect)
	mux.HandleFunc("GET /oauth/callback", s.handleCallback)
	mux.HandleFunc("GET /connect/done", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><main><p>Connected 'X'.</p></main>")
	})
	mux.HandleFunc("DELETE /api/v1/connectors/{slug}", s.noContent)
	mux.HandleFunc("POST /api/v1/agents", s.createConnector)
	mux.HandleFunc("PUT /api/v1/agents/7/connectors/{slug}", s.noContent)
	mux.HandleFunc("POST /api/v1/agents/7/tokens", s.createToken)
	mux.Handle("/mcp/{slug}", s.newGateway())
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *stubServer) createConnector(w http.ResponseWriter, r *http.Request) {
	var connector map[string]any
	if err := json.NewDecoder(r.Body).Decode(&connector); err != nil || r.Header.Get("Authorization") != "Bearer the-key" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/api/v1/connectors" {
		s.connectors = append(s.connectors, connector)
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, `{"id": "7"}`)
}

func (s *stubServer) startConnect(w http.ResponseWriter, _ *http.Request) {
	if s.refuseStep(w, "connect") {
		return
	}
	fmt.Fprintf(w, `{"authorize_url": null, "connect_url": %q}`, s.URL+"/connect/the-token")
}

func (s *stubServer) syncTools(w http.ResponseWriter, r *http.Request) {
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

func (s *stubServer) noContent(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNoContent)
}

func (s *stubServer) createToken(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, `{"token": "the-token"}`)
}

// newGateway serves two tools to clients with the token.
func (s *stubServer) newGateway() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "gateway", Version: "1"}, nil)
	for name, schema := range map[string]string{
		"first":  `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"}},"required":["a"]}`,
		"second": `{"type":"object"}`,
	} {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, s.callTool)
	}
	inside := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer the-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inside.ServeHTTP(w, r)
	})
}

func (s *stubServer) callTool(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wants > 0 {
		s.wants--
		return &mcp.CallToolResult{
			IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "It needs you."}},
			Meta: mcp.Meta{"patchbay/reason": map[string]any{"code": "needs_authorization", "connect_url": s.URL + "/connectors/7"}},
		}, nil
	}
	s.called = append(s.called, r.Params.Name+" "+string(r.Params.Arguments))
	return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
}

func (s *stubServer) serveConnectPage(w http.ResponseWriter, _ *http.Request) {
	if s.refuseStep(w, "page") {
		return
	}
	fmt.Fprint(w, `<!doctype html><header><form action="/search"><input name="q"></form></header>
		<main><form method="post" action="/connect/the-token"><input type="hidden" name="agreed" value="yes"><button>Go</button></form></main>`)
}

func (s *stubServer) acceptConnect(w http.ResponseWriter, r *http.Request) {
	if s.refuseStep(w, "accept") {
		return
	}
	if r.PostFormValue("agreed") != "yes" || r.Header.Get("Origin") != s.URL {
		http.Error(w, "not from our page", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "binding", Value: "b", Path: "/", HttpOnly: true})
	http.Redirect(w, r, s.authorization.URL, http.StatusSeeOther)
}

func (s *stubServer) handleCallback(w http.ResponseWriter, r *http.Request) {
	if s.refuseStep(w, "callback") {
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

func (s *stubServer) refuseStep(w http.ResponseWriter, step string) bool {
	status, ok := s.refuse[step]
	if ok {
		w.WriteHeader(status)
		fmt.Fprint(w, "<main>No.</main>")
	}
	return ok
}

// nextAnswer is a sync refused for a missing credential, with the connect link.
func (s *stubServer) nextAnswer() stubAnswer {
	return stubAnswer{http.StatusConflict, fmt.Sprintf(`{"detail": "It needs you.", "connect_url": %q}`, s.URL+"/connect/the-token")}
}
