package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// RevokeDeleted revokes at most max grants whose credentials were deleted, at the servers that gave them, and returns how many it tried. A
// server that does not answer is asked again later, for a day; then the grant is given up, which the audit log says.
func (b *Broker) RevokeDeleted(ctx context.Context, max int) (int, error) {
	due, err := b.store.System().DueRevocations(ctx, max)
	if err != nil {
		return 0, fmt.Errorf("find deleted grants: %w", err)
	}
	var failed error
	for _, d := range due {
		failed = errors.Join(failed, b.revokeDeleted(ctx, d))
	}
	return len(due), failed
}

func (b *Broker) revokeDeleted(ctx context.Context, d store.DueRevocation) error {
	r, err := b.store.Vault(d.Tenant).Revocation(ctx, d.ID)
	if fault.Is(err, fault.NotFound) { // its tenant is gone, or another process was faster
		return nil
	}
	if err == nil && r.Superseded {
		b.log.InfoContext(ctx, "grant not revoked, since its client has a newer one", slog.Any("tenant_id", d.Tenant), slog.Any("connector_id", d.Connector.ID))
		return b.finishRevocation(ctx, d, nil)
	}
	if err == nil {
		revoking, cancel := context.WithTimeout(ctx, revokeTime)
		defer cancel()
		err = b.revokeAs(revoking, d, r)
	}
	if err == nil {
		return b.finishRevocation(ctx, d, nil)
	}
	b.log.WarnContext(ctx, "grant not revoked", slog.Any("tenant_id", d.Tenant), slog.Any("connector_id", d.Connector.ID), slog.Any("error", err))
	if !d.Last {
		return nil
	}
	event := revokeFailed(d)
	return b.finishRevocation(ctx, d, &event)
}

// revokeFailed is the audit event of a grant that is given up.
func revokeFailed(d store.DueRevocation) store.Event {
	e := store.Event{
		ActorType: "system", ActorName: "Patchbay", Action: "credential.revoke_failed", Target: cmp.Or(d.Connector.Slug, d.Connector.ID.String()),
		Detail: map[string]any{"connector_id": d.Connector.ID.String(), "issuer": d.Issuer},
	}
	if d.Connector.Name != "" {
		e.Detail["name"] = d.Connector.Name
	}
	if d.AgentID != nil {
		e.Detail["agent_id"] = d.AgentID.String()
	}
	return e
}

func (b *Broker) finishRevocation(ctx context.Context, d store.DueRevocation, given *store.Event) error {
	err := b.tenant(d.Tenant).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.FinishRevocation(ctx, d.ID); err != nil || given == nil {
			return err
		}
		return tx.Record(ctx, *given)
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// revokeAs revokes a deleted grant as the client that it is for, as far as that can still prove itself.
func (b *Broker) revokeAs(ctx context.Context, d store.DueRevocation, r store.Revocation) error {
	meta := r.Tokens.Meta
	server := meta.Server
	server.RegistrationEndpoint = ""
	configured := oauth.Registration{}
	if !r.ClientSecret.Empty() {
		configured = oauth.Registration{ClientID: meta.ClientID, ClientSecret: oauth.Secret(r.ClientSecret.Reveal())}
	}
	client, err := b.oauth.Register(ctx, oauth.RegisterRequest{Server: server, DocumentURL: b.document, Configured: configured})
	if err != nil || client.ClientID != meta.ClientID {
		client, err = b.registered(ctx, d.Tenant, meta.Server)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	if client.ClientID != meta.ClientID {
		client = oauth.Registration{Issuer: meta.Server.Issuer, ClientID: meta.ClientID}
	}
	ctx = safehttp.WithTenant(ctx, d.Tenant.String())
	token, hint := r.Tokens.RefreshToken, oauth.HintRefreshToken
	if token.Empty() {
		token, hint = r.Tokens.AccessToken, oauth.HintAccessToken
	}
	return b.oauth.Revoke(ctx, oauth.Peer{Server: meta.Server, Client: client, Resource: meta.Resource}, oauth.Secret(token.Reveal()), hint)
}
