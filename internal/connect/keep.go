package connect

import (
	"context"
	"errors"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// keep stores what was granted, with the event that tells of it and the sync that it makes possible: all of it, or nothing.
func (b *Broker) keep(ctx context.Context, back returning, peer oauth.Peer, token oauth.Token) (Finished, error) {
	g := newGrant(back.flow, peer, token)
	old, unread := b.carry(ctx, back.place, &g)
	done := back.finished()
	err := b.tenant(back.tenant).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, back.subject())
		if err != nil {
			return err
		}
		if err := tx.HoldConnector(ctx, back.connector.ID); err != nil {
			return err
		}
		now, err := b.arrived(ctx, tx, back.flow)
		switch {
		case err != nil:
			return err
		case !sameGrants(back.connector.OAuth, now.connector.OAuth):
			return errChanged()
		}
		if err := back.stillMay(ctx, tx); err != nil {
			return err
		}
		done.Connector, done.Agent = now.connector, now.agent
		if err := tx.SaveGrant(ctx, g); err != nil {
			return err
		}
		if err := tx.RecordChange(ctx, back.event(now, g), was, back.subject()); err != nil {
			return err
		}
		done.Run, err = queueSync(ctx, tx, now)
		return err
	})
	if surplus(err, g, old, unread) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
		defer cancel()
		b.giveBack(ctx, back.place, peer, g.GrantTokens)
	}
	if err != nil {
		return Finished{}, err
	}
	b.logConnected(ctx, back, done.Run)
	return done, nil
}

// surplus tells whether a grant that could not be stored, with err, is given back: its code is used up, and nobody would ever use it.
func surplus(err error, g store.NewGrant, old *store.Grant, unread error) bool {
	switch {
	case err == nil, errors.Is(err, store.ErrUnsure): // it is stored, or may be
		return false
	case fault.Is(err, fault.Malformed): // the connector has changed, or who started has left
		return true
	case fault.Is(unread, fault.Unavailable):
		return false // there may be an account, as below
	default: // the account that was connected before stays, and could end with it
		return old == nil || old.Status == connectors.CredentialRevoked || !sameClient(*old, g)
	}
}

// stillMay refuses where the member who started may not connect the account any more. It stays so until the transaction ends.
func (r returning) stillMay(ctx context.Context, tx *store.Tenant) error {
	if r.flow.StartedBy.Type != string(auth.KindPerson) {
		return nil
	}
	err := r.person.HoldAccount(ctx, tx, r.flow.AgentID)
	if fault.Is(err, fault.NotFound) { // the agent
		return errChanged()
	}
	return overFor(err)
}

func newGrant(f store.Flow, peer oauth.Peer, token oauth.Token) store.NewGrant {
	scopes := token.Scopes
	if scopes == nil {
		scopes = f.Scopes // RFC 6749 §5.1
	}
	ends := &token.ExpiresAt
	if token.ExpiryAssumed && token.RefreshToken == "" {
		ends = nil // it may live for good, and nobody could do anything about it before the resource refuses it
	}
	return store.NewGrant{
		ConnectorID: f.ConnectorID, AgentID: f.AgentID, Origin: f.Origin, Account: token.Account,
		GrantTokens: store.GrantTokens{
			AccessToken: secret.Text(token.AccessToken.Reveal()), RefreshToken: secret.Text(token.RefreshToken.Reveal()),
			ExpiresAt: ends, Scopes: scopes,
			Meta: store.GrantMeta{
				Server: f.Server, ClientID: f.ClientID, RedirectURI: f.RedirectURI, Resource: f.Resource, Source: peer.Client.Source,
				ExpiryAssumed: token.ExpiryAssumed, Refreshable: token.RefreshToken != "",
			},
		},
	}
}

// carry takes over which scopes the resource asked for besides. Where it was that which ended the old grant, it takes over how often,
// too: a resource that is never content is believed in the end. It returns the old grant; nil for none, or one that cannot be read.
func (b *Broker) carry(ctx context.Context, p place, g *store.NewGrant) (*store.Grant, error) {
	old, err := b.store.Vault(p.tenant).Grant(ctx, p.connector.ID, p.agentID())
	if err != nil {
		return nil, err // it begins anew
	}
	g.Meta.WantedScopes = old.Tokens.Meta.WantedScopes
	if old.Status == connectors.CredentialRevoked {
		g.Meta.StepUps = old.Tokens.Meta.StepUps
	}
	return &old, nil
}

// event tells that an account was connected, by whoever started it.
func (r returning) event(p place, g store.NewGrant) store.Event {
	by := r.flow.StartedBy
	e := store.Event{ActorType: by.Type, ActorID: by.ID, ActorName: by.Name, Action: "credential.connect"}
	if r.person != nil {
		e.RequestID, e.IP = r.person.RequestID, r.person.Address
	}
	e = p.about(e)
	e.Detail["issuer"], e.Detail["scopes"] = r.flow.Server.Issuer, g.Scopes
	return e
}

// queueSync reads the tools with the new grant where they are not known, or where the old one was the reason that they could not
// be read. That another sync is under way is fine.
func queueSync(ctx context.Context, tx *store.Tenant, p place) (*connectors.SyncRunID, error) {
	c := p.connector
	if !c.Enabled || c.ToolsLastSyncedAt != nil && c.Status != connectors.StatusNeedsAuth {
		return nil, nil
	}
	run, err := tx.QueueSync(ctx, store.NewRun{ConnectorID: c.ID, AgentID: p.agentID(), Trigger: connectors.TriggerOAuth})
	switch {
	case fault.Is(err, fault.Conflict):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &run.ID, nil
}
