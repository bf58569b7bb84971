package manage

import (
	"cmp"
	"context"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// Allowances lists an agent's unexpired allowances, by connector slug, tool and kind.
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

// AllowanceRef names an allowance of an agent.
type AllowanceRef struct {
	Agent     connectors.Ref
	Connector connectors.Ref
	Kind      connectors.CallKind // CallTool, CallPrompt or CallResource; empty: CallTool
	Tool      string              // the upstream's name; of a resource the URI
	Account   string              // of a grant with several accounts; empty: all of them
}

// EndAllowance ends an allowance before its time: the agent's next call or use needs approval again. It takes effect within
// a second in every process. The actor must be allowed to decide the agent's calls.
func (r *Registry) EndAllowance(ctx context.Context, a auth.Actor, ref AllowanceRef) error {
	if err := a.Require(connectors.PermOperate); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, target, err := findGrant(ctx, tx, ref.Agent, ref.Connector)
		if err != nil {
			return err
		}
		if err := a.RequireDecide(ctx, tx, owner.ID); err != nil {
			return err
		}
		ended, err := tx.Calls().EndAllowance(ctx, owner.ID, connectors.AllowanceKey{
			ConnectorID: target.ID, Kind: cmp.Or(ref.Kind, connectors.CallTool), Tool: ref.Tool, AccountName: ref.Account,
		})
		if err != nil {
			return err
		}
		for _, one := range ended {
			e := a.Event("agent_allowance.end", owner.Slug+"/"+target.Slug)
			e.Detail = map[string]any{
				"agent_id": owner.ID.String(), "connector_id": target.ID.String(), "kind": string(one.Kind), "tool": one.Tool,
				"until": one.Until.Format(time.RFC3339), "granted_by": one.GrantedBy,
			}
			if one.AccountName != "" {
				e.Detail["account"] = one.AccountName
			}
			if err := tx.Audit().Record(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
}
