package store

import (
	"context"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// AgentFilter selects agents.
type AgentFilter struct {
	Query    string                  // part of the name, slug or description; empty: all
	Approval connectors.ApprovalMode // empty: all
	Enabled  *bool                   // nil: all
	Troubled bool                    // those alone that cannot work as they should; of [Lists.Agents]
	Page

	ids []uuid.UUID // nil: all
}

// List lists the tenant's agents in the page's order, by default by name.
func (t Agents) List(ctx context.Context, p Page) (List[connectors.Agent], error) {
	return t.findAgents(ctx, AgentFilter{Page: p})
}

func (t *tenant) findAgents(ctx context.Context, f AgentFilter) (List[connectors.Agent], error) {
	if f.Order = f.Order.restrictTo(AgentOrders); !f.Order.isDefault() {
		return t.agentsOrdered(ctx, f)
	}
	name, id, err := f.afterNamed("agents")
	if err != nil {
		return List[connectors.Agent]{}, err
	}
	rows, err := t.q.Agents(ctx, dbgen.AgentsParams{
		TenantID: t.id, Pattern: containsPattern(f.Query), Approval: cleanText(string(f.Approval)), Enabled: f.Enabled, Ids: f.ids, AfterName: name, AfterID: id, MaxRows: f.rowLimit(),
	})
	if err != nil {
		return List[connectors.Agent]{}, err
	}
	return newList(f.Page, rows, toAgent, "agents", func(r dbgen.Agent) []string { return []string{r.Name, r.ID.String()} }), nil
}

// Get finds an agent by id or slug.
func (t Agents) Get(ctx context.Context, ref connectors.Ref) (connectors.Agent, error) {
	id, slug, ok := refParts(ref)
	if !ok {
		return connectors.Agent{}, newNotFound("agent")
	}
	row, err := t.q.AgentByRef(ctx, t.id, id, slug)
	if err != nil {
		return connectors.Agent{}, rowError(err, "agent")
	}
	return toAgent(row), nil
}

// Create stores a new agent under a new id.
func (t Agents) Create(ctx context.Context, a connectors.Agent) (connectors.Agent, error) {
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
		ToolList:       a.ToolList,
	})
	if err != nil {
		return connectors.Agent{}, err
	}
	return toAgent(row), nil
}

// Update stores all settings of the agent a.ID.
func (t Agents) Update(ctx context.Context, a connectors.Agent) (connectors.Agent, error) {
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
		ToolList:       a.ToolList,
	})
	if err != nil {
		return connectors.Agent{}, rowError(err, "agent")
	}
	return toAgent(row), t.notifyChange(nil, "agent", a.ID)
}

// Lock locks an agent's row until the transaction ends, so that nothing new is attached to it meanwhile.
func (t Agents) Lock(ctx context.Context, id connectors.AgentID) error {
	_, err := t.q.LockAgent(ctx, t.id, id)
	return rowError(err, "agent")
}

// Delete deletes an agent and its credentials. Sync runs lose the reference.
func (t Agents) Delete(ctx context.Context, id connectors.AgentID) error {
	n, err := t.q.DeleteAgent(ctx, t.id, id)
	return t.notifyChange(affectedError(n, err, "agent"), "agent", id)
}

func toAgent(r dbgen.Agent) connectors.Agent {
	return connectors.Agent{
		ID:          r.ID,
		Slug:        r.Slug,
		Name:        r.Name,
		Description: r.Description,
		Approval:    r.Approval,
		Enabled:     r.Enabled,

		NameLimit:      int(r.NameLimit),
		CallsPerMinute: int(r.CallsPerMinute),
		ToolList:       r.ToolList,

		CreatedAt: r.CreatedAt.UTC(),
		UpdatedAt: r.UpdatedAt.UTC(),
	}
}
