package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
)

// callback is where the authorization server sends a browser. Nobody is there: what it brings is read off the address.
const callback = "http://localhost:3000/callback"

// maxRefusals bounds how often an account is connected before the scenario is given up.
const maxRefusals = 3

// account is one at the server, in the hands of a person who agrees to everything.
type account struct {
	oauth  *oauth.Client
	server string // the MCP server's URL
	peer   oauth.Peer
	scopes []string // asked for so far
	token  oauth.Secret
}

// playWithAccount lists and calls, and connects the account anew with each refusal, for what the refusal asks.
func playWithAccount(ctx context.Context, d *mcp.Dialer, server string) error {
	a := account{oauth: &oauth.Client{HTTP: d.HTTP, CheckURL: url.Parse}, server: server}
	for range maxRefusals {
		err := a.callTools(ctx, d)
		failure, ok := errors.AsType[*mcp.Error](err)
		if !ok || failure.Reason != mcp.ReasonUnauthorized || len(failure.Challenges) == 0 {
			return err
		}
		if err := a.connect(ctx, failure.Challenges[0]); err != nil {
			return err
		}
	}
	return errors.New("the server never has enough")
}

func (a *account) callTools(ctx context.Context, d *mcp.Dialer) error {
	header := http.Header{}
	if a.token != "" {
		header.Set("Authorization", "Bearer "+a.token.Reveal())
	}
	s, err := d.Dial(ctx, mcp.Target{URL: a.server, Header: header})
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	p := player{session: s}
	return p.play(ctx, "tools_call")
}

// connect gets a token for the scopes that were asked for before, and for those of the challenge.
func (a *account) connect(ctx context.Context, challenge mcp.Challenge) error {
	found, err := a.oauth.Discover(ctx, oauth.Target{ServerURL: a.server, ResourceMetadata: challenge.Params["resource_metadata"]})
	if err != nil {
		return err
	}
	a.scopes = oauth.UnionScopes(a.scopes, found.Scopes(nil, challenge.Params["scope"]))
	if a.peer.Client.ClientID == "" {
		a.peer = oauth.Peer{Server: found.Server, Resource: found.Resource}
		a.peer.Client, err = a.oauth.Register(ctx, oauth.RegisterRequest{
			Server: found.Server, ClientName: "conformance", RedirectURIs: []string{callback},
		})
		if err != nil {
			return err
		}
	}
	return a.authorize(ctx)
}

func (a *account) authorize(ctx context.Context) error {
	pkce := oauth.NewPKCE()
	address, err := a.oauth.AuthorizationURL(oauth.AuthorizationRequest{
		Peer: a.peer, RedirectURI: callback, State: oauth.NewState(), Challenge: pkce.Challenge, Scopes: a.scopes,
	})
	if err != nil {
		return err
	}
	answer, err := a.agree(ctx, address)
	if err != nil {
		return err
	}
	code, err := oauth.ReadCallback(answer, a.peer.Server)
	if err != nil {
		return err
	}
	token, err := a.oauth.Exchange(ctx, a.peer, oauth.Grant{Code: code, RedirectURI: callback, Verifier: pkce.Verifier})
	a.token = token.AccessToken
	return err
}

// agree opens the page as a browser would. The suite's servers send it straight back.
func (a *account) agree(ctx context.Context, address string) (url.Values, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := a.oauth.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		return nil, fmt.Errorf("the authorization server answers %d: %w", resp.StatusCode, err)
	}
	return back.Query(), nil
}
