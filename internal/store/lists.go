package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// MaxRecentCalls bounds the calls that are counted for one row of a list.
const MaxRecentCalls = 1000

// RecentCalls counts calls since a time, at most the newest MaxRecentCalls.
type RecentCalls struct{ Calls, Failed int }

// AgentSummary is an agent with figures from other tables.
type AgentSummary struct {
	connectors.Agent
	Connectors int // granted
	Tools      int // granted, of connectors that may be disabled
	Tokens     int // tokens and programs with which it can connect
	SeenAt     *time.Time
	Recent     RecentCalls
	Trouble    AgentTrouble
}

// AgentTrouble names the granted connectors that do not work for an agent.
type AgentTrouble struct {
	Connectors   int    // 0: none
	First        string // name of the first one
	LacksAccount bool   // the agent has no account of its own for the first one
}

// AgentCounts counts agents.
type AgentCounts struct {
	Matching int // all that match the filter
	Troubled int // all that cannot work as they should, whatever the filter
}

// Agents lists agents with their figures, and counts all that match. Calls are counted since a time.
func (t Lists) Agents(ctx context.Context, f AgentFilter, since time.Time) (list List[AgentSummary], counts AgentCounts, err error) {
	err = t.asTenant().Snapshot(ctx, func(tx *Tenant) error {
		troubled, err := tx.q.TroubledAgents(ctx, tx.id)
		if err != nil {
			return err
		}
		if f.Troubled {
			f.ids = make([]uuid.UUID, len(troubled))
			for i, id := range troubled {
				f.ids[i] = id.UUID
			}
		}
		page, err := tx.findAgents(ctx, f)
		if err != nil {
			return err
		}
		ids := make([]uuid.UUID, len(page.Items))
		for i, a := range page.Items {
			ids[i] = a.ID.UUID
		}
		figures, err := tx.q.AgentFigures(ctx, dbgen.AgentFiguresParams{TenantID: tx.id, Ids: ids, FromID: minUUIDv7At(since), MaxCalls: MaxRecentCalls})
		if err != nil {
			return err
		}
		count, err := tx.q.CountAgents(ctx, dbgen.CountAgentsParams{
			TenantID: tx.id, Pattern: containsPattern(f.Query), Approval: cleanText(string(f.Approval)), Enabled: f.Enabled, Ids: f.ids,
		})
		list, counts = List[AgentSummary]{Items: addAgentFigures(page.Items, figures), Next: page.Next}, AgentCounts{int(count), len(troubled)}
		return err
	})
	return list, counts, err
}

func addAgentFigures(agents []connectors.Agent, figures []dbgen.AgentFiguresRow) []AgentSummary {
	byID := make(map[connectors.AgentID]dbgen.AgentFiguresRow, len(figures))
	for _, r := range figures {
		byID[r.ID] = r
	}
	list := make([]AgentSummary, len(agents))
	for i, a := range agents {
		r := byID[a.ID]
		list[i] = AgentSummary{
			Agent: a, Connectors: int(r.Connectors), Tools: int(r.Tools), Tokens: int(r.Tokens), Recent: RecentCalls{int(r.Calls), int(r.Failed)},
			Trouble: AgentTrouble{Connectors: int(r.Troubled), First: r.Trouble, LacksAccount: r.LacksAccount},
		}
		if r.SeenAt.Unix() > 0 {
			list[i].SeenAt = toUTC(&r.SeenAt)
		}
	}
	return list
}

// ConnectorSummary is a connector with figures from other tables.
type ConnectorSummary struct {
	connectors.Connector
	ConnectorFigures
}

// ConnectorFigures are figures of a connector from other tables.
type ConnectorFigures struct {
	Agents  int // with a grant
	Waiting int // tools to review
	Recent  RecentCalls
}

// Connectors lists connectors with their figures, and counts all that match. Calls are counted since a time.
func (t Lists) Connectors(ctx context.Context, f ConnectorFilter, since time.Time) (list List[ConnectorSummary], total int, err error) {
	err = t.asTenant().Snapshot(ctx, func(tx *Tenant) error {
		page, err := tx.Connectors().List(ctx, f)
		if err != nil {
			return err
		}
		ids := make([]connectors.ConnectorID, len(page.Items))
		for i, c := range page.Items {
			ids[i] = c.ID
		}
		figures, err := tx.Lists().ConnectorFigures(ctx, since, ids...)
		if err != nil {
			return err
		}
		count, err := tx.q.CountConnectors(ctx, dbgen.CountConnectorsParams{
			TenantID: tx.id, Status: cleanText(string(f.Status)), Pattern: containsPattern(f.Query),
			Transport: cleanText(string(f.Transport)), AuthType: cleanText(string(f.AuthType)), Tag: cleanText(f.Tag),
		})
		list, total = List[ConnectorSummary]{Items: make([]ConnectorSummary, len(page.Items)), Next: page.Next}, int(count)
		for i, c := range page.Items {
			list.Items[i] = ConnectorSummary{Connector: c, ConnectorFigures: figures[c.ID]}
		}
		return err
	})
	return list, total, err
}

// ConnectorFigures returns figures of connectors. Calls are counted since a time.
func (t Lists) ConnectorFigures(ctx context.Context, since time.Time, ids ...connectors.ConnectorID) (map[connectors.ConnectorID]ConnectorFigures, error) {
	rows, err := t.q.ConnectorFigures(ctx, dbgen.ConnectorFiguresParams{TenantID: t.id, Ids: connectorUUIDs(ids), FromID: minUUIDv7At(since), MaxCalls: MaxRecentCalls})
	if err != nil {
		return nil, err
	}
	all := make(map[connectors.ConnectorID]ConnectorFigures, len(rows))
	for _, r := range rows {
		all[r.ID] = ConnectorFigures{Agents: int(r.Agents), Waiting: int(r.Waiting), Recent: RecentCalls{int(r.Calls), int(r.Failed)}}
	}
	return all, nil
}

// ConnectorTags lists the tags of all connectors, in alphabetical order.
func (t Lists) ConnectorTags(ctx context.Context) ([]string, error) {
	return t.q.ConnectorTags(ctx, t.id)
}
