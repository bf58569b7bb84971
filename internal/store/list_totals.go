package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// MaxTotal bounds what the totals of long lists count. One more row says that there are more.
const MaxTotal = 1000

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

// AuditEvents counts the tenant's audit events.
func (t Lists) AuditEvents(ctx context.Context) (int, error) {
	n, err := t.q.CountAuditEvents(ctx, t.id, MaxTotal+1)
	return int(n), err
}
