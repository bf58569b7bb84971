package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

// machineToken gets a token for a client that signs in for itself: by its secret, or by an assertion that its key signs. Where the
// tokens come from is asked anew each time, since nobody is there to connect again when it moves; but a secret that one
// authorization server has seen is shown to no other.
func (r *Resolver) machineToken(ctx context.Context, c connectors.Connector, tokens store.GrantTokens) (store.GrantTokens, error) {
	ctx, cancel := context.WithTimeout(ctx, machineTime)
	defer cancel()
	found, err := r.machineServer(ctx, c, tokens.Meta.Server.Issuer)
	if err != nil {
		return tokens, err
	}
	if err := sameServer(tokens.Meta.Server.Issuer, found.Server.Issuer); err != nil {
		return tokens, err
	}
	client, err := machineClient(c, found.Server, tokens.Machine)
	if err != nil {
		return tokens, err
	}
	peer := oauth.Peer{Server: found.Server, Client: client, Resource: found.Resource}
	token, asked, err := r.askAsMachine(ctx, c, peer, wanted(c, found, tokens.Meta))
	if err != nil {
		return tokens, err
	}
	tokens = updated(tokens, token)
	if token.Scopes == nil {
		tokens.Scopes = asked
	}
	tokens.Meta.Server, tokens.Meta.ClientID, tokens.Meta.Resource = found.Server, client.ClientID, found.Resource
	tokens.Meta.Source = oauth.SourceConfigured
	return tokens, nil
}

// machineServer finds the authorization server. An admin who names the token endpoint has said all that is needed. first is the one
// that has seen the secret; empty: none.
func (r *Resolver) machineServer(ctx context.Context, c connectors.Connector, first string) (*oauth.Discovery, error) {
	s := c.OAuth
	if s.TokenEndpoint == "" {
		return r.discovered(ctx, c, first)
	}
	found := &oauth.Discovery{Server: oauth.Metadata{
		Issuer: cmp.Or(s.Issuer, connectors.Origin(s.TokenEndpoint)), TokenEndpoint: s.TokenEndpoint,
		Assumed: s.Issuer == "", PinnedAuthMethod: oauth.AuthMethod(s.TokenEndpointAuthMethod),
	}}
	if s.Resource != nil {
		found.Resource = *s.Resource
	}
	return found, nil
}

// discovered looks at the well-known places, and where none has a document of the resource, at the one that its challenge names. The
// endpoints that are assumed where nothing names any get no secret for the first time before the server was heard: its challenge may
// name others.
func (r *Resolver) discovered(ctx context.Context, c connectors.Connector, first string) (*oauth.Discovery, error) {
	target := oauth.Target{ServerURL: c.URL, Overrides: overrides(c.OAuth)}
	found, err := r.oauth.Discover(ctx, target)
	if found.Resource != "" || c.OAuth.Resource != nil {
		return found, err
	}
	at, unheard := r.challenge(ctx, c)
	switch {
	case at != "":
		target.ResourceMetadata = at
		return r.oauth.Discover(ctx, target)
	case err == nil && unheard != nil && found.Server.Assumed && first == "":
		return found, unheard
	}
	return found, err
}

// challenge is where the server itself says that its document is (RFC 9728 §5.1); empty: it does not say, or with an error, it may
// say so later.
func (r *Resolver) challenge(ctx context.Context, c connectors.Connector) (string, error) {
	if r.dialer == nil {
		return "", nil
	}
	header := make(http.Header, len(c.Headers))
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	session, err := r.dialer.Dial(ctx, mcp.Target{
		URL: c.URL, Transport: mcp.Transport(c.Transport), Header: header, Timeout: min(c.Timeout, challengeTime),
	})
	if err == nil {
		session.Close(ctx)
		return "", nil
	}
	failed, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		return "", nil
	}
	for _, one := range failed.Challenges {
		if at := one.Params["resource_metadata"]; at != "" {
			return at, nil
		}
	}
	if failed.Retryable {
		return "", &oauth.Error{
			Step: oauth.StepResource, Kind: oauth.KindTemporary, HTTPStatus: failed.HTTPStatus, RetryAfter: failed.RetryAfter,
			Detail: "the MCP server could not be asked where its tokens come from", Err: failed,
		}
	}
	return "", nil
}

func overrides(s connectors.OAuthSettings) oauth.Overrides {
	return oauth.Overrides{
		Issuer: s.Issuer, Resource: s.Resource, TokenEndpointAuthMethod: oauth.AuthMethod(s.TokenEndpointAuthMethod),
	}
}

// sameServer refuses a second authorization server.
func sameServer(first, now string) error {
	if first == "" || strings.TrimSuffix(first, "/") == strings.TrimSuffix(now, "/") {
		return nil
	}
	return &oauth.Error{Step: oauth.StepClientCredentials, Kind: oauth.KindRefused, Detail: fmt.Sprintf(
		"what the client proves itself with was given for the authorization server %s, and it is %s now; enter it again if that is right", first, now)}
}

func machineClient(c connectors.Connector, server oauth.Metadata, s connectors.Secret) (oauth.Registration, error) {
	client := oauth.Registration{
		Issuer: server.Issuer, ClientID: cmp.Or(s.ClientID, c.OAuth.ClientID), Source: oauth.SourceConfigured,
		ClientSecret: oauth.Secret(s.ClientSecret.Reveal()),
	}
	if c.Auth.Type != connectors.AuthPrivateKeyJWT {
		return client, nil
	}
	var err error
	client.Key, err = oauth.ParsePrivateKey(oauth.Secret(s.PrivateKey.Reveal()), c.OAuth.Algorithm)
	return client, err
}

// wanted are the scopes to ask for: the admin's, else what the resource lists, and what it has asked for besides. A refresh token is
// of no use to a machine, and so is offline_access.
func wanted(c connectors.Connector, found *oauth.Discovery, meta store.GrantMeta) []string {
	scopes := c.OAuth.Scopes
	if len(scopes) == 0 {
		scopes = found.ResourceScopes
	}
	return oauth.UnionScopes(scopes, meta.WantedScopes)
}

// askAsMachine asks for a token, and where nobody chose the scopes and they are too many, once more for what the server gives of
// its own accord.
func (r *Resolver) askAsMachine(
	ctx context.Context, c connectors.Connector, peer oauth.Peer, scopes []string,
) (oauth.Token, []string, error) {
	token, err := r.oauth.ClientCredentials(ctx, peer, scopes)
	failed, ok := errors.AsType[*oauth.Error](err)
	if ok && failed.Kind == oauth.KindScope && len(scopes) > 0 && len(c.OAuth.Scopes) == 0 {
		scopes = nil
		token, err = r.oauth.ClientCredentials(ctx, peer, scopes)
	}
	return token, scopes, err
}
