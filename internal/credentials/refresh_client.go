package credentials

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// requestToken requests the next token of a grant.
func (r *refreshRun) requestToken(ctx context.Context, g store.Grant) (store.GrantTokens, error) {
	ctx = safehttp.WithTenant(ctx, r.tenant.String())
	switch {
	case isMachine(g.Type):
		return r.requestMachineToken(ctx, r.tenant, r.connector, g.Tokens)
	case g.Tokens.Meta.Exchange != "":
		return r.requestExchangedToken(ctx, g)
	case g.Member != nil:
		return r.requestManagedToken(ctx, g)
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	peer, err := r.newPeer(ctx, g.Tokens.Meta)
	if err != nil {
		return store.GrantTokens{}, err
	}
	if peer.Proof, err = proofKey(g.Tokens); err != nil {
		return store.GrantTokens{}, err
	}
	token, err := r.oauth.Refresh(ctx, peer, oauth.Secret(g.Tokens.RefreshToken.Reveal()))
	if err != nil {
		return store.GrantTokens{}, err
	}
	now := connectors.Identity(token.Identity)
	if now.Issuer = peer.Server.Issuer; now.IsOther(g.Identity) {
		return store.GrantTokens{}, errOtherAccount
	}
	tokens := mergeToken(g.Tokens, token)
	if !tokens.Meta.Identity.IsKnown() && now.IsKnown() {
		tokens.Meta.Identity = now
	}
	return tokens, nil
}

// newPeer is the grant's authorization server and client, with the client's current secret.
func (r *refreshRun) newPeer(ctx context.Context, meta store.GrantMeta) (oauth.Peer, error) {
	p := oauth.Peer{Server: meta.Server, Resource: meta.Resource}
	p.Server.NotePinnedTokenEndpoint(r.connector.OAuth.TokenEndpoint)
	var err error
	if meta.Source == oauth.SourceConfigured {
		p.Server.PinnedAuthMethod = oauth.AuthMethod(r.connector.OAuth.TokenEndpointAuthMethod)
		p.Client, err = r.configuredClient(ctx, meta)
	} else {
		p.Client, err = r.registeredClient(ctx, meta)
	}
	return p, err
}

// registeredClient is the dynamically registered client. If its registration is deleted, the id alone may do,
// for a public client.
func (r *refreshRun) registeredClient(ctx context.Context, meta store.GrantMeta) (oauth.Registration, error) {
	client, err := r.vault.Registration(ctx, meta.Server.Issuer, meta.RedirectURI)
	if fault.Is(err, fault.NotFound) || err == nil && client.ClientID != meta.ClientID {
		return oauth.Registration{Issuer: meta.Server.Issuer, ClientID: meta.ClientID}, nil
	}
	return client, err
}

// configuredClient is the admin's client, with its secret for this authorization server.
func (r *refreshRun) configuredClient(ctx context.Context, meta store.GrantMeta) (oauth.Registration, error) {
	client := oauth.Registration{Issuer: meta.Server.Issuer, ClientID: meta.ClientID, Source: oauth.SourceConfigured}
	if r.connector.OAuth.ClientID != meta.ClientID {
		return client, &oauth.Error{Step: oauth.StepRefresh, Kind: oauth.KindClient, Detail: "the connector's client has changed"}
	}
	text, err := r.vault.ClientSecret(ctx, r.connector, meta.Server.Issuer)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return client, err
	}
	client.ClientSecret = oauth.Secret(text.Reveal())
	return client, nil
}

// proofKey returns the key to which tokens are bound; nil: to none.
func proofKey(tokens store.GrantTokens) (*oauth.ProofKey, error) {
	if tokens.ProofKey.Empty() {
		return nil, nil
	}
	return oauth.ParseProofKey(oauth.Secret(tokens.ProofKey.Reveal()))
}

// mergeToken applies a token response to the stored tokens. Omitted fields stay (RFC 6749 section 6), and the key, to which the
// refresh token may be bound.
func mergeToken(tokens store.GrantTokens, t oauth.Token) store.GrantTokens {
	tokens.AccessToken = secret.Text(t.AccessToken.Reveal())
	if t.RefreshToken != "" {
		tokens.RefreshToken = secret.Text(t.RefreshToken.Reveal())
	}
	if tokens.Bound = t.Proof != nil; tokens.Bound {
		tokens.ProofKey = secret.Text(t.Proof.Encode().Reveal())
	}
	if t.Scopes != nil {
		tokens.Scopes = t.Scopes
	}
	tokens.ExpiresAt = &t.ExpiresAt
	tokens.Meta.ExpiryAssumed, tokens.Meta.Refreshable, tokens.Meta.LostAnswer = t.ExpiryAssumed, true, false
	return tokens
}
