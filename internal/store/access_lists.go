package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// AccessKind selects by the access of an agent to a connector.
type AccessKind string

// The kinds of access.
const (
	AccessAny     AccessKind = ""
	AccessGranted AccessKind = "granted"
	AccessAll     AccessKind = "all"  // all tools
	AccessSome    AccessKind = "some" // named tools
	AccessNone    AccessKind = "none"
)

// Window is a part of a list that is counted from its beginning.
type Window struct{ Skip, Limit int }

// AccessFilter selects rows of a list of access. The zero value selects all.
type AccessFilter struct {
	Query  string // part of a name, slug or URL
	Tag    string // of connectors
	Access AccessKind
	Window
}

// Reach is how much of a connector an agent may use.
type Reach struct {
	Granted  bool
	AllTools bool                     // and they have not ended
	Tools    int                      // named tools that have not ended
	Until    *time.Time               // end of the grant but for tools with ends of their own; nil: never
	Ended    bool                     // all of it has ended
	Approval *connectors.ApprovalMode // nil: the agent's own
	Accounts []string                 // that the grant binds; empty: the owner's only one

	Prompts   connectors.PromptAccess
	Resources connectors.ResourceAccess
}

// ConnectorReach is a connector with the access of one agent.
type ConnectorReach struct {
	ID        connectors.ConnectorID
	Slug      string
	Name      string
	Mark      ConnectorMark
	Status    connectors.ConnectorStatus
	ToolCount int
	Reach
}

// AgentReach is an agent with its access to one connector.
type AgentReach struct {
	ID      connectors.AgentID
	Slug    string
	Name    string
	Enabled bool
	Own     connectors.ApprovalMode
	Reach
}

// AgentAccess lists connectors by name with the access of an agent, and counts all that match.
func (t Lists) AgentAccess(ctx context.Context, agent connectors.AgentID, f AccessFilter) ([]ConnectorReach, int, error) {
	rows, err := t.q.AccessRows(ctx, dbgen.AccessRowsParams{
		TenantID: t.id, AgentID: agent.UUID, Pattern: containsPattern(f.Query), Tag: cleanText(f.Tag), Access: cleanText(string(f.Access)),
		SkipRows: int32(f.Skip), MaxRows: int32(f.Limit),
	})
	if err != nil || len(rows) == 0 {
		return nil, 0, err
	}
	list := make([]ConnectorReach, len(rows))
	for i, r := range rows {
		list[i] = ConnectorReach{
			ID: r.ID, Slug: r.Slug, Name: r.Name, Mark: ConnectorMark{URL: r.Url, IconHash: toHash(r.IconHash)}, Status: connectors.ConnectorStatus(r.Status), ToolCount: int(r.ToolCount),
			Reach: Reach{Granted: r.Granted, AllTools: r.AllTools, Tools: int(r.Tools), Until: toUTC(r.Until), Ended: r.GrantEnded, Approval: r.Approval, Accounts: grantAccounts(r.Accounts), Prompts: connectors.PromptAccess(r.Prompts), Resources: connectors.ResourceAccess(r.Resources)},
		}
	}
	return list, int(rows[0].Count), nil
}

// ConnectorAccess lists agents by name with their access to a connector, and counts all that match. A nil connector
// selects agents alone.
func (t Lists) ConnectorAccess(ctx context.Context, connector *connectors.ConnectorID, f AccessFilter) ([]AgentReach, int, error) {
	p := dbgen.AccessAgentsParams{
		TenantID: t.id, Pattern: containsPattern(f.Query), Access: cleanText(string(f.Access)), SkipRows: int32(f.Skip), MaxRows: int32(f.Limit),
	}
	if connector != nil {
		p.ConnectorID = &connector.UUID
	}
	rows, err := t.q.AccessAgents(ctx, p)
	if err != nil || len(rows) == 0 {
		return nil, 0, err
	}
	list := make([]AgentReach, len(rows))
	for i, r := range rows {
		list[i] = AgentReach{
			ID: r.ID, Slug: r.Slug, Name: r.Name, Enabled: r.Enabled, Own: r.OwnApproval,
			Reach: Reach{Granted: r.Granted, AllTools: r.AllTools, Tools: int(r.Tools), Until: toUTC(r.Until), Ended: r.GrantEnded, Approval: r.Approval},
		}
	}
	return list, int(rows[0].Count), nil
}

// AccessMatrix is the access of agents to connectors, one part of it.
type AccessMatrix struct {
	Agents        []AgentReach
	Connectors    []ConnectorReach
	AllAgents     int // that match
	AllConnectors int
	reaches       map[matrixKey]Reach
}

type matrixKey struct {
	agent     connectors.AgentID
	connector connectors.ConnectorID
}

// Reach is how much of a connector an agent may use.
func (m AccessMatrix) Reach(agent connectors.AgentID, connector connectors.ConnectorID) Reach {
	return m.reaches[matrixKey{agent, connector}]
}

// Matrix reads the access of some agents to some connectors.
func (t Lists) Matrix(ctx context.Context, agents, targets AccessFilter) (m AccessMatrix, err error) {
	err = t.asTenant().Snapshot(ctx, func(tx *Tenant) error {
		if m.Agents, m.AllAgents, err = tx.Lists().ConnectorAccess(ctx, nil, agents); err != nil {
			return err
		}
		if m.Connectors, m.AllConnectors, err = tx.Lists().AgentAccess(ctx, connectors.AgentID{}, targets); err != nil {
			return err
		}
		agentIDs, connectorIDs := make([]uuid.UUID, len(m.Agents)), make([]uuid.UUID, len(m.Connectors))
		for i, a := range m.Agents {
			agentIDs[i] = a.ID.UUID
		}
		for i, c := range m.Connectors {
			connectorIDs[i] = c.ID.UUID
		}
		rows, err := tx.q.GrantsAmong(ctx, tx.id, agentIDs, connectorIDs)
		m.reaches = make(map[matrixKey]Reach, len(rows))
		for _, r := range rows {
			m.reaches[matrixKey{r.AgentID, r.ConnectorID}] = Reach{Granted: true, AllTools: r.AllTools, Tools: int(r.Tools), Until: toUTC(r.Until), Ended: r.GrantEnded}
		}
		return err
	})
	return m, err
}
