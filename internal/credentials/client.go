package credentials

import (
	"context"

	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// next gets what is to be stored in place of g's tokens.
func (r *renewal) next(ctx context.Context, g store.Grant) (store.GrantTokens, error) {
	ctx = safehttp.WithTenant(ctx, r.tenant.String())
	if isMachine(g.Type) {
		return r.machineToken(ctx, r.connector, g.Tokens)
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	peer, err := r.peer(ctx, g.Tokens.Meta)
	if err != nil {
		return store.GrantTokens{}, err
	}
	token, err := r.oauth.Refresh(ctx, peer, oauth.Secret(g.Tokens.RefreshToken.Reveal()))
	if err != nil {
		return store.GrantTokens{}, err
	}
	return updated(g.Tokens, token), nil
}

// peer is who refreshes where: the client that the grant was given to, with the secret that it has now.
func (r *renewal) peer(ctx context.Context, meta store.GrantMeta) (oauth.Peer, error) {
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

// registeredClient is the one that registered itself. Where that is gone, the id alone is tried: a public client needs no more.
func (r *renewal) registeredClient(ctx context.Context, meta store.GrantMeta) (oauth.Registration, error) {
	client, err := r.vault.Registration(ctx, meta.Server.Issuer, meta.RedirectURI)
	if fault.Is(err, fault.NotFound) || err == nil && client.ClientID != meta.ClientID {
		return oauth.Registration{Issuer: meta.Server.Issuer, ClientID: meta.ClientID}, nil
	}
	return client, err
}

// configuredClient is the admin's, with the secret that was entered for this authorization server.
func (r *renewal) configuredClient(ctx context.Context, meta store.GrantMeta) (oauth.Registration, error) {
	client := oauth.Registration{Issuer: meta.Server.Issuer, ClientID: meta.ClientID, Source: oauth.SourceConfigured}
	if r.connector.OAuth.ClientID != meta.ClientID {
		return client, &oauth.Error{Step: oauth.StepRefresh, Kind: oauth.KindClient, Detail: "the connector's client is another one now"}
	}
	text, err := r.vault.ClientSecret(ctx, r.connector, meta.Server.Issuer)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return client, err
	}
	client.ClientSecret = oauth.Secret(text.Reveal())
	return client, nil
}

// updated is what to store of an answer; what it leaves out goes on as it was (RFC 6749 §6).
func updated(tokens store.GrantTokens, t oauth.Token) store.GrantTokens {
	tokens.AccessToken = secret.Text(t.AccessToken.Reveal())
	if t.RefreshToken != "" {
		tokens.RefreshToken = secret.Text(t.RefreshToken.Reveal())
	}
	if t.Scopes != nil {
		tokens.Scopes = t.Scopes
	}
	tokens.ExpiresAt = &t.ExpiresAt
	tokens.Meta.ExpiryAssumed, tokens.Meta.Refreshable, tokens.Meta.LostAnswer = t.ExpiryAssumed, true, false
	return tokens
}
