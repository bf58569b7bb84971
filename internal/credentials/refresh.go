package credentials

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// The bounds of one refresh. A lease outlives the request and the writing that follows it, so that nobody takes over from a
// process that still lives.
const (
	requestTime = 15 * time.Second
	writeTime   = 10 * time.Second
	leaseTime   = 30 * time.Second
	longestWait = 20 * time.Second // after a failure that may pass
)

// grant reads the grant that agent uses, refreshed where it is due. It is nil where there is none that could be used.
func (r *Resolver) grant(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, owner *connectors.AgentID,
) (*Usable, error) {
	g, err := r.store.Vault(tenant).Grant(ctx, c.ID, owner)
	if err == nil && alive(c, g) && r.due(g) {
		g, err = r.refreshed(ctx, tenant, g)
	}
	return r.usableGrant(c, g, err)
}

// Forced refreshes a grant whose token the resource refused with 401, before its time. version is that of the Usable that was
// refused: where the grant has moved on since, the newer token is returned and nothing is asked.
func (r *Resolver) Forced(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, owner *connectors.AgentID, version int,
) (*Usable, error) {
	g, err := r.store.Vault(tenant).Grant(ctx, c.ID, owner)
	if err == nil && alive(c, g) && g.Version == version {
		g, err = r.refreshed(ctx, tenant, g)
	}
	return r.usableGrant(c, g, err)
}

func (r *Resolver) usableGrant(c connectors.Connector, g store.Grant, err error) (*Usable, error) {
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case !alive(c, g):
		return nil, nil
	case g.ExpiresAt != nil && !r.now().Before(*g.ExpiresAt):
		if g.Tokens.RefreshToken.Empty() || r.oauth == nil {
			return nil, nil
		}
		return nil, fault.Errorf(fault.Unavailable, "The access of the connector %q could not be renewed just now. Try again in a moment.", c.Name)
	}
	headers, err := Headers(c.Auth, connectors.Secret{Token: g.Tokens.AccessToken})
	if err != nil {
		return nil, err
	}
	return &Usable{ID: g.ID, Agent: g.AgentID, Version: g.Version, Headers: headers}, nil
}

// alive tells whether a grant may be used at all: it is not revoked, and the connector is where the grant was given for.
func alive(c connectors.Connector, g store.Grant) bool {
	return c.Auth.Type == connectors.AuthOAuth2 && g.Origin != "" && g.Origin == connectors.Origin(c.URL) &&
		g.Status != connectors.CredentialRevoked && g.Status != connectors.CredentialExpired
}

// due tells whether less than a fifth of a token's life is left, between a minute and five. The jitter keeps replicas from
// asking at once.
func (r *Resolver) due(g store.Grant) bool {
	if g.ExpiresAt == nil {
		return false
	}
	issued := g.UpdatedAt
	if g.RefreshedAt != nil {
		issued = *g.RefreshedAt
	}
	life := g.ExpiresAt.Sub(issued)
	margin := min(max(life/5, time.Minute), 5*time.Minute)
	margin = max(min(margin, life/2), 0) // a token of less than two minutes is used for a while, too
	margin += time.Duration(float64(margin) * 0.1 * rand.Float64())
	return g.ExpiresAt.Sub(r.now()) < margin
}

// refreshed waits for the refresh of a grant as it was read. In this process there is one for each grant, whoever asks; it does
// not end with the caller, because an answer that nobody reads may have held the only good token.
func (r *Resolver) refreshed(ctx context.Context, tenant connectors.TenantID, g store.Grant) (store.Grant, error) {
	if r.oauth == nil || g.Tokens.RefreshToken.Empty() {
		return g, nil
	}
	flight := r.flights.DoChan(g.ID.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.lease+requestTime+writeTime)
		defer cancel()
		return r.refresh(ctx, tenant, g)
	})
	select {
	case <-ctx.Done():
		return store.Grant{}, ctx.Err()
	case result := <-flight:
		if result.Err != nil {
			return store.Grant{}, result.Err
		}
		return result.Val.(store.Grant), nil
	}
}

// refresh goes on until the grant's version has moved, by this process or another, or until it may not be asked for now.
func (r *Resolver) refresh(ctx context.Context, tenant connectors.TenantID, seen store.Grant) (store.Grant, error) {
	vault := r.store.Vault(tenant)
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		g, err := vault.Grant(ctx, seen.ConnectorID, seen.AgentID)
		if err != nil || g.Version != seen.Version || g.RetryAt != nil && r.now().Before(*g.RetryAt) {
			return g, err
		}
		lease, ok, err := vault.LeaseGrant(ctx, g, r.lease)
		if err != nil {
			return g, err
		}
		if ok {
			return r.ask(ctx, tenant, g, lease)
		}
		select { // another process asks; its answer moves the version
		case <-ctx.Done():
			return g, fault.Wrap(fault.Unavailable, ctx.Err(), "The access could not be renewed in time. Try again in a moment.")
		case <-time.After(pause):
		}
	}
}

// ask sends the one request and stores what came of it before anyone uses it. Every write holds only while the lease and the
// version do: where another one was faster, what it stored is what is read back.
func (r *Resolver) ask(ctx context.Context, tenant connectors.TenantID, g store.Grant, lease store.Lease) (store.Grant, error) {
	vault := r.store.Vault(tenant)
	token, refusal := r.request(ctx, vault, g)
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	failed, _ := errors.AsType[*oauth.Error](refusal)
	var err error
	switch {
	case refusal == nil:
		_, err = vault.SaveRefreshed(write, lease, g, renewed(g, token))
	case failed == nil:
		_, err = vault.DelayRefresh(write, lease, store.Delay{Because: "The access could not be renewed.", Wait: time.Second})
	case failed.Kind == oauth.KindDead:
		_, err = vault.EndGrant(write, lease, failed.Sentence())
	case failed.Kind == oauth.KindClient:
		// A refresh token works for its client only. The next connection registers anew.
		meta := g.Tokens.Meta
		if err = r.store.Tenant(tenant).ForgetRegistration(write, meta.Server.Issuer, meta.RedirectURI, meta.ClientID); err == nil {
			_, err = vault.EndGrant(write, lease, failed.Sentence())
		}
	default:
		_, err = vault.DelayRefresh(write, lease, store.Delay{
			Because: failed.Sentence(), Wait: wait(failed), Lost: failed.Kind == oauth.KindUnknownOutcome,
		})
	}
	if err != nil {
		return g, err
	}
	return vault.Grant(write, g.ConnectorID, g.AgentID)
}

func (r *Resolver) request(ctx context.Context, vault *store.Vault, g store.Grant) (oauth.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	meta := g.Tokens.Meta
	client, err := vault.Registration(ctx, meta.Server.Issuer, meta.RedirectURI)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && client.ClientID != meta.ClientID:
		client = oauth.Registration{Issuer: meta.Server.Issuer, ClientID: meta.ClientID}
	case err != nil:
		return oauth.Token{}, err
	}
	peer := oauth.Peer{Server: meta.Server, Client: client, Resource: meta.Resource}
	return r.oauth.Refresh(ctx, peer, oauth.Secret(g.Tokens.RefreshToken.Reveal()))
}

// renewed is what to store of an answer; what it leaves out goes on as it was (RFC 6749 §6).
func renewed(g store.Grant, t oauth.Token) store.GrantTokens {
	tokens := g.Tokens
	tokens.AccessToken = secret.Text(t.AccessToken.Reveal())
	if t.RefreshToken != "" {
		tokens.RefreshToken = secret.Text(t.RefreshToken.Reveal())
	}
	if t.Scopes != nil {
		tokens.Scopes = t.Scopes
	}
	tokens.ExpiresAt, tokens.Meta.ExpiryAssumed = &t.ExpiresAt, t.ExpiryAssumed
	return tokens
}

// wait is how long nobody asks after a failure.
func wait(e *oauth.Error) time.Duration {
	if e.Kind == oauth.KindTemporary {
		return min(max(e.RetryAfter, 2*time.Second), longestWait)
	}
	return longestWait
}
