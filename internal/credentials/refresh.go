package credentials

import (
	"context"
	"errors"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// The bounds of one renewal. A lease outlives the requests and the writing that follows them, so that nobody takes over from a
// process that still lives.
const (
	refreshTime   = 15 * time.Second
	machineTime   = 20 * time.Second // discovery and one request
	challengeTime = 5 * time.Second
	writeTime     = 10 * time.Second
	writePause    = 200 * time.Millisecond
	leaseTime     = 30 * time.Second
	longestWait   = 20 * time.Second // after a failure that may pass

	patience = 2 * time.Second
	soon     = 10 * time.Second // a token that ends so soon is not waited with
)

// renewedInTime is renewed for a caller whose token is due: one that still lives is used where the next one is slow to come.
func (r *Resolver) renewedInTime(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, g store.Grant,
) (store.Grant, error) {
	waiting := ctx
	if lives(g, r.now(), soon) {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, r.patience)
		defer cancel()
	}
	fresh, err := r.renewed(waiting, tenant, c, g)
	if fault.Is(err, fault.Unavailable) && ctx.Err() == nil && lives(g, r.now(), 0) {
		return g, nil
	}
	return fresh, err
}

// renewed waits for the renewal of a grant as it was read. In this process there is one for each version of each grant, whoever
// asks; it does not end with the caller, because an answer that nobody reads may have held the only good token.
func (r *Resolver) renewed(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, g store.Grant,
) (store.Grant, error) {
	flight := r.flights.DoChan(g.ID.String()+"/"+strconv.Itoa(g.Version), func() (_ any, err error) {
		defer safe.RecoverTo(safe.Task, &err)
		if !r.crew.enter() {
			return g, notRenewed(c, g, errStopping)
		}
		defer r.crew.leave()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.lease+machineTime+writeTime)
		defer cancel()
		return r.renewal(tenant, c).run(ctx, g)
	})
	select {
	case <-ctx.Done():
		return store.Grant{}, notRenewed(c, g, ctx.Err())
	case result := <-flight:
		if result.Err != nil {
			return store.Grant{}, result.Err
		}
		return result.Val.(store.Grant), nil
	}
}

// renewal is one way from a token to the next.
type renewal struct {
	*Resolver
	tenant    connectors.TenantID
	vault     *store.Vault
	connector connectors.Connector
}

func (r *Resolver) renewal(tenant connectors.TenantID, c connectors.Connector) *renewal {
	return &renewal{Resolver: r, tenant: tenant, vault: r.store.Vault(tenant), connector: c}
}

// run goes on until the grant's version has moved, by this process or another, or until nobody may ask for now.
func (r *renewal) run(ctx context.Context, seen store.Grant) (store.Grant, error) {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		g, err := r.vault.Grant(ctx, seen.ConnectorID, seen.AgentID)
		if err != nil || g.ID != seen.ID || g.Version != seen.Version || g.RetryAt != nil && r.now().Before(*g.RetryAt) {
			return g, err
		}
		lease, ok, err := r.vault.LeaseGrant(ctx, g, r.lease)
		if err != nil {
			return g, err
		}
		if ok {
			g.Tokens.Meta.WantedScopes, g.Tokens.Meta.StepUps = seen.Tokens.Meta.WantedScopes, seen.Tokens.Meta.StepUps
			return r.ask(ctx, g, lease)
		}
		select { // another process asks; its answer moves the version
		case <-ctx.Done():
			return g, notRenewed(r.connector, g, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// ask sends the one request and stores what came of it before anyone uses it. Every write holds only while the lease and the
// version do: where another one was faster, or the credential was deleted or replaced meanwhile, what is stored is what is read
// back.
func (r *renewal) ask(ctx context.Context, g store.Grant, lease store.Lease) (store.Grant, error) {
	var came result
	came.tokens, came.refusal = tracing.Step(ctx, "oauth refresh", failureWord, func(ctx context.Context) (store.GrantTokens, error) { return r.next(ctx, g) })
	r.note(ctx, g, came.refusal)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	for {
		done, err := r.settle(ctx, g, lease, came)
		if !fault.Is(err, fault.Unavailable) {
			return done, err
		}
		select { // what could not be written may be the only good token; what was written is not written twice
		case <-ctx.Done():
			return g, err
		case <-time.After(writePause):
		}
	}
}

// failureWord is what traces say of a renewal that failed: its class.
func failureWord(err error) string {
	if failed, ok := errors.AsType[*oauth.Error](err); ok {
		return string(failed.Kind)
	}
	return "failed"
}

// result is what came of a request.
type result struct {
	tokens  store.GrantTokens // to be stored
	refusal error
}
