package e2e_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"patchbay/internal/testing/browser"
)

// signsIn is a program on the person's machine that knows the gateway's address alone. Its person has a real browser.
type signsIn struct {
	t    *testing.T
	tab  *browser.Tab
	back *httptest.Server
	came chan *auth.AuthorizationResult
	say  func(tab *browser.Tab) // what the person does with the question
	kept *oauth2.Token          // the first tokens
	with *oauth2.Config
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
	redirect := "http://127.0.0.1:" + port + "/callback"
	h, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Gopher", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		RedirectURL:         redirect,
		RequestRefreshToken: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			p.tab.Go(args.URL)
			p.say(p.tab)
			select {
			case r := <-p.came:
				return r, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			p.kept, p.with = token, c
			return c.TokenSource(ctx, token), nil
		},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// connect is a session of the official SDK's client.
func (p *signsIn) connect(endpoint string) (*sdk.ClientSession, error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "gopher", Version: "1"}, nil)
	return client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: endpoint, OAuthHandler: p.handler()}, nil)
}

// TestAProgramSignsInFromTheGatewaysAddressAlone: the official SDK's client is refused, reads the metadata, registers itself and sends a real browser to
// the question; then it lists and calls tools, and renews its token. Its person ends its access, and it is refused.
func TestAProgramSignsInFromTheGatewaysAddressAlone(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": "Research", "approval": "auto"})
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/research/connectors/tools", object{"tools": "all"})
	for _, at := range []struct{ path, prefix string }{{"/mcp", "mcp_tools__"}, {"/mcp/tools", ""}} {
		p := newSignsIn(t, tab, func(tab *browser.Tab) {
			tab.WaitText("main", "“Gopher”, which nobody has checked")
			tab.Choose("[name=agent]", "research")
			tab.Click("button[value=allow]")
			tab.WaitText("body", "You can close this window.")
		})
		session, err := p.connect(s.base + at.path)
		if err != nil {
			t.Fatalf("%s: %v", at.path, err)
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) == 0 || !strings.HasPrefix(list.Tools[0].Name, at.prefix) {
			t.Fatalf("%s: %+v, %v", at.path, list, err)
		}
		called, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: at.prefix + "search_issues", Arguments: map[string]any{"query": "login"}})
		if err != nil || called.IsError {
			t.Errorf("%s: %+v, %v", at.path, called, err)
		}
		past := *p.kept
		past.Expiry = time.Now().Add(-time.Minute)
		renewed, err := p.with.TokenSource(t.Context(), &past).Token()
		if err != nil || renewed.AccessToken == past.AccessToken || renewed.RefreshToken == past.RefreshToken {
			t.Fatalf("%s: the token is not renewed: %v", at.path, err)
		}
		other := map[string]string{"/mcp": "/mcp/tools", "/mcp/tools": "/mcp"}[at.path]
		message, header := modern("tools/list", "")
		for path, want := range map[string]int{at.path: http.StatusOK, other: http.StatusUnauthorized} {
			if status, _, _, err := (agent{t: t, base: s.base, token: renewed.AccessToken}).try(t.Context(), path, message, header...); err != nil || status != want {
				t.Errorf("a token for %s at %s: %d, %v", at.path, path, status, err)
			}
		}
		_ = session.Close()

		tab.Go(s.base + "/account")
		tab.WaitText("#programs", "Gopher")
		tab.Click("#programs .act > button")
		tab.Click("#programs [popover] button[type=submit]")
		tab.WaitText("body", "The program's access is ended.")
		if status, _, _, err := (agent{t: t, base: s.base, token: renewed.AccessToken}).try(t.Context(), at.path, message, header...); err != nil || status != http.StatusUnauthorized {
			t.Errorf("after its end: %d, %v", status, err)
		}
		if _, err := p.with.TokenSource(t.Context(), &oauth2.Token{RefreshToken: renewed.RefreshToken, Expiry: past.Expiry}).Token(); err == nil {
			t.Error("after its end it renews its token")
		}
	}
}

// TestAPersonWhoSaysNoLetsNothingIn also shows that whoever is not signed in signs in first, and comes back to the question.
func TestAPersonWhoSaysNoLetsNothingIn(t *testing.T) {
	t.Parallel()
	_, s, tab, _ := seeded(t)
	p := newSignsIn(t, tab, func(tab *browser.Tab) {
		tab.WaitText("main", "“Gopher”, which nobody has checked")
		tab.Click("button[value=deny]")
		tab.WaitText("body", "You can close this window.")
	})
	if _, err := p.connect(s.base + "/mcp"); err == nil {
		t.Error("it is connected")
	}
	tab.Go(s.base + "/account")
	tab.WaitText("#programs", "None.")
}
