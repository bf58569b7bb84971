package connect

import (
	"context"
	"errors"
	"log/slog"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// storeGrant stores the grant, its audit event and a sync in one transaction.
func (b *Broker) storeGrant(ctx context.Context, back callbackFlow, peer oauth.Peer, g store.NewGrant) (Connection, error) {
	old, unread := b.carryStepUps(ctx, back.target, &g)
	done := back.toFinished()
	err := b.tenantStore(back.tenant).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, back.auditSubject())
		if err != nil {
			return err
		}
		if err := tx.Connectors().Lock(ctx, back.connector.ID); err != nil {
			return err
		}
		now, err := b.loadTarget(ctx, tx, back.flow)
		switch {
		case err != nil:
			return err
		case !sameGrants(back.connector.OAuth, now.connector.OAuth):
			return errChanged()
		}
		if err := back.recheckMember(ctx, tx); err != nil {
			return err
		}
		if err := back.checkAccount(ctx, tx, &g); err != nil {
			return err
		}
		done.Connector, done.Agent, done.Account, done.Name = now.connector, now.agent, g.Meta.Identity.Label(), now.account
		if err := tx.Accounts().SaveGrant(ctx, g); err != nil {
			return err
		}
		if err := tx.RecordChange(ctx, back.auditEvent(now, g), was, back.auditSubject()); err != nil {
			return err
		}
		done.Run, err = queueSync(ctx, tx.Syncs(), now)
		return err
	})
	if shouldRevoke(err, g, old, unread) {
		b.revokeUnstored(ctx, back.target, peer, g)
	}
	if err != nil {
		return back.toFinished(), err
	}
	b.logConnected(ctx, back, done.Run)
	return done, nil
}

// shouldRevoke reports whether to revoke a grant that could not be stored because of err: its code is used up,
// and it would stay unused.
func shouldRevoke(err error, g store.NewGrant, old *store.Grant, unread error) bool {
	switch {
	case err == nil, errors.Is(err, store.ErrCommitUnknown): // it is stored, or may be
		return false
	case errors.Is(err, errOtherSubject):
		return true
	case fault.Is(err, fault.Malformed): // the connector has changed, or the starting member has left
		return true
	case fault.Is(unread, fault.Unavailable):
		return false // there may be an account, as below
	default: // the previous account stays, and could be revoked with it
		return old == nil || old.Status == connectors.CredentialRevoked || !sameClient(*old, g)
	}
}

// revokeUnstored revokes a grant that could not be stored, unless a stored grant could end with it: many servers end all grants of a
// user with one revocation.
func (b *Broker) revokeUnstored(ctx context.Context, p target, peer oauth.Peer, g store.NewGrant) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTimeout)
	defer cancel()
	isHeld, err := b.tenantStore(p.tenant).Accounts().HoldsGrantOf(ctx, g)
	if err != nil {
		b.log.WarnContext(ctx, "grant not revoked", append(p.logAttrs(), slog.Any("error", err))...)
		return
	}
	if !isHeld {
		b.revokeGrant(ctx, p, peer, g.GrantTokens)
	}
}

// recheckMember fails if the starting member may no longer connect the account. It holds until the transaction
// ends.
func (r callbackFlow) recheckMember(ctx context.Context, tx *store.Tenant) error {
	if r.flow.StartedBy.Type != string(auth.KindPerson) {
		return nil
	}
	err := r.actor.LockAccount(ctx, tx, r.flow.AgentID)
	if fault.Is(err, fault.NotFound) { // the agent
		return errChanged()
	}
	return endOnDenied(err)
}

func newGrant(f store.Flow, peer oauth.Peer, token oauth.Token) store.NewGrant {
	scopes := token.Scopes
	if scopes == nil {
		scopes = f.Scopes // RFC 6749 §5.1
	}
	ends := &token.ExpiresAt
	if token.ExpiryAssumed && token.RefreshToken == "" {
		ends = nil // it may not expire, and only the resource's refusal would show
	}
	return store.NewGrant{
		ConnectorID: f.ConnectorID, AgentID: f.AgentID, Name: f.Account, Origin: f.Origin,
		GrantTokens: store.GrantTokens{
			AccessToken: secret.Text(token.AccessToken.Reveal()), RefreshToken: secret.Text(token.RefreshToken.Reveal()),
			ProofKey: secret.Text(token.Proof.Encode().Reveal()), Bound: token.Proof != nil,
			ExpiresAt: ends, Scopes: scopes,
			Meta: store.GrantMeta{
				Server: f.Server, ClientID: f.ClientID, RedirectURI: f.RedirectURI, Resource: f.Resource, Source: peer.Client.Source,
				ExpiryAssumed: token.ExpiryAssumed, Refreshable: token.RefreshToken != "",
			},
		},
	}
}

// carryStepUps copies which scopes the resource asked for in addition. If that ended the old grant, it copies
// the count too: after the bound the missing scope is treated as permanent. It returns the old grant; nil:
// none, or unreadable.
func (b *Broker) carryStepUps(ctx context.Context, p target, g *store.NewGrant) (*store.Grant, error) {
	old, err := b.store.Vault(p.tenant).NamedGrant(ctx, p.connector.ID, p.agentID(), p.account)
	if err != nil {
		return nil, err // starts anew
	}
	g.Meta.WantedScopes = old.Tokens.Meta.WantedScopes
	if old.Status == connectors.CredentialRevoked {
		g.Meta.StepUps = old.Tokens.Meta.StepUps
	}
	return &old, nil
}

// auditEvent returns the event of a connected account, with the starting actor.
func (r callbackFlow) auditEvent(p target, g store.NewGrant) store.Event {
	by := r.flow.StartedBy
	e := store.Event{ActorType: by.Type, ActorID: by.ID, ActorName: by.Name, Action: "credential.connect"}
	if r.actor != nil {
		e.RequestID, e.IP = r.actor.RequestID, r.actor.Address
	}
	e = p.describeEvent(e)
	e.Detail["issuer"], e.Detail["scopes"] = r.flow.Server.Issuer, g.Scopes
	if g.Replaces {
		e.Detail["replaced"] = true
	}
	return e
}

// queueSync queues a sync if tools are unknown, or the old grant was the reason for the last failure. Another
// sync in progress is no error.
func queueSync(ctx context.Context, tx store.Syncs, p target) (*connectors.SyncRunID, error) {
	c := p.connector
	isRefused := c.LastError != nil && connectors.NeedsPerson(c.LastError.Code)
	if !c.Enabled || c.ToolsLastSyncedAt != nil && !isRefused {
		return nil, nil
	}
	run, err := tx.Queue(ctx, store.NewRun{ConnectorID: c.ID, AgentID: p.agentID(), Trigger: connectors.TriggerOAuth})
	switch {
	case fault.Is(err, fault.Conflict):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &run.ID, nil
}
