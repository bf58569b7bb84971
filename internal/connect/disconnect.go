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

// revokeTimeout bounds one revocation request.
const revokeTimeout = 5 * time.Second

// Disconnect deletes a grant and revokes it at the authorization server, ignoring a failure there. It fails
// with NotFound without an account, and with Conflict for a credential that is no grant.
func (b *Broker) Disconnect(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref) error {
	return b.DisconnectAccount(ctx, a, c, agent, "")
}

// DisconnectAccount is Disconnect for the account with a name; empty: the owner's only one.
func (b *Broker) DisconnectAccount(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref, account string) error {
	p, err := b.findDisconnectTarget(ctx, a, c, agent)
	if err != nil {
		return err
	}
	p.account = account
	old, unread := b.store.Vault(p.tenant).NamedGrant(ctx, p.connector.ID, p.agentID(), p.account)
	absent := fault.Is(unread, fault.NotFound)
	switch {
	case absent && p.isExchanged():
		p.account = connectors.DefaultAccount
	case absent:
		return fault.Errorf(fault.NotFound, "No account connected.")
	case fault.Is(unread, fault.Conflict): // several
		return unread
	case unread == nil:
		p.account = old.Name
	}
	err = b.tenantStore(p.tenant).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, p.auditSubject())
		if err != nil {
			return err
		}
		if absent {
			if was, err = addExchangedAccount(ctx, tx, p); err != nil {
				return err
			}
		}
		if unread == nil {
			now, err := tx.Agents().CredentialFor(ctx, p.connector.ID, p.agentID(), p.account)
			if err == nil && now.ID != old.ID {
				err = fault.Errorf(fault.Conflict, "This account was just replaced. Try again.")
			}
			if err != nil {
				return err
			}
		}
		if err := tx.Connectors().DeleteCredential(ctx, p.connector.ID, p.agentID(), p.account); err != nil {
			return err
		}
		return tx.RecordChange(ctx, p.describeEvent(a.Event("credential.disconnect", p.connector.Slug)), was, p.auditSubject())
	})
	if err != nil {
		return err
	}
	if absent {
		return nil
	}
	if unread != nil { // an unreadable grant can still be deleted
		b.log.WarnContext(ctx, "grant not revoked", append(p.logAttrs(), slog.Any("error", unread))...)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTimeout)
	defer cancel()
	if !b.revokeStored(ctx, p, old.Tokens) {
		return nil // the revocation job retries
	}
	if err := b.finishRevocation(ctx, p.tenant, old.ID, nil); err != nil {
		b.log.WarnContext(ctx, "revoked grant not deleted", append(p.logAttrs(), slog.Any("error", err))...)
	}
	return nil
}

// isExchanged reports whether the account would be one from token exchange.
func (t target) isExchanged() bool {
	return t.connector.OAuth.TokenExchange != "" && t.agent != nil && (t.account == "" || t.account == connectors.DefaultAccount)
}

// addExchangedAccount stores an account without a token, so that a person can disconnect it before the first call. It returns the
// account's state.
func addExchangedAccount(ctx context.Context, tx *store.Tenant, p target) (store.State, error) {
	subject, err := tx.Accounts().ExchangeSubject(ctx, p.agent.ID, p.connector.ID)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Errorf(fault.NotFound, "No account connected.")
	}
	if err != nil {
		return nil, err
	}
	err = tx.Accounts().AddExchangedAccount(ctx, store.NewExchangedAccount{
		Connector: p.connector, AgentID: p.agent.ID, Member: subject.Member, Meta: store.GrantMeta{Exchange: p.connector.OAuth.TokenExchange},
	})
	if err != nil {
		return nil, err
	}
	return tx.State(ctx, p.auditSubject())
}

// sameClient reports whether both grants have one server and client.
func sameClient(old store.Grant, now store.NewGrant) bool {
	was := old.Tokens.Meta
	return was.Server.Issuer == now.Meta.Server.Issuer && was.ClientID == now.Meta.ClientID
}

// revokeStored revokes a stored grant with its client.
func (b *Broker) revokeStored(ctx context.Context, p target, t store.GrantTokens) bool {
	meta := t.Meta
	client, _, err := b.findFlowClient(ctx, p, meta.Server, meta.ClientID)
	if err != nil {
		b.log.WarnContext(ctx, "grant not revoked", append(p.logAttrs(), slog.Any("error", err))...)
		return false
	}
	if client.ClientID != meta.ClientID {
		client = oauth.Registration{Issuer: meta.Server.Issuer, ClientID: meta.ClientID}
	}
	return b.revokeGrant(ctx, p, oauth.Peer{Server: meta.Server, Client: client, Resource: meta.Resource}, t)
}

// revokeGrant revokes a grant by its refresh token, which includes the access tokens (RFC 7009 section 2.1),
// else by the access token. It reports success and logs failures.
func (b *Broker) revokeGrant(ctx context.Context, p target, peer oauth.Peer, t store.GrantTokens) bool {
	token, hint := t.RefreshToken, oauth.HintRefreshToken
	if token.Empty() {
		token, hint = t.AccessToken, oauth.HintAccessToken
	}
	ctx = safehttp.WithTenant(ctx, p.tenant.String())
	err := b.oauth.Revoke(ctx, peer, oauth.Secret(token.Reveal()), hint)
	if err != nil {
		b.log.WarnContext(ctx, "grant not revoked", append(p.logAttrs(), slog.Any("error", err))...)
	}
	return err == nil
}
