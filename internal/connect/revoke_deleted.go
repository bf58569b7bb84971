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
	// maxRevocations bounds concurrent revocations. Package store bounds them per tenant.
	maxRevocations = 8
	// claimInterval is the interval at which a job with a free slot looks for due revocations.
	claimInterval = time.Second
	// recordTimeout bounds storing the result of an attempt, which outlives the job.
	recordTimeout = 10 * time.Second
)

// RevokeDeleted revokes the grants of deleted credentials at their servers. It starts no attempt after spell,
// and reports whether more may be due. Failed attempts are repeated for a day; then the grant is given up. A
// superseded grant is skipped. Both are audited.
func (b *Broker) RevokeDeleted(ctx context.Context, spell time.Duration) (more bool, err error) {
	round := revocationRound{Broker: b, until: time.Now().Add(spell), ended: make(chan error, maxRevocations)}
	for {
		if err == nil {
			err = round.startAttempts(ctx)
		}
		if round.active == 0 {
			return round.isOver(ctx), err
		}
		select {
		case failed := <-round.ended:
			round.active--
			err = cmp.Or(err, failed)
		case <-time.After(claimInterval):
		}
	}
}

// revocationRound is one job's work. One goroutine starts the attempts.
type revocationRound struct {
	*Broker
	until  time.Time
	last   connectors.TenantID // tenant of the last claim
	active int
	ended  chan error // one value per attempt: nil, or why its result could not be stored
}

// startAttempts claims revocations and starts attempts up to the bound.
func (r *revocationRound) startAttempts(ctx context.Context) error {
	for r.active < maxRevocations && !r.isOver(ctx) {
		claimed, err := r.store.System().ClaimRevocation(ctx, r.last)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("claim a deleted grant: %w", err)
		}
		r.last = claimed.Tenant
		r.active++
		safe.Go(safe.Task, func() {
			r.ended <- safe.Try(safe.Task, func() error { return r.revokeDeleted(ctx, claimed) })()
		})
	}
	return nil
}

// isOver reports whether no more attempts may start.
func (r *revocationRound) isOver(ctx context.Context) bool {
	return ctx.Err() != nil || !time.Now().Before(r.until)
}

// revokeDeleted makes one attempt and stores its result. It fails if that cannot be stored.
func (b *Broker) revokeDeleted(ctx context.Context, c store.ClaimedRevocation) error {
	log := b.log.With(slog.Any("tenant_id", c.Tenant), slog.Any("connector_id", c.Connector.ID))
	superseded, err := b.attemptRevocation(ctx, c)
	stopped := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	switch {
	case superseded:
		log.InfoContext(ctx, "grant not revoked: its client has a newer one")
		event := newRevokeFailedEvent(c)
		event.Detail["cause"] = "Revoking it could also end the client's newer access."
		err = b.finishRevocation(ctx, c.Tenant, c.ID, &event)
	case err == nil:
		err = b.finishRevocation(ctx, c.Tenant, c.ID, nil)
	case c.Last && !stopped:
		log.WarnContext(ctx, "grant not revoked, giving up", slog.Any("error", err))
		event := newRevokeFailedEvent(c)
		err = b.finishRevocation(ctx, c.Tenant, c.ID, &event)
	default:
		log.WarnContext(ctx, "grant not revoked", slog.Any("error", err))
		err = b.tenantStore(c.Tenant).Accounts().ReleaseRevocation(ctx, c.ID)
	}
	if err == nil || fault.Is(err, fault.NotFound) {
		return nil
	}
	return fmt.Errorf("record a revocation: %w", err)
}

// attemptRevocation sends one revocation. It returns nil if there is nothing to revoke. superseded reports that it
// sent none, because of a newer grant.
func (b *Broker) attemptRevocation(ctx context.Context, c store.ClaimedRevocation) (superseded bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	r, err := b.store.Vault(c.Tenant).Revocation(ctx, c.ID)
	switch {
	case fault.Is(err, fault.NotFound): // its tenant is deleted, or another process was faster
		return false, nil
	case err != nil:
		return false, err
	case r.Superseded:
		return true, nil
	}
	return false, b.revokeAs(ctx, c.Tenant, r)
}

// newRevokeFailedEvent returns the audit event of a grant that is not revoked.
func newRevokeFailedEvent(c store.ClaimedRevocation) store.Event {
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
	if name := connectors.GivenName(c.Name); name != "" {
		e.Detail["account"] = name
	}
	return e
}

// finishRevocation deletes a grant that was revoked, skipped or given up, with an audit event; nil: none.
func (b *Broker) finishRevocation(ctx context.Context, tenant connectors.TenantID, id connectors.CredentialID, event *store.Event) error {
	err := b.tenantStore(tenant).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.Accounts().FinishRevocation(ctx, id); err != nil || event == nil {
			return err
		}
		return tx.Audit().Record(ctx, *event)
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// revokeAs revokes a deleted grant with its client, if that can still authenticate.
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
		client, err = b.store.Vault(tenant).Registration(ctx, meta.Server.Issuer, meta.RedirectURI) // also of an earlier base URL
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
