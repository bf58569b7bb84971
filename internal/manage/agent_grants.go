package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// MaxGrants bounds the grants of one change.
const MaxGrants = 500

// GrantChange is what happens to several grants.
type GrantChange struct {
	Remove   bool                     // the grants are removed
	AllTools bool                     // all tools are granted; false: the tools of existing grants stay, and no grant is added
	Approval *connectors.ApprovalMode // nil: stays; empty: the agent's own
}

// ChangeGrants changes an agent's grants of connectors, or none if one fails. It returns the number of changed ones.
func (r *Registry) ChangeGrants(ctx context.Context, a auth.Actor, agent connectors.Ref, targets []connectors.Ref, change GrantChange) (int, error) {
	pairs := make([]grantRefs, len(targets))
	for i, target := range targets {
		pairs[i] = grantRefs{agent, target}
	}
	return r.changeGrants(ctx, a, pairs, change)
}

// ChangeAccess is [Registry.ChangeGrants] for several agents and one connector.
func (r *Registry) ChangeAccess(ctx context.Context, a auth.Actor, agents []connectors.Ref, target connectors.Ref, change GrantChange) (int, error) {
	pairs := make([]grantRefs, len(agents))
	for i, agent := range agents {
		pairs[i] = grantRefs{agent, target}
	}
	return r.changeGrants(ctx, a, pairs, change)
}

type grantRefs struct{ agent, connector connectors.Ref }

func (r *Registry) changeGrants(ctx context.Context, a auth.Actor, pairs []grantRefs, change GrantChange) (changed int, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return 0, err
	}
	if len(pairs) == 0 || len(pairs) > MaxGrants {
		return 0, fault.Errorf(fault.Invalid, "Select 1–%d rows.", MaxGrants)
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		for _, pair := range pairs {
			owner, target, err := findGrant(ctx, tx, pair.agent, pair.connector)
			if err != nil {
				return err
			}
			done, err := changeGrant(ctx, tx, a, grantParties{owner, target}, change)
			if err != nil {
				return err
			}
			if done {
				changed++
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return changed, nil
}

// grantParties are the agent and the connector of a grant.
type grantParties struct {
	agent     connectors.Agent
	connector connectors.Connector
}

// changeGrant reports whether the grant changed.
func changeGrant(ctx context.Context, tx *store.Tenant, a auth.Actor, p grantParties, change GrantChange) (bool, error) {
	state := store.OfGrant(p.agent.ID, p.connector.ID)
	before, err := tx.LockAndReadState(ctx, state)
	if err != nil {
		return false, err
	}
	granted, err := tx.Agents().Grant(ctx, p.agent.ID, p.connector.ID)
	exists := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return false, err
	}
	if change.Remove {
		if !exists {
			return false, nil
		}
		if err := tx.Agents().DropGrant(ctx, p.agent.ID, p.connector.ID); err != nil {
			return false, err
		}
		return true, tx.RecordChange(ctx, grantEvent(a, "agent_grant.drop", p.agent, p.connector, nil), before, state)
	}
	g, next := granted.Grant, granted.Grant
	next.AgentID, next.ConnectorID = p.agent.ID, p.connector.ID
	if change.AllTools {
		next.AllTools, next.Tools = true, nil
	}
	if change.Approval != nil {
		if next.Approval = change.Approval; *change.Approval == "" {
			next.Approval = nil
		}
	}
	if !exists && !change.AllTools || exists && next.AllTools == g.AllTools && sameApproval(next.Approval, g.Approval) {
		return false, nil
	}
	if next, err = fillGrant(ctx, tx, next); err != nil {
		return false, err
	}
	if err := tx.Agents().SetGrant(ctx, next); err != nil {
		return false, err
	}
	return true, tx.RecordChange(ctx, grantEvent(a, "agent_grant.set", p.agent, p.connector, &next), before, state)
}

func sameApproval(a, b *connectors.ApprovalMode) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
