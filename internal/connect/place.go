package connect

import (
	"context"
	"log/slog"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// place is where a grant belongs: a connector, and per agent one of the tenant's agents.
type place struct {
	tenant    connectors.TenantID
	connector connectors.Connector
	agent     *connectors.Agent // nil: the shared one
}

// find reads a place, and tells whether an account can be connected there.
func find(ctx context.Context, tx *store.Tenant, tenant connectors.TenantID, c connectors.Ref, agent *connectors.Ref) (place, error) {
	p := place{tenant: tenant}
	var err error
	if p.connector, err = tx.Connector(ctx, c); err != nil {
		return place{}, err
	}
	if agent != nil {
		found, err := tx.Agent(ctx, *agent)
		if err != nil {
			return place{}, err
		}
		p.agent = &found
	}
	return p, p.takesGrant()
}

// mine finds a place for somebody who looks after it.
func (b *Broker) mine(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref) (place, error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return place{}, err
	}
	if agent == nil {
		if err := a.Require(connectors.PermManage); err != nil {
			return place{}, err
		}
	}
	p, err := find(ctx, b.tenant(a.Tenant.ID), a.Tenant.ID, c, agent)
	if err != nil {
		return place{}, err
	}
	return p, a.RequireAccount(ctx, b.tenant(p.tenant), p.agentID())
}

// ending finds a place for somebody who may end what is connected there.
func (b *Broker) ending(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref) (place, error) {
	if agent == nil || a.UserID == nil {
		return b.mine(ctx, a, c, agent)
	}
	p, err := find(ctx, b.tenant(a.Tenant.ID), a.Tenant.ID, c, agent)
	if err != nil {
		return place{}, err
	}
	return p, a.RequireDisconnect(ctx, b.tenant(p.tenant), p.agentID())
}

// refs are the connector and the agent by their ids.
func refs(c connectors.ConnectorID, agent *connectors.AgentID) (connectors.Ref, *connectors.Ref) {
	if agent == nil {
		return connectors.Ref(c.String()), nil
	}
	ref := connectors.Ref(agent.String())
	return connectors.Ref(c.String()), &ref
}

// takesGrant tells whether an account can be connected here.
func (p place) takesGrant() error {
	perAgent := p.connector.CredentialMode == connectors.CredentialPerAgent
	switch {
	case p.connector.Auth.Type != connectors.AuthOAuth2:
		return fault.Errorf(fault.Conflict, "The connector %q does not sign in by OAuth. Choose that as its authentication in its settings.", p.connector.Name)
	case perAgent && p.agent == nil:
		return fault.Errorf(fault.Conflict, "The connector %q has an account for each agent; connect it for an agent.", p.connector.Name)
	case !perAgent && p.agent != nil:
		return fault.Errorf(fault.Conflict, "The connector %q has one account for all agents; connect it on the connector.", p.connector.Name)
	}
	return nil
}

func (p place) agentID() *connectors.AgentID {
	if p.agent == nil {
		return nil
	}
	return &p.agent.ID
}

// subject is what the audit log tells of the account.
func (p place) subject() store.Subject { return store.OfCredential(p.connector.ID, p.agentID()) }

// about completes an audit event with where it happened.
func (p place) about(e store.Event) store.Event {
	e.Target = p.connector.Slug
	e.Detail = map[string]any{"connector_id": p.connector.ID.String()}
	if p.agent != nil {
		e.Detail["agent_id"], e.Detail["agent"] = p.agent.ID.String(), p.agent.Slug
	}
	return e
}

func (p place) attrs() []any {
	all := []any{slog.String("tenant_id", p.tenant.String()), slog.String("connector_id", p.connector.ID.String())}
	if p.agent != nil {
		all = append(all, slog.String("agent_id", p.agent.ID.String()))
	}
	return all
}

// starter is the actor as a stored row remembers it.
func starter(a auth.Actor) store.Starter {
	return store.Starter{Type: string(a.Kind), ID: a.ID(), Name: a.Name}
}
