package store

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Grants lists an agent's grants, by connector slug.
func (t Agents) Grants(ctx context.Context, agent connectors.AgentID, p Page) (List[GrantedConnector], error) {
	after, err := p.afterText("agent_grants")
	if err != nil {
		return List[GrantedConnector]{}, err
	}
	rows, err := t.q.AgentGrants(ctx, dbgen.AgentGrantsParams{TenantID: t.id, AgentID: agent, AfterSlug: after, MaxRows: p.rowLimit()})
	if err != nil {
		return List[GrantedConnector]{}, err
	}
	item := func(r dbgen.AgentGrantsRow) GrantedConnector { return toGrantedConnector(dbgen.AgentGrantRow(r)) }
	return newList(p, rows, item, "agent_grants", func(r dbgen.AgentGrantsRow) []string { return []string{r.Slug} }), nil
}

// Grant returns an agent's grant for one connector.
func (t Agents) Grant(ctx context.Context, agent connectors.AgentID, connector connectors.ConnectorID) (GrantedConnector, error) {
	row, err := t.q.AgentGrant(ctx, t.id, agent, connector)
	if err != nil {
		return GrantedConnector{}, rowError(err, "grant")
	}
	return toGrantedConnector(row), nil
}

// SetGrant creates or replaces a grant, normalized.
func (t Agents) SetGrant(ctx context.Context, g connectors.Grant) error {
	g = g.Normalized()
	until, toolEnds, err := fromEnds(g.Ends)
	if err != nil {
		return err
	}
	err = t.q.SetAgentGrant(ctx, dbgen.SetAgentGrantParams{
		TenantID:     t.id,
		AgentID:      g.AgentID,
		ConnectorID:  g.ConnectorID,
		AllTools:     g.AllTools,
		Tools:        cleanAll(g.Tools),
		Approval:     g.Approval,
		TrustedTools: cleanAll(g.TrustedTools),
		PinnedTools:  cleanAll(g.PinnedTools),
		Prompts:      g.Prompts,
		Resources:    g.Resources,
		Until:        until,
		ToolEnds:     toolEnds,
		Accounts:     storedAccounts(g.Accounts),
	})
	return t.notifyChange(err, "agent", g.AgentID)
}

// PinnedElsewhere returns the number of tools that the agent's grants of other connectors pin.
func (t Tools) PinnedElsewhere(ctx context.Context, agent connectors.AgentID, connector connectors.ConnectorID) (int, error) {
	n, err := t.q.PinnedElsewhere(ctx, t.id, agent, connector)
	return int(n), err
}

// SetShaping sets how answers of a tool are shortened; zero: not at all.
func (t Agents) SetShaping(ctx context.Context, agent connectors.AgentID, connector connectors.ConnectorID, tool string, s connectors.Shaping) error {
	var rule []byte
	if !s.IsZero() {
		var err error
		if rule, err = json.Marshal(s); err != nil {
			return err
		}
	}
	n, err := t.q.SetGrantShaping(ctx, dbgen.SetGrantShapingParams{Rule: rule, Tool: tool, TenantID: t.id, AgentID: agent, ConnectorID: connector})
	return t.notifyChange(affectedError(n, err, "grant"), "agent", agent)
}

// DropGrant deletes a grant.
func (t Agents) DropGrant(ctx context.Context, agent connectors.AgentID, connector connectors.ConnectorID) error {
	n, err := t.q.DeleteAgentGrant(ctx, t.id, agent, connector)
	return t.notifyChange(affectedError(n, err, "grant"), "agent", agent)
}

// severalAccounts begins the stored accounts of a grant that binds several. A process of an older release uses the first one alone:
// no account has this name.
const severalAccounts = "-"

func storedAccounts(names []string) []string {
	names = cleanAll(names)
	if len(names) > 1 {
		return append([]string{severalAccounts}, names...)
	}
	return names
}

func grantAccounts(stored []string) []string {
	if len(stored) > 1 {
		return stored[1:]
	}
	return stored
}

func toGrantedConnector(r dbgen.AgentGrantRow) GrantedConnector {
	return GrantedConnector{Grant: toAgentGrant(r.AgentGrant), Slug: r.Slug, Name: r.Name, Enabled: r.Enabled}
}

func toAgentGrant(r dbgen.AgentGrant) connectors.Grant {
	return connectors.Grant{
		AgentID:      r.AgentID,
		ConnectorID:  r.ConnectorID,
		AllTools:     r.AllTools,
		Tools:        r.Tools,
		Approval:     r.Approval,
		TrustedTools: r.TrustedTools,
		PinnedTools:  r.PinnedTools,
		Prompts:      r.Prompts,
		Resources:    r.Resources,
		Ends:         toEnds(r.Until, r.ToolEnds),
		Shaping:      toShaping(r.Shaping),
		Accounts:     grantAccounts(r.Accounts),
		CreatedAt:    r.CreatedAt.UTC(),
		UpdatedAt:    r.UpdatedAt.UTC(),
	}
}

// fromEnds returns the columns of a grant's ends.
func fromEnds(e *connectors.GrantEnds) (until *time.Time, toolEnds []byte, err error) {
	if e == nil {
		return nil, []byte("{}"), nil
	}
	byTool := make(map[string]*time.Time, len(e.Tools))
	for tool, end := range e.Tools {
		byTool[cleanText(tool)] = end
	}
	toolEnds, err = json.Marshal(byTool)
	return e.Until, toolEnds, err
}

// toEnds returns nil for a grant without ends, which most are.
func toEnds(until *time.Time, raw []byte) *connectors.GrantEnds {
	e := &connectors.GrantEnds{Until: toUTC(until)}
	if len(raw) > len("{}") {
		_ = json.Unmarshal(raw, &e.Tools) // Patchbay wrote it
	}
	if e.Until == nil && len(e.Tools) == 0 {
		return nil
	}
	return e
}

// toShaping returns nil for a grant without shaping, which most are.
func toShaping(raw []byte) (m map[string]connectors.Shaping) {
	if len(raw) > len("{}") {
		_ = json.Unmarshal(raw, &m) // Patchbay wrote it
	}
	return m
}
