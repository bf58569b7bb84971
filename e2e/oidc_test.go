//go:build e2e

package e2e_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
)

// TestOAuthWorksWithAServerThatWeDidNotWrite goes through package oauth step by step: the one test here that looks below the
// program's surface, so that a change of the server's is not searched for in the program.
func TestOAuthWorksWithAServerThatWeDidNotWrite(t *testing.T) {
	t.Parallel()
	as := startAuthorizationServer(t)
	policy := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(policy.Client().CloseIdleConnections)
	client := &oauth.Client{HTTP: policy.Client(), CheckURL: policy.CheckURL}
	const redirect = "http://127.0.0.1:1/oauth/callback"
	ctx := t.Context()

	found, err := client.Discover(ctx, oauth.Target{ServerURL: as.Origin + "/mcp"})
	if err != nil {
		t.Fatalf("discover: %v\n%+v", err, found.Trace)
	}
	if found.Server.Issuer != as.Issuer || found.Resource != as.Origin+"/mcp" || !found.Server.IssParameterSupported {
		t.Errorf("discovered %+v", found)
	}
	scopes := found.Scopes(nil, "")
	registered, err := client.Register(ctx, oauth.RegisterRequest{Server: found.Server, ClientName: "Patchbay", RedirectURIs: []string{redirect}, Scopes: scopes})
	if err != nil {
		t.Fatalf("register: %v", err)
	}
	peer, pkce, state := oauth.Peer{Server: found.Server, Client: registered, Resource: found.Resource}, oauth.NewPKCE(), oauth.NewState()
	page, err := client.AuthorizationURL(oauth.AuthorizationRequest{Peer: peer, RedirectURI: redirect, State: state, Challenge: pkce.Challenge, Scopes: scopes})
	if err != nil {
		t.Fatalf("authorize: %v", err)
	}
	person := newVisitor(t)
	person.stops = true
	back := person.open(page).agree("ada@example.com").back.Query()
	if back.Get("state") != state.Reveal() {
		t.Errorf("it came back with %v", back)
	}
	code, err := oauth.ReadCallback(back, found.Server)
	if err != nil {
		t.Fatalf("callback: %v", err)
	}
	first, err := client.Exchange(ctx, peer, oauth.Grant{Code: code, RedirectURI: redirect, Verifier: pkce.Verifier})
	if err != nil {
		t.Fatalf("exchange: %v", err)
	}
	if first.Identity.Name != "ada@example.com" || first.RefreshToken == "" || time.Until(first.ExpiresAt) < 50*time.Minute || !as.accepts("/mcp", first.AccessToken.Reveal()) {
		t.Errorf("first token: of %s, expires %s, scopes %v", first.Identity.Name, first.ExpiresAt, first.Scopes)
	}
	if as.accepts("/open/mcp", first.AccessToken.Reveal()) {
		t.Error("the token is good for another resource")
	}

	second, err := client.Refresh(ctx, peer, first.RefreshToken)
	if err != nil || second.RefreshToken == "" || second.RefreshToken == first.RefreshToken || !as.accepts("/mcp", second.AccessToken.Reveal()) {
		t.Fatalf("refresh: %v", err)
	}
	if err := client.Revoke(ctx, peer, second.RefreshToken, oauth.HintRefreshToken); err != nil {
		t.Errorf("revoke: %v", err)
	}
	if as.accepts("/mcp", second.AccessToken.Reveal()) {
		t.Error("the access token outlives its revoked grant")
	}
	_, err = client.Refresh(ctx, peer, second.RefreshToken)
	if failure, ok := errors.AsType[*oauth.Error](err); !ok || failure.Kind != oauth.KindDead {
		t.Errorf("a revoked refresh token: %v", err)
	}
	if n := as.counts()["refresh_token"]; n != 2 || len(as.issued()["refresh_token"]) != 2 {
		t.Errorf("%d refreshes, issued %v", n, as.issued())
	}
}

// accepts asks the MCP server whether a token is good for it.
func (as *authorizationServer) accepts(path, token string) bool {
	as.t.Helper()
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`
	req, err := http.NewRequestWithContext(as.t.Context(), http.MethodPost, as.Origin+path, strings.NewReader(call))
	if err != nil {
		as.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := localClient.Do(req)
	if err != nil {
		as.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode != http.StatusUnauthorized
}
