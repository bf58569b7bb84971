package manage

import (
	"context"
	"time"

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
	Sure     bool                     // the person was asked; false: a broad change fails with a [BroadGrantsError]
}

// applyTo returns the grant after the change at a time. All tools of a grant that has ended are granted again, without an end.
func (c GrantChange) applyTo(g connectors.Grant, now time.Time) connectors.Grant {
	if c.AllTools {
		if until := g.Until(); until != nil && !until.After(now) {
			g.Ends = &connectors.GrantEnds{}
		}
		g.AllTools, g.Tools = true, nil
	}
	if c.Approval != nil {
		if g.Approval = c.Approval; *c.Approval == "" {
			g.Approval = nil
		}
	}
	return g
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
		c := grantChanger{actor: a, change: change}
		for _, pair := range pairs {
			owner, target, err := findGrant(ctx, tx, pair.agent, pair.connector)
			if err != nil {
				return err
			}
			if err := c.changeGrant(ctx, tx, grantParties{owner, target}); err != nil {
				return err
			}
		}
		changed = c.changed
		return c.checkBroad(ctx, tx)
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

// grantChanger makes one change to several grants, within one transaction.
type grantChanger struct {
	actor  auth.Actor
	change GrantChange

	changed   int
	allTools  []connectors.ConnectorID // of grants that get all tools
	neverAsks int                      // grants with calls that need no approval any more
}

func (c *grantChanger) changeGrant(ctx context.Context, tx *store.Tenant, p grantParties) error {
	state := store.OfGrant(p.agent.ID, p.connector.ID)
	before, err := tx.LockAndReadState(ctx, state)
	if err != nil {
		return err
	}
	granted, err := tx.Agents().Grant(ctx, p.agent.ID, p.connector.ID)
	exists := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if c.change.Remove {
		if !exists {
			return nil
		}
		if err := tx.Agents().DropGrant(ctx, p.agent.ID, p.connector.ID); err != nil {
			return err
		}
		c.changed++
		return tx.RecordChange(ctx, grantEvent(c.actor, "agent_grant.drop", p.agent, p.connector, nil), before, state)
	}
	g := granted.Grant
	now := time.Now()
	next := c.change.applyTo(g, now)
	next.AgentID, next.ConnectorID = p.agent.ID, p.connector.ID
	if !exists && !c.change.AllTools || exists && next.AllTools == g.AllTools && next.Ends == g.Ends && sameApproval(next.Approval, g.Approval) {
		return nil
	}
	if next, err = fillGrant(ctx, tx, next); err != nil {
		return err
	}
	c.noteBroad(p, g.At(now), next.At(now), exists)
	if err := tx.Agents().SetGrant(ctx, next); err != nil {
		return err
	}
	c.changed++
	return tx.RecordChange(ctx, grantEvent(c.actor, "agent_grant.set", p.agent, p.connector, &next), before, state)
}

func sameApproval(a, b *connectors.ApprovalMode) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
