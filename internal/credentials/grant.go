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

// maxStepUps bounds how often a server may ask for more scopes.
const maxStepUps = 2

// resolveGrant returns an account's token, refreshed if due. caller is that of a call; nil: a sync. nil: none is usable.
func (r *Resolver) resolveGrant(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, of Account, caller *connectors.Caller,
) (*Credential, error) {
	return r.refreshIfDue(ctx, tenant, c, caller, func() (store.Grant, error) {
		g, err := r.store.Vault(tenant).NamedGrant(ctx, c.ID, of.Agent, of.Name)
		switch {
		case r.isExchanged(c, of.Agent):
			g, err = r.findExchangedAccount(ctx, tenant, c, of, caller, g, err)
		case fault.Is(err, fault.NotFound) && of.Name == "" && r.canBeManaged(c, of.Agent):
			g, err = r.addManagedAccount(ctx, tenant, c, *of.Agent, caller)
		}
		return g, explainSeveral(c, of.Agent, err)
	})
}

// resolveGrantByID is resolveGrant for an account that was read before.
func (r *Resolver) resolveGrantByID(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, id connectors.CredentialID,
) (*Credential, error) {
	return r.refreshIfDue(ctx, tenant, c, nil, func() (store.Grant, error) { return r.store.Vault(tenant).GrantByID(ctx, id) })
}

// ResolveAgain resolves the account of a token again; nil: it is not usable, or was replaced.
func (r *Resolver) ResolveAgain(ctx context.Context, tenant connectors.TenantID, u *Credential) (*Credential, error) {
	return r.resolveGrantByID(ctx, tenant, u.connector, u.ID)
}

// refreshIfDue returns the token of the grant that is read. The grant is read again if it was replaced while its token was refreshed.
func (r *Resolver) refreshIfDue(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, caller *connectors.Caller, read func() (store.Grant, error),
) (*Credential, error) {
	readIssued := func() (store.Grant, error) {
		g, err := read()
		if err == nil {
			err = r.checkIssue(c, g)
		}
		return g, err
	}
	g, err := readIssued()
	refused := func() bool {
		return err == nil && g.Member != nil && caller != nil && isUsable(c, g.Credential) &&
			(g.AgentID == nil || !servesCaller(*g.AgentID, *g.Member, *caller))
	}
	if refused() {
		return nil, newManagedError(c)
	}
	if name := g.Tokens.Machine.WorkloadToken; err == nil && name != "" { // the operator may have withdrawn it
		if _, err := r.findWorkloadToken(ctx, tenant, c, name); err != nil {
			return nil, err
		}
	}
	if err == nil && caller == nil && namesMember(g) { // a sync uses a valid token, and requests none
		if !isTokenValid(g, r.now(), 0) {
			return nil, nil
		}
	} else if err == nil && isUsable(c, g.Credential) && r.canRefresh(g) && isDue(g, r.now()) {
		g, err = r.refreshInTime(ctx, tenant, c, g)
		if fault.Is(err, fault.NotFound) {
			g, err = readIssued()
		}
		if refused() { // another account took its place meanwhile
			return nil, newManagedError(c)
		}
	}
	u, err := r.newUsableGrant(c, g, err)
	if u != nil {
		u.forSync = caller == nil
	}
	return u, err
}

// ForceRefresh refreshes a token that the resource refused with 401. version is that of the refused Credential: a
// newer stored token of the same account is returned without a request. The same version is returned if it cannot be refreshed. A
// failed refresh is an Unavailable fault. A sync asks [Credential.RequestsForCallsOnly] before.
func (r *Resolver) ForceRefresh(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, id connectors.CredentialID, version int,
) (*Credential, error) {
	g, err := r.store.Vault(tenant).GrantByID(ctx, id)
	if err == nil {
		err = r.checkIssue(c, g)
	}
	if err == nil && isUsable(c, g.Credential) && g.Version == version && r.canRefresh(g) {
		g, err = r.refreshGrant(ctx, tenant, c, g)
		switch {
		case err == nil && g.ID != id: // another account of that name
			return nil, nil
		case err == nil && isUsable(c, g.Credential) && g.Version == version:
			return nil, newNotRenewed(c, g, g.RefreshError)
		}
	}
	return r.newUsableGrant(c, g, err)
}

// MarkRefused marks u as refused by the resource after a refresh, or without one: a person has to reconnect.
// reason is a sentence. What the resource said, by refusal, is stored for admins; nil: nothing. A newer version is not
// marked.
func (r *Resolver) MarkRefused(ctx context.Context, tenant connectors.TenantID, u *Credential, reason string, refusal error) error {
	if u.Version == 0 {
		return nil
	}
	return r.refuseGrant(ctx, tenant, u, u.meta, reason, refusal)
}

func (r *Resolver) refuseGrant(
	ctx context.Context, tenant connectors.TenantID, u *Credential, meta store.GrantMeta, reason string, refusal error,
) error {
	said := r.ReadUpstream(ctx, tenant, u.connector, refusal, UsedSecrets{Headers: u.Headers})
	_, err := r.store.Vault(tenant).RefuseGrant(ctx, u.ID, u.Version, meta, reason, said)
	return err
}

// RequestScopes handles a resource that asks for more scopes (403, insufficient_scope). A machine requests a token with all of them at
// once, a managed account with those that are configured or published, and token exchange with those that are configured alone. A person has to
// reconnect, with all of them. After maxStepUps the credential is marked as refused, as by MarkRefused with refusal.
func (r *Resolver) RequestScopes(ctx context.Context, tenant connectors.TenantID, u *Credential, scopes []string, refusal error) error {
	c, meta := u.connector, u.meta
	if u.Version == 0 {
		return nil
	}
	if meta.StepUps >= maxStepUps {
		return r.MarkRefused(ctx, tenant, u, reasonTooManyStepUps, refusal)
	}
	if meta.Exchange != "" {
		return fault.Errorf(fault.Conflict, "%q asks for more scopes. An admin can add them to the connector's settings.", c.Name)
	}
	meta.WantedScopes, meta.StepUps = oauth.UnionScopes(u.scopes, append(meta.WantedScopes, scopes...)), meta.StepUps+1
	if !isMachine(c.Auth.Type) && u.member == nil {
		return r.refuseGrant(ctx, tenant, u, meta, reasonScopes, refusal)
	}
	g, err := r.store.Vault(tenant).GrantByID(ctx, u.ID)
	if fault.Is(err, fault.NotFound) { // replaced or deleted
		return nil
	}
	if err != nil || g.Version != u.Version || !r.canRefresh(g) {
		return err
	}
	g.Tokens.Meta = meta
	if g, err = r.refreshGrant(ctx, tenant, c, g); err == nil && g.Version == u.Version {
		return newNotRenewed(c, g, g.RefreshError)
	}
	return err
}

func (r *Resolver) newUsableGrant(c connectors.Connector, g store.Grant, err error) (*Credential, error) {
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case !isUsable(c, g.Credential):
		return nil, nil
	case isTokenValid(g, r.now(), 0):
		headers, err := tokenHeaders(g.Tokens)
		if err != nil {
			return nil, err
		}
		u := &Credential{ID: g.ID, Agent: g.AgentID, Version: g.Version, Headers: headers}
		u.Revision, u.Refreshed = g.Version, g.RefreshedAt != nil
		u.connector, u.meta, u.scopes, u.member, u.workload = c, g.Tokens.Meta, g.Scopes, g.Member, g.Tokens.Machine.WorkloadToken != ""
		u.Due = refreshDueAt(g, r.now())
		return u, nil
	case r.canRefresh(g):
		return nil, newNotRenewed(c, g, g.RefreshError)
	default:
		return nil, nil
	}
}

// canRefresh reports whether a new token can be requested.
func (r *Resolver) canRefresh(g store.Grant) bool {
	if isMachine(g.Type) || isIssued(g) {
		return r.oauth != nil
	}
	return r.oauth != nil && !g.Tokens.RefreshToken.Empty()
}

// isTokenValid reports whether the token is valid for margin longer. An assumed expiry does not count, because only the
// resource knows; but a managed account ends with the provider's consent.
func isTokenValid(g store.Grant, now time.Time, margin time.Duration) bool {
	return !g.Tokens.AccessToken.Empty() &&
		(g.ExpiresAt == nil || g.Tokens.Meta.ExpiryAssumed && !isIssued(g) || now.Add(margin).Before(*g.ExpiresAt))
}

// isDue reports whether it is time to refresh: within the last fifth of the token's life, at least one and at
// most five minutes. Jitter spreads replicas.
func isDue(g store.Grant, now time.Time) bool {
	at := refreshDueAt(g, now)
	return !at.IsZero() && now.After(at)
}

// refreshDueAt is when a refresh is due; zero: never.
func refreshDueAt(g store.Grant, now time.Time) time.Time {
	switch {
	case g.Tokens.AccessToken.Empty(), g.Status == connectors.CredentialRefreshFailed:
		return now.Add(-1) // failures are delayed by RetryAt
	case g.ExpiresAt == nil:
		return time.Time{}
	}
	issued := g.UpdatedAt
	if g.RefreshedAt != nil {
		issued = *g.RefreshedAt
	}
	life := g.ExpiresAt.Sub(issued)
	margin := min(max(life/5, time.Minute), 5*time.Minute)
	margin = max(min(margin, life/2), 0) // a token of less than two minutes is also used for a while
	margin += time.Duration(float64(margin) * 0.1 * rand.Float64())
	return g.ExpiresAt.Add(-margin)
}
