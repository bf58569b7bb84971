package manage

import (
	"context"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// Allowances lists an agent's unexpired allowances, by connector slug and tool.
func (r *Registry) Allowances(
	ctx context.Context, a auth.Actor, agent connectors.Ref, p store.Page,
) (list store.List[store.AgentAllowance], err error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return list, err
	}
	err = r.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		owner, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		list, err = tx.Calls().Allowances(ctx, owner.ID, p)
		return err
	})
	return list, err
}

// EndAllowance ends an allowance before its time: the agent's next call of the tool needs approval again. It takes
// effect within a second in every process. The actor must be allowed to decide the agent's calls.
func (r *Registry) EndAllowance(ctx context.Context, a auth.Actor, agent, connector connectors.Ref, tool string) error {
	if err := a.Require(connectors.PermOperate); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, target, err := findGrant(ctx, tx, agent, connector)
		if err != nil {
			return err
		}
		if err := a.RequireDecide(ctx, tx, owner.ID); err != nil {
			return err
		}
		ended, err := tx.Calls().EndAllowance(ctx, owner.ID, target.ID, tool)
		if err != nil {
			return err
		}
		e := a.Event("agent_allowance.end", owner.Slug+"/"+target.Slug)
		e.Detail = map[string]any{
			"agent_id": owner.ID.String(), "connector_id": target.ID.String(), "tool": ended.Tool,
			"until": ended.Until.Format(time.RFC3339), "granted_by": ended.GrantedBy,
		}
		return tx.Audit().Record(ctx, e)
	})
}
