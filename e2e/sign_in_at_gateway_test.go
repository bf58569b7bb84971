//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"patchbay/internal/testing/browser"
)

// longPath makes a program's request longer than most: it is the longest that its redirect URI may have, nearly.
var longPath = "/callback/" + strings.Repeat("long-", 370)

// signsIn is a program on the person's machine that knows the gateway's address alone. Its person has a real browser.
type signsIn struct {
	t    *testing.T
	tab  *browser.Tab
	back *httptest.Server
	came chan *auth.AuthorizationResult // nil: nothing comes back
	say  func(tab *browser.Tab)         // what the person does in the browser that the program opened
	kept *tokenStore

	asked    string // what the program opened
	document string // the URL of what the program says of itself, which is its client id; empty: it registers itself
}

func newSignsIn(t *testing.T, tab *browser.Tab, say func(*browser.Tab)) *signsIn {
	t.Helper()
	p := &signsIn{t: t, tab: tab, say: say, came: make(chan *auth.AuthorizationResult, 1)}
	p.back = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Has("state") {
			p.came <- &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}
		}
		_, _ = w.Write([]byte("You can close this window."))
	}))
	t.Cleanup(p.back.Close)
	return p
}

// handler is the official SDK's.
func (p *signsIn) handler() *auth.AuthorizationCodeHandler {
	p.t.Helper()
	_, port, _ := net.SplitHostPort(p.back.Listener.Addr().String())
	redirect := "http://127.0.0.1:" + port + longPath
	config := &auth.AuthorizationCodeHandlerConfig{
		Client:              localClient,
		RedirectURL:         redirect,
		RequestRefreshToken: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			p.asked = args.URL
			p.tab.Go(args.URL)
			p.say(p.tab)
			select {
			case r := <-p.came:
				if r == nil {
					return nil, errors.New("nothing came back")
				}
				return r, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			of := context.WithValue(p.t.Context(), oauth2.HTTPClient, localClient) // of the test: the sign-in's ends with it
			p.kept = &tokenStore{ctx: of, with: c, token: token}
			return p.kept, nil
		},
	}
	if p.document != "" {
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: p.document}
	} else {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Gopher", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}}
	}
	h, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// tokenStore holds the program's tokens, and can expire the access token.
type tokenStore struct {
	ctx  context.Context //nolint:containedctx // of the renewals
	with *oauth2.Config

	mu    sync.Mutex
	token *oauth2.Token // guarded by mu
}

// Token implements oauth2.TokenSource: golang.org/x/oauth2 renews what is past its end.
func (w *tokenStore) Token() (*oauth2.Token, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	token, err := w.with.TokenSource(w.ctx, w.token).Token()
	if err == nil {
		w.token = token
	}
	return token, err
}

// expireToken has the access token be past its end, as the program sees it, and returns what is kept.
func (w *tokenStore) expireToken() oauth2.Token {
	w.mu.Lock()
	defer w.mu.Unlock()
	past := *w.token
	past.Expiry = time.Now().Add(-time.Minute)
	w.token = &past
	return past
}

// connect is a session of the official SDK's client; revision "": the newest.
func (p *signsIn) connect(endpoint, revision string) (*sdk.ClientSession, error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "gopher", Version: "1"}, nil)
	return client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: endpoint, HTTPClient: localClient, OAuthHandler: p.handler()}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
}

// comes signs in, lists and calls tools, lets an hour pass, and calls again with what the refresh token brought. It returns the tokens.
func (p *signsIn) comes(base, path, revision string) *oauth2.Token {
	p.t.Helper()
	prefix := map[string]string{"/mcp": "mcp_tools__", "/mcp/tools": ""}[path]
	session, err := p.connect(base+path, revision)
	if err != nil {
		p.t.Fatalf("%s in %s: %v", path, revision, err)
	}
	defer func() { _ = session.Close() }()
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		p.t.Errorf("the gateway speaks %s, want %s", got, revision)
	}
	list, err := session.ListTools(p.t.Context(), nil)
	if err != nil || len(list.Tools) == 0 || !strings.HasPrefix(list.Tools[0].Name, prefix) {
		p.t.Fatalf("%s in %s: %+v, %v", path, revision, list, err)
	}
	p.calls(session, prefix)
	past := p.kept.expireToken()
	p.calls(session, prefix)
	renewed, err := p.kept.Token()
	if err != nil || renewed.AccessToken == past.AccessToken || renewed.RefreshToken == past.RefreshToken {
		p.t.Fatalf("%s in %s: the token is not renewed: %v", path, revision, err)
	}
	return renewed
}

func (p *signsIn) calls(session *sdk.ClientSession, prefix string) {
	p.t.Helper()
	called, err := session.CallTool(p.t.Context(), &sdk.CallToolParams{Name: prefix + "search_issues", Arguments: map[string]any{"query": "login"}})
	if err != nil || called.IsError {
		p.t.Errorf("%+v, %v", called, err)
	}
}

// letsIn is a person's answer: which agent the program will be.
func letsIn(tab *browser.Tab) {
	tab.WaitText("main", "“Gopher” (unverified)")
	tab.Choose("[name=agent]", "research")
	tab.Click("button[value=allow]")
	tab.WaitText("body", "You can close this window.")
}

// offersTools makes what programs find at the gateway: a connector, and an agent that may call all of its tools.
func (c client) offersTools(upstream string) {
	c.t.Helper()
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Tools", "slug": "tools", "url": upstream + "/mcp", "sync_interval_s": 0})
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": "Research", "approval": "auto"})
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/research/connectors/tools", object{"tools": "all"})
}

// TestAProgramSignsInFromTheGatewaysAddressAlone: the official SDK's client is refused, reads the metadata,
// registers, and opens a real browser without a session. Its person signs in by password and consents. Then it
// lists and calls tools, refreshes its token and calls again. After a revocation it is refused.
func TestAProgramSignsInFromTheGatewaysAddressAlone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	upstream := h.devMCP()
	s := h.serve()
	s.setUp(newPerson(t))
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "tests")}
	c.offersTools(upstream)
	for _, revision := range []string{"2025-11-25", newest} {
		for path, other := range map[string]string{"/mcp": "/mcp/tools", "/mcp/tools": "/mcp"} {
			tab := browser.Open(t)
			p := newSignsIn(t, tab, func(tab *browser.Tab) {
				tab.WaitText("h1", "Sign in")
				tab.Fill("[name=email]", ownerEmail)
				tab.Fill("[name=password]", ownerPassword)
				tab.Click("main form button[type=submit]")
				letsIn(tab)
			})
			renewed := p.comes(s.base, path, revision)
			message, header := modern("tools/list", "")
			for at, want := range map[string]int{path: http.StatusOK, other: http.StatusUnauthorized} {
				if status, _, _, err := (agent{t: t, base: s.base, token: renewed.AccessToken}).try(t.Context(), at, message, header...); err != nil || status != want {
					t.Errorf("a token for %s at %s: %d, %v", path, at, status, err)
				}
			}

			tab.Go(s.base + "/account")
			tab.WaitText("#programs", "Gopher")
			tab.Click("#programs .act > button")
			tab.Click("#programs [popover] button[type=submit]")
			tab.WaitText("body", "Access removed.")
			if status, _, _, err := (agent{t: t, base: s.base, token: renewed.AccessToken}).try(t.Context(), path, message, header...); err != nil || status != http.StatusUnauthorized {
				t.Errorf("after its end: %d, %v", status, err)
			}
			p.kept.expireToken()
			if _, err := p.kept.Token(); err == nil {
				t.Error("after its end it renews its token")
			}
		}
	}
}

func TestAPersonWhoSaysNoLetsNothingIn(t *testing.T) {
	t.Parallel()
	_, s, tab, _ := seeded(t)
	p := newSignsIn(t, tab, func(tab *browser.Tab) {
		tab.WaitText("main", "“Gopher” (unverified)")
		tab.Click("button[value=deny]")
		tab.WaitText("body", "You can close this window.")
	})
	if _, err := p.connect(s.base+"/mcp", ""); err == nil {
		t.Error("it is connected")
	}
	tab.Go(s.base + "/account")
	tab.WaitText("#programs", "None yet. Clients that sign in with the gateway URL appear here.")
}
