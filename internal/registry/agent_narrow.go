package registry

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// NarrowGrant takes some tools of a connector from an agent and leaves the others, by what is granted at that moment. It answers what is
// left. Tools that were not granted are as good as taken.
func (r *Registry) NarrowGrant(
	ctx context.Context, a auth.Actor, agent, connector connectors.Ref, dropped []string,
) (left store.GrantedConnector, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return store.GrantedConnector{}, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		who, what, err := findGrant(ctx, tx, agent, connector)
		if err != nil {
			return err
		}
		was, err := tx.Before(ctx, store.OfGrant(who.ID, what.ID))
		if err != nil {
			return err
		}
		if left, err = tx.AgentGrant(ctx, who.ID, what.ID); err != nil {
			return err
		}
		left.Grant = left.Without(what.DiscoveredTools, dropped)
		if err := fault.InvalidFields(left.Validate()...); err != nil {
			return err
		}
		if err := tx.SetAgentGrant(ctx, left.Grant); err != nil {
			return err
		}
		e := grantEvent(a, "agent_grant.set", who, what, &left.Grant)
		e.Detail["dropped_tools"] = dropped
		return tx.RecordChange(ctx, e, was, store.OfGrant(who.ID, what.ID))
	})
	return left, err
}
