package connect

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

const (
	// maxRevocations bounds the revocations under way. Package store says how many of them may be a tenant's.
	maxRevocations = 8
	// claimEvery is how often a job with a free slot looks for revocations that became due meanwhile.
	claimEvery = time.Second
	// recordTime bounds the writing down of what came of a try, which the end of the job does not cut off.
	recordTime = 10 * time.Second
)

// RevokeDeleted revokes grants whose credentials were deleted, at the servers that gave them. It begins no try when spell is over, and reports
// whether there may be more to do then. A server that does not answer is asked again later, for a day; then the grant is given up, which the
// audit log says.
func (b *Broker) RevokeDeleted(ctx context.Context, spell time.Duration) (more bool, err error) {
	round := revocationRound{Broker: b, until: time.Now().Add(spell), ended: make(chan error, maxRevocations)}
	for {
		if err == nil {
			err = round.start(ctx)
		}
		if round.underWay == 0 {
			return round.over(ctx), err
		}
		select {
		case failed := <-round.ended:
			round.underWay--
			err = cmp.Or(err, failed)
		case <-time.After(claimEvery):
		}
	}
}

// revocationRound is one job's work. One goroutine starts the tries.
type revocationRound struct {
	*Broker
	until    time.Time
	last     connectors.TenantID // whose grant was claimed last
	underWay int
	ended    chan error // one for each try: nil, or why its end could not be recorded
}

// start claims and starts as many tries as may be under way.
func (r *revocationRound) start(ctx context.Context) error {
	for r.underWay < maxRevocations && !r.over(ctx) {
		claimed, err := r.store.System().ClaimRevocation(ctx, r.last)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("claim a deleted grant: %w", err)
		}
		r.last = claimed.Tenant
		r.underWay++
		safe.Go(safe.Task, func() {
			r.ended <- safe.Try(safe.Task, func() error { return r.revokeDeleted(ctx, claimed) })()
		})
	}
	return nil
}

// over reports whether no more tries may begin.
func (r *revocationRound) over(ctx context.Context) bool {
	return ctx.Err() != nil || !time.Now().Before(r.until)
}

// revokeDeleted tries one revocation, and records what came of it. It fails where that cannot be recorded.
func (b *Broker) revokeDeleted(ctx context.Context, c store.ClaimedRevocation) error {
	log := b.log.With(slog.Any("tenant_id", c.Tenant), slog.Any("connector_id", c.Connector.ID))
	err := b.tryRevocation(ctx, c)
	stopped := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	switch {
	case err == nil:
		err = b.finishRevocation(ctx, c.Tenant, c.ID, nil)
	case c.Last && !stopped:
		log.WarnContext(ctx, "grant not revoked, and given up", slog.Any("error", err))
		event := revokeFailed(c)
		err = b.finishRevocation(ctx, c.Tenant, c.ID, &event)
	default:
		log.WarnContext(ctx, "grant not revoked", slog.Any("error", err))
		err = b.tenant(c.Tenant).ReleaseRevocation(ctx, c.ID)
	}
	if err == nil || fault.Is(err, fault.NotFound) {
		return nil
	}
	return fmt.Errorf("record a revocation: %w", err)
}

// tryRevocation asks the authorization server once. It is nil where there is nothing to revoke, too.
func (b *Broker) tryRevocation(ctx context.Context, c store.ClaimedRevocation) error {
	ctx, cancel := context.WithTimeout(ctx, revokeTime)
	defer cancel()
	r, err := b.store.Vault(c.Tenant).Revocation(ctx, c.ID)
	switch {
	case fault.Is(err, fault.NotFound): // its tenant is gone, or another process was faster
		return nil
	case err != nil:
		return err
	case r.Superseded:
		b.log.InfoContext(ctx, "grant not revoked, since its client has a newer one",
			slog.Any("tenant_id", c.Tenant), slog.Any("connector_id", c.Connector.ID))
		return nil
	}
	return b.revokeAs(ctx, c.Tenant, r)
}

// revokeFailed is the audit event of a grant that is given up.
func revokeFailed(c store.ClaimedRevocation) store.Event {
	e := store.Event{
		ActorType: "system", ActorName: "Patchbay", Action: "credential.revoke_failed", Target: cmp.Or(c.Connector.Slug, c.Connector.ID.String()),
		Detail: map[string]any{"connector_id": c.Connector.ID.String(), "issuer": c.Issuer},
	}
	if c.Connector.Name != "" {
		e.Detail["name"] = c.Connector.Name
	}
	if c.AgentID != nil {
		e.Detail["agent_id"] = c.AgentID.String()
	}
	return e
}

// finishRevocation forgets a grant that is revoked or given up, with the event that tells of it; nil: none.
func (b *Broker) finishRevocation(ctx context.Context, tenant connectors.TenantID, id connectors.CredentialID, event *store.Event) error {
	err := b.tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.FinishRevocation(ctx, id); err != nil || event == nil {
			return err
		}
		return tx.Record(ctx, *event)
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// revokeAs revokes a deleted grant as the client that it is for, as far as that can still prove itself.
func (b *Broker) revokeAs(ctx context.Context, tenant connectors.TenantID, r store.Revocation) error {
	meta := r.Tokens.Meta
	server := meta.Server
	server.RegistrationEndpoint = ""
	configured := oauth.Registration{}
	if !r.ClientSecret.Empty() {
		configured = oauth.Registration{ClientID: meta.ClientID, ClientSecret: oauth.Secret(r.ClientSecret.Reveal())}
	}
	client, err := b.oauth.Register(ctx, oauth.RegisterRequest{Server: server, DocumentURL: b.document, Configured: configured})
	if err != nil || client.ClientID != meta.ClientID {
		client, err = b.store.Vault(tenant).Registration(ctx, meta.Server.Issuer, meta.RedirectURI) // also of a base URL of before
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	if client.ClientID != meta.ClientID {
		client = oauth.Registration{Issuer: meta.Server.Issuer, ClientID: meta.ClientID}
	}
	ctx = safehttp.WithTenant(ctx, tenant.String())
	token, hint := r.Tokens.RefreshToken, oauth.HintRefreshToken
	if token.Empty() {
		token, hint = r.Tokens.AccessToken, oauth.HintAccessToken
	}
	return b.oauth.Revoke(ctx, oauth.Peer{Server: meta.Server, Client: client, Resource: meta.Resource}, oauth.Secret(token.Reveal()), hint)
}
