package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

// requestMachineToken requests a token with client credentials or a signed assertion. Discovery runs each time,
// because no person would reconnect after a move. A secret is sent to the first authorization server only.
func (r *Resolver) requestMachineToken(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, tokens store.GrantTokens) (store.GrantTokens, error) {
	ctx, cancel := context.WithTimeout(ctx, machineTimeout)
	defer cancel()
	var workload config.WorkloadToken
	name := tokens.Machine.WorkloadToken
	if name != "" {
		var err error
		if workload, err = r.findWorkloadToken(ctx, tenant, c, name); err != nil {
			return tokens, err
		}
	}
	found, err := r.findMachineServer(ctx, tenant, c, tokens.Meta.Server.Issuer)
	if err != nil {
		return tokens, err
	}
	if err := checkSameServer(tokens.Meta.Server.Issuer, found.Server.Issuer); err != nil {
		return tokens, err
	}
	client, err := newMachineClient(c, found.Server, tokens.Machine)
	if err != nil {
		return tokens, err
	}
	peer := oauth.Peer{Server: found.Server, Client: client, Resource: found.Resource}
	if peer.Proof, err = proofKey(tokens); err != nil {
		return tokens, err
	}
	requested := scopesToRequest(c, found, tokens.Meta)
	var token oauth.Token
	if name != "" {
		var assertion oauth.Secret
		if assertion, err = r.readWorkloadToken(workload, found.Server); err != nil {
			return tokens, err
		}
		token, err = r.oauth.RedeemAssertion(ctx, peer, assertion, requested)
		err = hideResponse(err)
	} else {
		token, requested, err = r.requestWithScopes(ctx, c, peer, requested)
	}
	if err != nil {
		return tokens, err
	}
	tokens = mergeToken(tokens, token)
	if token.Scopes == nil {
		tokens.Scopes = requested
	}
	tokens.Meta.Server, tokens.Meta.ClientID, tokens.Meta.Resource = found.Server, client.ClientID, found.Resource
	tokens.Meta.Source = oauth.SourceConfigured
	return tokens, nil
}

// findMachineServer finds the authorization server. A configured token endpoint needs no discovery. knownIssuer
// has received the secret before; empty: none.
func (r *Resolver) findMachineServer(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, knownIssuer string) (*oauth.Discovery, error) {
	if c.Transport == connectors.TransportAPI {
		return r.findAPIServer(ctx, tenant, c)
	}
	s := c.OAuth
	if s.TokenEndpoint == "" {
		return r.discoverServer(ctx, c, knownIssuer)
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

// findAPIServer finds the authorization server of an HTTP API, by the connector's settings, and the scopes of its picked operations.
func (r *Resolver) findAPIServer(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) (*oauth.Discovery, error) {
	overrides := newOverrides(c.OAuth)
	overrides.TokenEndpoint = c.OAuth.TokenEndpoint
	found, err := r.oauth.Discover(ctx, oauth.Target{ServerURL: c.CredentialOrigin(), Overrides: overrides, IsAPI: true})
	if err == nil && c.ID != (connectors.ConnectorID{}) {
		found.ResourceScopes, err = r.store.Tenant(tenant).APIs().Scopes(ctx, c.ID)
	}
	return found, err
}

// discoverServer tries the well-known metadata, then the URL in the server's challenge. Assumed endpoints get
// no secret for the first time before the challenge was read: it may name others.
func (r *Resolver) discoverServer(ctx context.Context, c connectors.Connector, knownIssuer string) (*oauth.Discovery, error) {
	target := oauth.Target{ServerURL: c.URL, Overrides: newOverrides(c.OAuth)}
	found, err := r.oauth.Discover(ctx, target)
	if found.Resource != "" || c.OAuth.Resource != nil {
		return found, err
	}
	metadataURL, probeErr := r.probeMetadataURL(ctx, c)
	switch {
	case metadataURL != "":
		target.ResourceMetadata = metadataURL
		return r.oauth.Discover(ctx, target)
	case err == nil && probeErr != nil && found.Server.Assumed && knownIssuer == "":
		return found, probeErr
	}
	return found, err
}

// probeMetadataURL is the resource_metadata of the server's challenge (RFC 9728 section 5.1); empty: none. An
// error: unknown for now.
func (r *Resolver) probeMetadataURL(ctx context.Context, c connectors.Connector) (string, error) {
	if r.dialer == nil {
		return "", nil
	}
	header := make(http.Header, len(c.Headers))
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	session, err := r.dialer.Dial(ctx, mcp.Target{
		URL: c.URL, Transport: mcp.Transport(c.Transport), Header: header, Timeout: min(c.Timeout, challengeTimeout),
	})
	if err == nil {
		session.Close(ctx)
		return "", nil
	}
	failed, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		return "", nil
	}
	for _, challenge := range failed.Challenges {
		if metadataURL := challenge.Params["resource_metadata"]; metadataURL != "" {
			return metadataURL, nil
		}
	}
	if failed.Retryable {
		return "", &oauth.Error{
			Step: oauth.StepResource, Kind: oauth.KindTemporary, HTTPStatus: failed.HTTPStatus, RetryAfter: failed.RetryAfter,
			Detail: "the MCP server could not be asked for its authorization server", Err: failed,
		}
	}
	return "", nil
}

func newOverrides(s connectors.OAuthSettings) oauth.Overrides {
	return oauth.Overrides{
		Issuer: s.Issuer, Resource: s.Resource, TokenEndpointAuthMethod: oauth.AuthMethod(s.TokenEndpointAuthMethod),
	}
}

func checkSameServer(known, found string) error {
	if known == "" || strings.TrimSuffix(known, "/") == strings.TrimSuffix(found, "/") {
		return nil
	}
	return &oauth.Error{Step: oauth.StepClientCredentials, Kind: oauth.KindRefused, Detail: fmt.Sprintf(
		"the client's credential was entered for the authorization server %s, which is now %s; enter it again to confirm", known, found)}
}

func newMachineClient(c connectors.Connector, server oauth.Metadata, s connectors.Secret) (oauth.Registration, error) {
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

// scopesToRequest are the configured scopes, else those in the resource's metadata, and those of step-ups.
// offline_access is left out: a machine needs no refresh token.
func scopesToRequest(c connectors.Connector, found *oauth.Discovery, meta store.GrantMeta) []string {
	scopes := c.OAuth.Scopes
	if len(scopes) == 0 {
		scopes = found.ResourceScopes
	}
	return oauth.UnionScopes(scopes, meta.WantedScopes)
}

// requestWithScopes requests a token. If discovered scopes are refused, it requests the server's default
// scopes.
func (r *Resolver) requestWithScopes(
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
