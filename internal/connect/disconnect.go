package connect

import (
	"context"
	"log/slog"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// revokeTime bounds one request that tells the authorization server that a grant is over.
const revokeTime = 5 * time.Second

// Disconnect deletes a grant, and tells the authorization server, which may not hear it. It is NotFound where no account is
// connected, and a Conflict where the credential is none of OAuth's.
func (b *Broker) Disconnect(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref) error {
	p, err := b.ending(ctx, a, c, agent)
	if err != nil {
		return err
	}
	old, unread := b.store.Vault(p.tenant).Grant(ctx, p.connector.ID, p.agentID())
	if fault.Is(unread, fault.NotFound) {
		return fault.Errorf(fault.NotFound, "No account is connected here.")
	}
	err = b.tenant(p.tenant).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, p.subject())
		if err != nil {
			return err
		}
		if err := tx.DeleteCredential(ctx, p.connector.ID, p.agentID()); err != nil {
			return err
		}
		return tx.RecordChange(ctx, p.about(a.Event("credential.disconnect", p.connector.Slug)), was, p.subject())
	})
	if err != nil {
		return err
	}
	if unread != nil { // what cannot be opened can be deleted all the same
		b.log.WarnContext(ctx, "grant not revoked", append(p.attrs(), slog.Any("error", unread))...)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
	defer cancel()
	if !b.revoke(ctx, p, old.Tokens) {
		return nil // the job that revokes what was deleted goes on
	}
	if err := b.finishRevocation(ctx, p.tenant, old.ID, nil); err != nil {
		b.log.WarnContext(ctx, "revoked grant not forgotten", append(p.attrs(), slog.Any("error", err))...)
	}
	return nil
}

// sameClient tells whether both grants are of one server, for one client of ours.
func sameClient(old store.Grant, now store.NewGrant) bool {
	was := old.Tokens.Meta
	return was.Server.Issuer == now.Meta.Server.Issuer && was.ClientID == now.Meta.ClientID
}

// revoke gives a stored grant back, as the client that it is for.
func (b *Broker) revoke(ctx context.Context, p place, t store.GrantTokens) bool {
	meta := t.Meta
	client, _, err := b.clientOf(ctx, p, meta.Server, meta.ClientID)
	if err != nil {
		b.log.WarnContext(ctx, "grant not revoked", append(p.attrs(), slog.Any("error", err))...)
		return false
	}
	if client.ClientID != meta.ClientID {
		client = oauth.Registration{Issuer: meta.Server.Issuer, ClientID: meta.ClientID}
	}
	return b.giveBack(ctx, p, oauth.Peer{Server: meta.Server, Client: client, Resource: meta.Resource}, t)
}

// giveBack revokes a grant at its server: by its refresh token, which takes the access tokens with it (RFC 7009 §2.1), else by the
// access token. It reports whether that was done; why it failed is logged.
func (b *Broker) giveBack(ctx context.Context, p place, peer oauth.Peer, t store.GrantTokens) bool {
	token, hint := t.RefreshToken, oauth.HintRefreshToken
	if token.Empty() {
		token, hint = t.AccessToken, oauth.HintAccessToken
	}
	ctx = safehttp.WithTenant(ctx, p.tenant.String())
	err := b.oauth.Revoke(ctx, peer, oauth.Secret(token.Reveal()), hint)
	if err != nil {
		b.log.WarnContext(ctx, "grant not revoked", append(p.attrs(), slog.Any("error", err))...)
	}
	return err == nil
}
