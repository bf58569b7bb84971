package manage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Grant sets an agent's grant for a connector. It fills in the ids of g. Tools that do not exist yet may be
// named. Without a choice of prompts or resources an existing grant keeps its own. Without ends it keeps its end, and loses
// the tools with ends of their own, which g replaces.
func (r *Registry) Grant(
	ctx context.Context, a auth.Actor, agent, connector connectors.Ref, g connectors.Grant,
) (granted store.GrantedConnector, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return store.GrantedConnector{}, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, target, err := findGrant(ctx, tx, agent, connector)
		if err != nil {
			return err
		}
		if err := setGrant(ctx, tx, a, owner, target, g); err != nil {
			return err
		}
		granted, err = tx.Agents().Grant(ctx, owner.ID, target.ID)
		return err
	})
	if err != nil {
		return store.GrantedConnector{}, err
	}
	return granted, nil
}

func setGrant(ctx context.Context, tx *store.Tenant, a auth.Actor, owner connectors.Agent, target connectors.Connector, g connectors.Grant) error {
	g.AgentID, g.ConnectorID = owner.ID, target.ID
	before, err := tx.LockAndReadState(ctx, store.OfGrant(owner.ID, target.ID))
	if err != nil {
		return err
	}
	if g, err = fillGrant(ctx, tx, g); err != nil {
		return err
	}
	if err := tx.Agents().SetGrant(ctx, g); err != nil {
		return err
	}
	return tx.RecordChange(ctx, grantEvent(a, "agent_grant.set", owner, target, &g), before, store.OfGrant(owner.ID, target.ID))
}

// fillGrant returns a valid grant, with the choices of the existing grant that g leaves open.
func fillGrant(ctx context.Context, tx *store.Tenant, g connectors.Grant) (connectors.Grant, error) {
	was, err := tx.Agents().Grant(ctx, g.AgentID, g.ConnectorID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return g, err
	}
	g.Prompts, g.Resources = cmp.Or(g.Prompts, was.Prompts), cmp.Or(g.Resources, was.Resources)
	if g.PinnedTools == nil {
		g.PinnedTools = was.PinnedTools
	}
	if g.Accounts == nil {
		g.Accounts = was.Accounts
	}
	if g.Ends == nil && was.Ends != nil {
		g.Ends = &connectors.GrantEnds{Until: was.Ends.Until}
	}
	g = g.Normalized()
	if len(g.Accounts) > 0 && !slices.Equal(g.Accounts, was.Accounts) { // other processes must not use another one
		if err := tx.Accounts().CheckNamed(ctx); err != nil {
			return g, err
		}
	}
	if err := fault.InvalidFields(g.Validate()...); err != nil || len(g.PinnedTools) <= len(was.PinnedTools) {
		return g, err
	}
	return g, checkPinned(ctx, tx, g)
}

// checkPinned fails if the agent would have too many pinned tools.
func checkPinned(ctx context.Context, tx *store.Tenant, g connectors.Grant) error {
	others, err := tx.Tools().PinnedElsewhere(ctx, g.AgentID, g.ConnectorID)
	if err == nil && others+len(g.PinnedTools) > connectors.MaxPinnedTools {
		err = fault.InvalidFields(fault.Field{Location: "pinned_tools", Message: fmt.Sprintf("At most %d pinned tools per agent.", connectors.MaxPinnedTools)})
	}
	return err
}

// PinTool pins a granted tool, or unpins it. The tool is named as the server does.
func (r *Registry) PinTool(ctx context.Context, a auth.Actor, agent, connector connectors.Ref, tool string, pinned bool) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, target, err := findGrant(ctx, tx, agent, connector)
		if err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, store.OfGrant(owner.ID, target.ID))
		if err != nil {
			return err
		}
		granted, err := tx.Agents().Grant(ctx, owner.ID, target.ID)
		if err != nil {
			return err
		}
		g := granted.Grant
		if _, isGranted := g.ToolEnd(tool); !isGranted {
			return fault.Errorf(fault.NotFound, "The agent has no access to the tool %q.", tool)
		}
		g.PinnedTools = slices.DeleteFunc(append([]string{}, g.PinnedTools...), func(name string) bool { return name == tool })
		if pinned {
			g.PinnedTools = append(g.PinnedTools, tool)
		}
		if g, err = fillGrant(ctx, tx, g); err != nil {
			return err
		}
		if err := tx.Agents().SetGrant(ctx, g); err != nil {
			return err
		}
		return tx.RecordChange(ctx, grantEvent(a, "agent_grant.set", owner, target, &g), before, store.OfGrant(owner.ID, target.ID))
	})
}

// DropGrant removes an agent's grant. It takes effect within a second in every process.
func (r *Registry) DropGrant(ctx context.Context, a auth.Actor, agent, connector connectors.Ref) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, target, err := findGrant(ctx, tx, agent, connector)
		if err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, store.OfGrant(owner.ID, target.ID))
		if err != nil {
			return err
		}
		if err := tx.Agents().DropGrant(ctx, owner.ID, target.ID); err != nil {
			return err
		}
		return tx.RecordChange(ctx, grantEvent(a, "agent_grant.drop", owner, target, nil), before, store.OfGrant(owner.ID, target.ID))
	})
}

// Grants lists an agent's grants by the connectors' slugs.
func (r *Registry) Grants(
	ctx context.Context, a auth.Actor, agent connectors.Ref, p store.Page,
) (list store.List[store.GrantedConnector], err error) {
	err = r.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		owner, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		list, err = tx.Agents().Grants(ctx, owner.ID, p)
		return err
	})
	return list, err
}

func findGrant(ctx context.Context, tx *store.Tenant, agent, connector connectors.Ref) (connectors.Agent, connectors.Connector, error) {
	owner, err := tx.Agents().Get(ctx, agent)
	if err != nil {
		return connectors.Agent{}, connectors.Connector{}, err
	}
	target, err := tx.Connectors().Get(ctx, connector)
	return owner, target, err
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
	if len(g.Accounts) > 0 {
		e.Detail["account"] = strings.Join(g.Accounts, ", ")
	}
	if len(g.PinnedTools) > 0 {
		e.Detail["pinned_tools"] = g.PinnedTools
	}
	e.Detail["prompts"], e.Detail["resources"] = string(g.Prompts), string(g.Resources)
	if g.Approval != nil {
		e.Detail["approval"] = string(*g.Approval)
	}
	if g.Ends != nil && g.Ends.Until != nil {
		e.Detail["until"] = *g.Ends.Until
	}
	if g.Ends != nil && len(g.Ends.Tools) > 0 {
		e.Detail["tool_ends"] = g.Ends.Tools
	}
	return e
}
