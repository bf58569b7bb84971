package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// NarrowGrant removes tools from an agent's current grant and returns the rest. Tools that were not granted are
// ignored.
func (r *Registry) NarrowGrant(
	ctx context.Context, a auth.Actor, agent, connector connectors.Ref, dropped []string,
) (remaining store.GrantedConnector, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return store.GrantedConnector{}, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, target, err := findGrant(ctx, tx, agent, connector)
		if err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, store.OfGrant(owner.ID, target.ID))
		if err != nil {
			return err
		}
		if remaining, err = tx.Agents().Grant(ctx, owner.ID, target.ID); err != nil {
			return err
		}
		remaining.Grant = remaining.Without(target.DiscoveredTools, dropped)
		if err := fault.InvalidFields(remaining.Validate()...); err != nil {
			return err
		}
		if err := tx.Agents().SetGrant(ctx, remaining.Grant); err != nil {
			return err
		}
		e := grantEvent(a, "agent_grant.set", owner, target, &remaining.Grant)
		e.Detail["dropped_tools"] = dropped
		return tx.RecordChange(ctx, e, before, store.OfGrant(owner.ID, target.ID))
	})
	return remaining, err
}
