package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Agents lists the tenant's agents by name or in another order.
func (t *Tenant) Agents(ctx context.Context, p Page) (List[connectors.Agent], error) {
	if p.Order = p.Order.among(AgentOrders); !p.Order.own() {
		return t.agentsOrdered(ctx, p)
	}
	name, id, err := p.afterNamed("agents")
	if err != nil {
		return List[connectors.Agent]{}, err
	}
	rows, err := t.q.Agents(ctx, dbgen.AgentsParams{TenantID: t.id, AfterName: name, AfterID: id, MaxRows: p.rows()})
	if err != nil {
		return List[connectors.Agent]{}, err
	}
	return listOf(p, rows, agentOf, "agents", func(r dbgen.Agent) []string { return []string{r.Name, r.ID.String()} }), nil
}

// Agent finds an agent by id or slug.
func (t *Tenant) Agent(ctx context.Context, ref connectors.Ref) (connectors.Agent, error) {
	id, slug, ok := refParts(ref)
	if !ok {
		return connectors.Agent{}, missing("agent")
	}
	row, err := t.q.AgentByRef(ctx, t.id, id, slug)
	if err != nil {
		return connectors.Agent{}, found(err, "agent")
	}
	return agentOf(row), nil
}

// CreateAgent stores a new agent; its id and dates are made here.
func (t *Tenant) CreateAgent(ctx context.Context, a connectors.Agent) (connectors.Agent, error) {
	row, err := t.q.CreateAgent(ctx, dbgen.CreateAgentParams{
		TenantID:    t.id,
		ID:          connectors.AgentID{UUID: newID()},
		Slug:        a.Slug,
		Name:        a.Name,
		Description: a.Description,
		Approval:    a.Approval,
		Enabled:     a.Enabled,

		NameLimit:      int32(a.NameLimit),
		CallsPerMinute: int32(a.CallsPerMinute),
	})
	if err != nil {
		return connectors.Agent{}, err
	}
	return agentOf(row), nil
}

// UpdateAgent stores all settings of the agent a.ID.
func (t *Tenant) UpdateAgent(ctx context.Context, a connectors.Agent) (connectors.Agent, error) {
	row, err := t.q.UpdateAgent(ctx, dbgen.UpdateAgentParams{
		TenantID:    t.id,
		ID:          a.ID,
		Slug:        a.Slug,
		Name:        a.Name,
		Description: a.Description,
		Approval:    a.Approval,
		Enabled:     a.Enabled,

		NameLimit:      int32(a.NameLimit),
		CallsPerMinute: int32(a.CallsPerMinute),
	})
	if err != nil {
		return connectors.Agent{}, found(err, "agent")
	}
	return agentOf(row), t.says(nil, "agent", a.ID)
}

// HoldAgent keeps an agent as it is until the transaction ends: whoever ends what belongs to it then finds what is stored meanwhile.
func (t *Tenant) HoldAgent(ctx context.Context, id connectors.AgentID) error {
	_, err := t.q.HoldAgent(ctx, t.id, id)
	return found(err, "agent")
}

// DeleteAgent removes an agent and its credentials; sync runs forget it.
func (t *Tenant) DeleteAgent(ctx context.Context, id connectors.AgentID) error {
	n, err := t.q.DeleteAgent(ctx, t.id, id)
	return t.says(touched(n, err, "agent"), "agent", id)
}

func agentOf(r dbgen.Agent) connectors.Agent {
	return connectors.Agent{
		ID:          r.ID,
		Slug:        r.Slug,
		Name:        r.Name,
		Description: r.Description,
		Approval:    r.Approval,
		Enabled:     r.Enabled,

		NameLimit:      int(r.NameLimit),
		CallsPerMinute: int(r.CallsPerMinute),

		CreatedAt: r.CreatedAt.UTC(),
		UpdatedAt: r.UpdatedAt.UTC(),
	}
}
