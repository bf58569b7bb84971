package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// MaxTotal bounds what the totals of long lists count. One more row says that there are more.
const MaxTotal = 10_000

// Members counts the tenant's members.
func (t Lists) Members(ctx context.Context) (int, error) {
	n, err := t.q.CountMembers(ctx, t.id)
	return int(n), err
}

// APIKeys counts the tenant's API keys.
func (t Lists) APIKeys(ctx context.Context) (int, error) {
	n, err := t.q.CountAPIKeys(ctx, t.id)
	return int(n), err
}

// Webhooks counts the tenant's webhooks.
func (t Lists) Webhooks(ctx context.Context) (int, error) {
	n, err := t.q.CountWebhooks(ctx, t.id)
	return int(n), err
}

// SyncRuns counts a connector's sync runs, up to one more than MaxTotal, as the next ones do.
func (t Lists) SyncRuns(ctx context.Context, id connectors.ConnectorID) (int, error) {
	n, err := t.q.CountSyncRuns(ctx, t.id, id, MaxTotal+1)
	return int(n), err
}

// Changes counts the tool changes of all pages of [Tools.Changes].
func (t Lists) Changes(ctx context.Context, f ChangeFilter) (int, error) {
	n, err := t.q.CountChanges(ctx, dbgen.CountChangesParams{TenantID: t.id, State: string(f.State), ConnectorID: f.connectorUUID(), MaxRows: MaxTotal + 1})
	return int(n), err
}

// TaskCalls counts the calls of all pages of [Calls.TaskCalls].
func (t Lists) TaskCalls(ctx context.Context, f CallFilter) (int, error) {
	p := dbgen.CountTaskCallsParams{TenantID: t.id, Status: string(f.Status), Tool: cleanText(f.Tool), MaxRows: MaxTotal + 1}
	if f.Agent != nil {
		p.AgentID = &f.Agent.UUID
	}
	if f.Connector != nil {
		p.ConnectorID = &f.Connector.UUID
	}
	n, err := t.q.CountTaskCalls(ctx, p)
	return int(n), err
}

// AuditEvents counts the audit events of all pages of [Audit.List]. It looks at the newest MaxTotal of the time range; least
// means that there are more.
func (t Lists) AuditEvents(ctx context.Context, f AuditFilter) (n int, least bool, err error) {
	p := dbgen.CountAuditEventsParams{
		TenantID: t.id, Since: f.Since, Until: f.Until, Actor: containsPattern(f.Actor), Target: containsPattern(f.Target),
		Action: cleanText(f.Action), Entry: f.Entry, MaxRows: MaxTotal + 1,
	}
	if f.Since != nil {
		p.FromID = new(minUUIDv7At(f.Since.Add(-clockSkew)))
	}
	if f.Until != nil {
		p.ToID = new(minUUIDv7At(f.Until.Add(clockSkew)))
	}
	counted, err := t.q.CountAuditEvents(ctx, p)
	return min(int(counted.Matching), MaxTotal), counted.LookedAt > MaxTotal, err
}

// Notices counts the tenant's notices.
func (t Lists) Notices(ctx context.Context) (int, error) {
	n, err := t.q.CountNotices(ctx, t.id, MaxTotal+1)
	return int(n), err
}

// Deliveries counts a webhook's deliveries.
func (t Lists) Deliveries(ctx context.Context, id connectors.WebhookID) (int, error) {
	n, err := t.q.CountDeliveries(ctx, t.id, id, MaxTotal+1)
	return int(n), err
}

// ToolChanges counts the changes of one tool.
func (t Lists) ToolChanges(ctx context.Context, id connectors.ConnectorID, tool string) (int, error) {
	n, err := t.q.CountToolChanges(ctx, dbgen.CountToolChangesParams{TenantID: t.id, ConnectorID: id, Tool: cleanText(tool), MaxRows: MaxTotal + 1})
	return int(n), err
}

// ConnectorAccounts counts the rows of all pages of [Accounts.ConnectorAccounts].
func (t Lists) ConnectorAccounts(ctx context.Context, f ConnectorAccountFilter) (int, error) {
	p := dbgen.CountConnectorAccountsParams{
		TenantID: t.id, ConnectorID: f.Connector, State: string(f.State), Pattern: containsPattern(f.Query), Seconds: f.EndsSoon.Seconds(), MaxRows: MaxTotal + 1,
	}
	if f.Person != nil {
		p.Person = &f.Person.UUID
	}
	n, err := t.q.CountConnectorAccounts(ctx, p)
	return int(n), err
}
