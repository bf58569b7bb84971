package manage

import (
	"context"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// CreateAgent stores a new agent. The tenant's default approval mode applies if none is set.
func (r *Registry) CreateAgent(ctx context.Context, a auth.Actor, agent connectors.Agent) (connectors.Agent, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Agent{}, err
	}
	return r.createAgent(ctx, a, agent, func(*store.Tenant, connectors.Agent) error { return nil })
}

// createAgent stores a new agent, and calls also in the same transaction. A slug that was not given and is taken is
// numbered.
func (r *Registry) createAgent(
	ctx context.Context, a auth.Actor, agent connectors.Agent, also func(*store.Tenant, connectors.Agent) error,
) (connectors.Agent, error) {
	ownSlug := strings.TrimSpace(agent.Slug) != ""
	if agent.Approval == "" {
		agent.Approval = a.Tenant.Defaults.Approval
	}
	agent = agent.Normalized()
	if err := fault.InvalidFields(agent.Validate()...); err != nil {
		return connectors.Agent{}, err
	}
	base := agent.Slug
	for n := 2; ; n++ {
		made, err := r.insertAgent(ctx, a, agent, also)
		if ownSlug || n > 9 || !isSlugConflict(err) {
			return made, err
		}
		agent.Slug = numberSlug(base, n)
	}
}

func (r *Registry) insertAgent(
	ctx context.Context, a auth.Actor, agent connectors.Agent, also func(*store.Tenant, connectors.Agent) error,
) (made connectors.Agent, err error) {
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if made, err = tx.Agents().Create(ctx, agent); err != nil {
			return err
		}
		if err := tx.RecordChange(ctx, agentEvent(a, "agent.create", made), nil, store.OfAgent(made.ID)); err != nil {
			return err
		}
		return also(tx, made)
	})
	if err != nil {
		return connectors.Agent{}, err
	}
	return made, nil
}

// UpdateAgent stores an agent by its id. An empty slug keeps the stored one.
func (r *Registry) UpdateAgent(ctx context.Context, a auth.Actor, agent connectors.Agent) (updated connectors.Agent, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Agent{}, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfAgent(agent.ID))
		if err != nil {
			return err
		}
		old, err := tx.Agents().Get(ctx, connectors.Ref(agent.ID.String()))
		if err != nil {
			return err
		}
		if strings.TrimSpace(agent.Slug) == "" {
			agent.Slug = old.Slug // a new name must not change the addresses
		}
		agent = agent.Normalized()
		if err := fault.InvalidFields(agent.Validate()...); err != nil {
			return err
		}
		if updated, err = tx.Agents().Update(ctx, agent); err != nil {
			return err
		}
		return tx.RecordChange(ctx, agentEvent(a, "agent.update", updated), before, store.OfAgent(agent.ID))
	})
	if err != nil {
		return connectors.Agent{}, err
	}
	return updated, nil
}

// DeleteAgent deletes an agent with its credentials.
func (r *Registry) DeleteAgent(ctx context.Context, a auth.Actor, ref connectors.Ref) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		agent, err := tx.Agents().Get(ctx, ref)
		if err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, store.OfAgent(agent.ID))
		if err != nil {
			return err
		}
		if err := tx.Agents().Delete(ctx, agent.ID); err != nil {
			return err
		}
		return tx.RecordChange(ctx, agentEvent(a, "agent.delete", agent), before, store.OfAgent(agent.ID))
	})
}

func agentEvent(a auth.Actor, action string, agent connectors.Agent) store.Event {
	e := a.Event(action, agent.Slug)
	e.Detail = map[string]any{"agent_id": agent.ID.String(), "name": agent.Name}
	return e
}
