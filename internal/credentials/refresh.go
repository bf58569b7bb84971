package credentials

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safe"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// Bounds of a refresh. The lease is longer than the requests and the write, so that no process takes over from
// a live one.
const (
	refreshTimeout     = 15 * time.Second
	machineTimeout     = 20 * time.Second // discovery and one request
	challengeTimeout   = 5 * time.Second
	writeTimeout       = 10 * time.Second
	writeRetryInterval = 200 * time.Millisecond
	leaseDuration      = 30 * time.Second
	maxRetryDelay      = 20 * time.Second // after a temporary failure

	maxRefreshWait = 2 * time.Second
	minValidity    = 10 * time.Second // a token with less validity is not used instead of waiting
)

// refreshInTime refreshes a due token. If that is slow and the token is still valid, it returns the token.
func (r *Resolver) refreshInTime(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, g store.Grant,
) (store.Grant, error) {
	waitCtx := ctx
	if isTokenValid(g, r.now(), minValidity) {
		var cancel context.CancelFunc
		waitCtx, cancel = context.WithTimeout(ctx, r.refreshWait)
		defer cancel()
	}
	fresh, err := r.refreshGrant(waitCtx, tenant, c, g)
	if fault.Is(err, fault.Unavailable) && ctx.Err() == nil && isTokenValid(g, r.now(), 0) {
		return g, nil
	}
	return fresh, err
}

// errLate means that another process, which may have been killed, holds the lease of a refresh for longer than the connector's timeout.
var errLate = errors.New("another process holds the lease")

// refreshGrant waits for the refresh of a grant's version. Callers in a process share one. It outlives a
// cancelled caller: an unread response may hold the only valid token.
func (r *Resolver) refreshGrant(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, g store.Grant,
) (store.Grant, error) {
	done := r.refreshes.DoChan(g.ID.String()+"/"+strconv.Itoa(g.Version), func() (_ any, err error) {
		defer safe.RecoverTo(safe.Task, &err)
		if !r.refreshGroup.start() {
			return g, newNotRenewed(c, g, errStopping)
		}
		defer r.refreshGroup.finish()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.lease+machineTimeout+writeTimeout)
		defer cancel()
		return r.newRefreshRun(tenant, c).run(ctx, g)
	})
	select {
	case <-ctx.Done():
		return store.Grant{}, newNotRenewed(c, g, ctx.Err())
	case result := <-done:
		if result.Err != nil {
			return store.Grant{}, result.Err
		}
		return result.Val.(store.Grant), nil
	}
}

type refreshRun struct {
	*Resolver
	tenant    connectors.TenantID
	vault     *store.Vault
	connector connectors.Connector
}

func (r *Resolver) newRefreshRun(tenant connectors.TenantID, c connectors.Connector) *refreshRun {
	return &refreshRun{Resolver: r, tenant: tenant, vault: r.store.Vault(tenant), connector: c}
}

// run ends when this or another process has changed the version, or when a retry delay applies. It waits for another process as long as
// for a response of the server.
func (r *refreshRun) run(ctx context.Context, seen store.Grant) (store.Grant, error) {
	late := time.NewTimer(cmp.Or(r.connector.Timeout, r.lease))
	defer late.Stop()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		g, err := r.vault.GrantByID(ctx, seen.ID)
		if err != nil || g.Version != seen.Version || g.RetryAt != nil && r.now().Before(*g.RetryAt) {
			return g, err
		}
		lease, ok, err := r.vault.LeaseGrant(ctx, g, r.lease)
		if err != nil {
			return g, err
		}
		if ok {
			g.Tokens.Meta.WantedScopes, g.Tokens.Meta.StepUps = seen.Tokens.Meta.WantedScopes, seen.Tokens.Meta.StepUps
			return r.requestAndStore(ctx, g, lease)
		}
		select { // the other process's result changes the version
		case <-ctx.Done():
			return g, newNotRenewed(r.connector, g, ctx.Err())
		case <-late.C:
			return g, newNotRenewed(r.connector, g, errLate)
		case <-time.After(pause):
		}
	}
}

// requestAndStore sends the request, and stores the result before it is used. Writes apply only while lease and
// version hold. Otherwise the stored grant is returned.
func (r *refreshRun) requestAndStore(ctx context.Context, g store.Grant, lease store.Lease) (store.Grant, error) {
	var result refreshResult
	result.tokens, result.failure = tracing.Step(ctx, "oauth refresh", failureKind, func(ctx context.Context) (store.GrantTokens, error) { return r.requestToken(ctx, g) })
	r.logResult(ctx, g, result.failure)
	result.said = r.ReadUpstream(context.WithoutCancel(ctx), r.tenant, r.connector, result.failure, usedTokens(g))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	for {
		done, err := r.storeResult(ctx, g, lease, result)
		if !fault.Is(err, fault.Unavailable) {
			done.RefreshError = result.failure
			return done, err
		}
		select { // the unwritten token may be the only valid one; a repeated write has no effect
		case <-ctx.Done():
			return g, err
		case <-time.After(writeRetryInterval):
		}
	}
}

func failureKind(err error) string {
	if failed, ok := errors.AsType[*oauth.Error](err); ok {
		return string(failed.Kind)
	}
	return "failed"
}

type refreshResult struct {
	tokens  store.GrantTokens // to be stored
	failure error
	said    *connectors.Upstream // with failure; nil: nothing
}

// usedTokens are the secrets of a grant that a refresh sends.
func usedTokens(g store.Grant) UsedSecrets {
	return UsedSecrets{Entered: g.Tokens.Machine, Texts: []secret.Text{g.Tokens.RefreshToken, g.Tokens.AccessToken}}
}
