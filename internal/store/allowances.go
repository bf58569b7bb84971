package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// AgentAllowance is an allowance with the slug and name of its connector.
type AgentAllowance struct {
	connectors.Allowance
	Slug    string
	Name    string
	InForce bool // the tool's definition is the one that the person saw
}

// AllowTool lets an agent call a tool's current definition without approval until a time. It fails with NotFound if
// the agent was not granted the tool.
func (t Calls) AllowTool(ctx context.Context, agent connectors.AgentID, a connectors.Allowance) error {
	n, err := t.q.AllowTool(ctx, dbgen.AllowToolParams{
		TenantID: t.id, AgentID: agent, ConnectorID: a.ConnectorID, Tool: cleanText(a.Tool), DefinitionHash: a.Definition[:], Until: a.Until, GrantedBy: cleanText(a.GrantedBy),
	})
	return t.notifyChange(affectedError(n, err, "grant"), "agent", agent)
}

// Allowances lists an agent's unexpired allowances, by connector slug and tool.
func (t Calls) Allowances(ctx context.Context, agent connectors.AgentID, p Page) (List[AgentAllowance], error) {
	const list = "allowances"
	q := dbgen.AgentAllowancesParams{TenantID: t.id, AgentID: agent, MaxRows: p.rowLimit()}
	after, err := p.parseCursor(list, 2)
	if err != nil {
		return List[AgentAllowance]{}, err
	}
	if after != nil {
		q.AfterSlug, q.AfterTool = &after[0], &after[1]
	}
	rows, err := t.q.AgentAllowances(ctx, q)
	if err != nil {
		return List[AgentAllowance]{}, err
	}
	return newList(p, rows, toAgentAllowance, list, func(r dbgen.AgentAllowancesRow) []string { return []string{r.Slug, r.ToolAllowance.Tool} }), nil
}

// EndAllowance deletes an allowance and returns it. It fails with NotFound if there is none, or it has expired.
func (t Calls) EndAllowance(ctx context.Context, agent connectors.AgentID, id connectors.ConnectorID, tool string) (connectors.Allowance, error) {
	row, err := t.q.DeleteAllowance(ctx, dbgen.DeleteAllowanceParams{TenantID: t.id, AgentID: agent, ConnectorID: id, Tool: cleanText(tool)})
	if err != nil {
		return connectors.Allowance{}, rowError(err, "allowance")
	}
	return toAllowance(row), t.notifyChange(nil, "agent", agent)
}

// EndAllowances deletes all allowances of a connector's tools and returns their number.
func (t Calls) EndAllowances(ctx context.Context, id connectors.ConnectorID) (int, error) {
	n, err := t.q.DeleteConnectorAllowances(ctx, t.id, id)
	return int(n), t.notifyChange(err, "connector", id)
}

func toAgentAllowance(r dbgen.AgentAllowancesRow) AgentAllowance {
	return AgentAllowance{Allowance: toAllowance(r.ToolAllowance), Slug: r.Slug, Name: r.Name, InForce: r.InForce}
}

func toAllowance(r dbgen.ToolAllowance) connectors.Allowance {
	a := connectors.Allowance{ConnectorID: r.ConnectorID, Tool: r.Tool, Until: r.Until.UTC(), GrantedBy: r.GrantedBy}
	copy(a.Definition[:], r.DefinitionHash)
	return a
}
