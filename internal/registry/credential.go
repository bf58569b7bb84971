package registry

import (
	"context"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// SetCredential stores the secret of a connector, or, where agent is given, that agent's secret for it. An earlier one is
// replaced.
func (r *Registry) SetCredential(
	ctx context.Context, a auth.Actor, connector connectors.Ref, agent *connectors.Ref, s connectors.Secret,
) error {
	if err := mayHandle(a, agent); err != nil {
		return err
	}
	s = s.Normalized()
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		at, err := findOwner(ctx, tx, connector, agent)
		if err != nil {
			return err
		}
		if err := a.RequireAccount(ctx, tx, at.agentID()); err != nil {
			return err
		}
		if err := at.mayHold(s); err != nil {
			return err
		}
		was, err := tx.Before(ctx, at.secret())
		if err != nil {
			return err
		}
		if err := a.HoldAccount(ctx, tx, at.agentID()); err != nil { // there may have been a wait
			return err
		}
		if err := setSecret(ctx, tx, at.connector, at.agentID(), s); err != nil {
			return err
		}
		return tx.RecordChange(ctx, at.event(a, "credential.set"), was, at.secret())
	})
}

// DeleteCredential deletes the stored secret of a connector, or that of one agent for it.
func (r *Registry) DeleteCredential(ctx context.Context, a auth.Actor, connector connectors.Ref, agent *connectors.Ref) error {
	if err := mayEnd(a, agent); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		at, err := findOwner(ctx, tx, connector, agent)
		if err != nil {
			return err
		}
		if err := a.RequireDisconnect(ctx, tx, at.agentID()); err != nil {
			return err
		}
		was, err := tx.Before(ctx, at.subject())
		if err != nil {
			return err
		}
		if err := tx.DeleteCredential(ctx, at.connector.ID, at.agentID()); err != nil {
			return err
		}
		return tx.RecordChange(ctx, at.event(a, "credential.delete"), was, at.subject())
	})
}

// mayHandle refuses, before anything is read, whoever could look after no account there.
func mayHandle(a auth.Actor, agent *connectors.Ref) error {
	if agent == nil {
		return a.Require(connectors.PermManage)
	}
	return a.Require(connectors.PermOperate)
}

// mayEnd refuses, before anything is read, whoever could end no account there.
func mayEnd(a auth.Actor, agent *connectors.Ref) error {
	if agent == nil || a.UserID == nil {
		return mayHandle(a, agent)
	}
	return a.Require(connectors.PermRead)
}

// owner is where a credential belongs: a connector, and in per-agent mode an agent.
type owner struct {
	connector connectors.Connector
	agent     *connectors.Agent
}

func findOwner(ctx context.Context, tx *store.Tenant, connector connectors.Ref, agent *connectors.Ref) (owner, error) {
	c, err := tx.Connector(ctx, connector)
	if err != nil || agent == nil {
		return owner{connector: c}, err
	}
	found, err := tx.Agent(ctx, *agent)
	return owner{connector: c, agent: &found}, err
}

func (o owner) agentID() *connectors.AgentID {
	if o.agent == nil {
		return nil
	}
	return &o.agent.ID
}

// subject is what the audit log tells of the credential.
func (o owner) subject() store.Subject { return store.OfCredential(o.connector.ID, o.agentID()) }

// secret is what it tells of what may be entered: with OAuth the client's, as the credential is an account.
func (o owner) secret() store.Subject {
	if o.connector.Auth.Type == connectors.AuthOAuth2 {
		return store.OfClientSecret(o.connector.ID)
	}
	return o.subject()
}

// mayHold tells whether s is the right secret at the right place.
func (o owner) mayHold(s connectors.Secret) error {
	perAgent := o.connector.CredentialMode == connectors.CredentialPerAgent
	switch {
	case o.connector.Auth.Type == connectors.AuthNone:
		return fault.Errorf(fault.Conflict, "The connector %q takes no credential: its authentication is none.", o.connector.Name)
	case o.connector.Auth.Type == connectors.AuthOAuth2:
		return o.mayHoldClientSecret(s)
	case perAgent && o.agent == nil:
		return fault.Errorf(fault.Conflict, "The connector %q has a credential for each agent; set it for an agent.", o.connector.Name)
	case !perAgent && o.agent != nil:
		return fault.Errorf(fault.Conflict, "The connector %q has one credential for all agents; set it on the connector.", o.connector.Name)
	default:
		t := o.connector.Auth.Type
		return fault.InvalidFields(slices.Concat(s.Validate(t, ""), o.nameless(s), credentials.UnfitKey(t, o.connector.OAuth, s, ""))...)
	}
}

// mayHoldClientSecret: with OAuth accounts are connected, and what may be entered is the secret of the connector's client.
func (o owner) mayHoldClientSecret(s connectors.Secret) error {
	switch {
	case o.agent != nil:
		return fault.Errorf(fault.Conflict, "The connector %q signs in with OAuth. Connect the account instead.", o.connector.Name)
	case o.connector.OAuth.ClientID == "":
		return fault.Errorf(fault.Conflict, "The connector %q has no client id that a client secret could belong to. Set the client id, too, or connect the account without either.", o.connector.Name)
	default:
		return fault.InvalidFields(s.Validate(connectors.AuthOAuth2, "")...)
	}
}

// nameless refuses a machine's secret where neither it nor the connector says whose it is.
func (o owner) nameless(s connectors.Secret) []fault.Field {
	switch o.connector.Auth.Type {
	case connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT:
		if s.ClientID == "" && o.connector.OAuth.ClientID == "" {
			return []fault.Field{{Location: "client_id", Message: "A client id is needed: the connector has none."}}
		}
	}
	return nil
}

func (o owner) event(a auth.Actor, action string) store.Event {
	e := a.Event(action, o.connector.Slug)
	e.Detail = map[string]any{"connector_id": o.connector.ID.String(), "type": string(o.connector.Auth.Type)}
	if o.agent != nil {
		e.Detail["agent_id"], e.Detail["agent"] = o.agent.ID.String(), o.agent.Slug
	}
	return e
}
