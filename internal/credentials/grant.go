package credentials

import (
	"context"
	"math/rand/v2"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

// maxStepUps is how often a server may ask for more than was granted.
const maxStepUps = 2

// grant reads the token that agent sends, renewed where it is due. It is nil where there is none that could be used.
func (r *Resolver) grant(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, owner *connectors.AgentID,
) (*Usable, error) {
	g, err := r.store.Vault(tenant).Grant(ctx, c.ID, owner)
	if err == nil && alive(c, g.Credential) && r.renewable(g) && due(g, r.now()) {
		g, err = r.renewedInTime(ctx, tenant, c, g)
	}
	return r.usableGrant(c, g, err)
}

// Forced renews a token that the resource refused with 401, before its time. version is that of the Usable that was refused: where
// it has moved on since, the newer token is returned and nothing is asked. The same version comes back where there is no way to
// renew; where there is one and it did not serve just now, the error is Unavailable.
func (r *Resolver) Forced(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, owner *connectors.AgentID, version int,
) (*Usable, error) {
	g, err := r.store.Vault(tenant).Grant(ctx, c.ID, owner)
	if err == nil && alive(c, g.Credential) && g.Version == version && r.renewable(g) {
		g, err = r.renewed(ctx, tenant, c, g)
		if err == nil && alive(c, g.Credential) && g.Version == version {
			return nil, notRenewed(c, g, nil)
		}
	}
	return r.usableGrant(c, g, err)
}

// Refused notes that the resource refuses u, although it has just been renewed or cannot be: only a person can mend it. because is
// a sentence. Where the credential has moved on meanwhile, nothing is noted.
func (r *Resolver) Refused(ctx context.Context, tenant connectors.TenantID, u *Usable, because string) error {
	if u.Version == 0 {
		return nil
	}
	_, err := r.store.Vault(tenant).RefuseGrant(ctx, u.ID, u.Version, u.meta, because)
	return err
}

// NeedsScopes notes that the resource wants scopes besides those that u has (403, insufficient_scope). A machine asks for all of
// them at once, and Of gives its new token. A person has to agree: the credential is dead until then, and the next connection asks
// for all of them. That happens twice at most: a server that is not content then never will be.
func (r *Resolver) NeedsScopes(ctx context.Context, tenant connectors.TenantID, u *Usable, scopes []string) error {
	c, meta := u.connector, u.meta
	if u.Version == 0 {
		return nil
	}
	if meta.StepUps >= maxStepUps {
		return r.Refused(ctx, tenant, u, becauseInsists)
	}
	meta.WantedScopes, meta.StepUps = oauth.UnionScopes(u.scopes, append(meta.WantedScopes, scopes...)), meta.StepUps+1
	if !isMachine(c.Auth.Type) {
		_, err := r.store.Vault(tenant).RefuseGrant(ctx, u.ID, u.Version, meta, becauseScopes)
		return err
	}
	g, err := r.store.Vault(tenant).Grant(ctx, c.ID, u.Agent)
	if err != nil || g.ID != u.ID || g.Version != u.Version || !r.renewable(g) {
		return err
	}
	g.Tokens.Meta = meta
	if g, err = r.renewed(ctx, tenant, c, g); err == nil && g.Version == u.Version {
		return notRenewed(c, g, nil)
	}
	return err
}

func (r *Resolver) usableGrant(c connectors.Connector, g store.Grant, err error) (*Usable, error) {
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case !alive(c, g.Credential):
		return nil, nil
	case lives(g, r.now(), 0):
		u := &Usable{ID: g.ID, Agent: g.AgentID, Version: g.Version, Headers: bearer(g.Tokens.AccessToken)}
		u.Revision, u.Renewed = g.Version, g.RefreshedAt != nil
		u.connector, u.meta, u.scopes = c, g.Tokens.Meta, g.Scopes
		u.Due = dueAt(g, r.now())
		return u, nil
	case r.renewable(g):
		return nil, notRenewed(c, g, nil)
	default:
		return nil, nil
	}
}

// renewable tells whether there is something to get the next token with.
func (r *Resolver) renewable(g store.Grant) bool {
	if isMachine(g.Type) {
		return r.oauth != nil
	}
	return r.oauth != nil && !g.Tokens.RefreshToken.Empty()
}

// lives tells whether there is a token that is good for a while yet. Where the authorization server did not say how long, only the
// resource knows.
func lives(g store.Grant, now time.Time, while time.Duration) bool {
	return !g.Tokens.AccessToken.Empty() &&
		(g.ExpiresAt == nil || g.Tokens.Meta.ExpiryAssumed || now.Add(while).Before(*g.ExpiresAt))
}

// due tells whether it is time for the next token: less than a fifth of this one's life is left, between a minute and five. The
// jitter keeps replicas from asking at once.
func due(g store.Grant, now time.Time) bool {
	at := dueAt(g, now)
	return !at.IsZero() && now.After(at)
}

// dueAt is when it is time for the next token; zero: never.
func dueAt(g store.Grant, now time.Time) time.Time {
	switch {
	case g.Tokens.AccessToken.Empty(), g.Status == connectors.CredentialRefreshFailed:
		return now.Add(-1) // a failure is tried again as soon as it has been waited out
	case g.ExpiresAt == nil:
		return time.Time{}
	}
	issued := g.UpdatedAt
	if g.RefreshedAt != nil {
		issued = *g.RefreshedAt
	}
	life := g.ExpiresAt.Sub(issued)
	margin := min(max(life/5, time.Minute), 5*time.Minute)
	margin = max(min(margin, life/2), 0) // a token of less than two minutes is used for a while, too
	margin += time.Duration(float64(margin) * 0.1 * rand.Float64())
	return g.ExpiresAt.Add(-margin)
}
