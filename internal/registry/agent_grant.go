package registry

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Grant lets an agent use a connector, or puts this grant in the place of the one before. The ids in g are filled in here. Tools that the
// connector does not have (yet) may be named.
func (r *Registry) Grant(
	ctx context.Context, a auth.Actor, agent, connector connectors.Ref, g connectors.Grant,
) (granted store.GrantedConnector, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return store.GrantedConnector{}, err
	}
	g = g.Normalized()
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		who, what, err := findGrant(ctx, tx, agent, connector)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(g.Validate()...); err != nil {
			return err
		}
		g.AgentID, g.ConnectorID = who.ID, what.ID
		was, err := tx.Before(ctx, store.OfGrant(who.ID, what.ID))
		if err != nil {
			return err
		}
		if err := tx.SetAgentGrant(ctx, g); err != nil {
			return err
		}
		if granted, err = tx.AgentGrant(ctx, who.ID, what.ID); err != nil {
			return err
		}
		return tx.RecordChange(ctx, grantEvent(a, "agent_grant.set", who, what, &g), was, store.OfGrant(who.ID, what.ID))
	})
	if err != nil {
		return store.GrantedConnector{}, err
	}
	return granted, nil
}

// DropGrant takes a connector from an agent. Its next call is refused, within a second in whatever process.
func (r *Registry) DropGrant(ctx context.Context, a auth.Actor, agent, connector connectors.Ref) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		who, what, err := findGrant(ctx, tx, agent, connector)
		if err != nil {
			return err
		}
		was, err := tx.Before(ctx, store.OfGrant(who.ID, what.ID))
		if err != nil {
			return err
		}
		if err := tx.DropAgentGrant(ctx, who.ID, what.ID); err != nil {
			return err
		}
		return tx.RecordChange(ctx, grantEvent(a, "agent_grant.drop", who, what, nil), was, store.OfGrant(who.ID, what.ID))
	})
}

// Grants lists what an agent was granted, by the connectors' slugs.
func (r *Registry) Grants(
	ctx context.Context, a auth.Actor, agent connectors.Ref, p store.Page,
) (store.List[store.GrantedConnector], error) {
	tenant := r.store.Tenant(a.Tenant.ID)
	who, err := tenant.Agent(ctx, agent)
	if err != nil {
		return store.List[store.GrantedConnector]{}, err
	}
	return tenant.AgentGrants(ctx, who.ID, p)
}

func findGrant(ctx context.Context, tx *store.Tenant, agent, connector connectors.Ref) (connectors.Agent, connectors.Connector, error) {
	who, err := tx.Agent(ctx, agent)
	if err != nil {
		return connectors.Agent{}, connectors.Connector{}, err
	}
	what, err := tx.Connector(ctx, connector)
	return who, what, err
}

func grantEvent(a auth.Actor, action string, agent connectors.Agent, c connectors.Connector, g *connectors.Grant) store.Event {
	e := a.Event(action, agent.Slug+"/"+c.Slug)
	e.Detail = map[string]any{"agent_id": agent.ID.String(), "connector_id": c.ID.String()}
	if g == nil {
		return e
	}
	e.Detail["tools"] = any("all")
	if !g.AllTools {
		e.Detail["tools"] = g.Tools
	}
	e.Detail["trusted_tools"] = g.TrustedTools
	if g.Approval != nil {
		e.Detail["approval"] = string(*g.Approval)
	}
	return e
}
