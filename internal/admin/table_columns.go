package admin

import (
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/store"
)

// Columns of the tables' files. Their names are those of the JSON API. They have no secrets, and nothing that
// the page does not show.

var connectorColumns = []export.Column[connectors.Connector]{
	{Name: "id", Of: func(c connectors.Connector) any { return c.ID.String() }},
	{Name: "slug", Of: func(c connectors.Connector) any { return c.Slug }},
	{Name: "name", Of: func(c connectors.Connector) any { return c.Name }},
	{Name: "description", Of: func(c connectors.Connector) any { return c.Description }},
	{Name: "transport", Of: func(c connectors.Connector) any { return c.Transport }},
	{Name: "url", Of: func(c connectors.Connector) any { return c.URL }},
	{Name: "auth_type", Of: func(c connectors.Connector) any { return c.Auth.Type }},
	{Name: "credential_mode", Of: func(c connectors.Connector) any { return c.CredentialMode }},
	{Name: "enabled", Of: func(c connectors.Connector) any { return c.Enabled }},
	{Name: "status", Of: func(c connectors.Connector) any { return c.Status }},
	{Name: "tool_count", Of: func(c connectors.Connector) any { return c.ToolCount }},
	{Name: "tools_last_synced_at", Of: func(c connectors.Connector) any { return c.ToolsLastSyncedAt }},
	{Name: "last_error", Of: func(c connectors.Connector) any {
		if c.LastError == nil {
			return nil
		}
		return c.LastError.Message
	}},
	{Name: "protocol_version", Of: func(c connectors.Connector) any { return c.Server.ProtocolVersion }},
	{Name: "created_at", Of: func(c connectors.Connector) any { return c.CreatedAt }},
	{Name: "updated_at", Of: func(c connectors.Connector) any { return c.UpdatedAt }},
}

var toolColumns = []export.Column[connectors.Tool]{
	{Name: "connector", Of: func(t connectors.Tool) any { return t.ConnectorSlug }},
	{Name: "name", Of: func(t connectors.Tool) any { return t.Name }},
	{Name: "title", Of: func(t connectors.Tool) any { return t.Title }},
	{Name: "description", Of: func(t connectors.Tool) any { return t.Description }},
	{Name: "alias", Of: func(t connectors.Tool) any { return t.Alias }},
	{Name: "agent_description", Of: func(t connectors.Tool) any { return t.AgentText }},
	{Name: "enabled", Of: func(t connectors.Tool) any { return t.Enabled }},
	{Name: "review", Of: func(t connectors.Tool) any { return t.Review }},
	{Name: "tags", Of: func(t connectors.Tool) any { return t.Tags }},
	{Name: "definition_hash", Of: func(t connectors.Tool) any { return t.Hash.String() }},
	{Name: "first_seen_at", Of: func(t connectors.Tool) any { return t.FirstSeenAt }},
	{Name: "changed_at", Of: func(t connectors.Tool) any { return t.ChangedAt }},
	{Name: "last_seen_at", Of: func(t connectors.Tool) any { return t.LastSeenAt }},
	{Name: "removed_at", Of: func(t connectors.Tool) any { return t.RemovedAt }},
}

var agentColumns = []export.Column[connectors.Agent]{
	{Name: "id", Of: func(a connectors.Agent) any { return a.ID.String() }},
	{Name: "slug", Of: func(a connectors.Agent) any { return a.Slug }},
	{Name: "name", Of: func(a connectors.Agent) any { return a.Name }},
	{Name: "description", Of: func(a connectors.Agent) any { return a.Description }},
	{Name: "approval", Of: func(a connectors.Agent) any { return a.Approval }},
	{Name: "enabled", Of: func(a connectors.Agent) any { return a.Enabled }},
	{Name: "calls_per_minute", Of: func(a connectors.Agent) any { return a.CallsPerMinute }},
	{Name: "created_at", Of: func(a connectors.Agent) any { return a.CreatedAt }},
	{Name: "updated_at", Of: func(a connectors.Agent) any { return a.UpdatedAt }},
}

var callColumns = []export.Column[connectors.ToolCall]{
	{Name: "id", Of: func(c connectors.ToolCall) any { return c.ID.String() }},
	{Name: "started_at", Of: func(c connectors.ToolCall) any { return c.StartedAt }},
	{Name: "completed_at", Of: func(c connectors.ToolCall) any { return c.CompletedAt }},
	{Name: "duration_ms", Of: func(c connectors.ToolCall) any {
		if !c.Status.Ended() {
			return nil
		}
		return toMilliseconds(c.Duration)
	}},
	{Name: "agent", Of: func(c connectors.ToolCall) any { return c.AgentSlug }},
	{Name: "connector", Of: func(c connectors.ToolCall) any { return c.ConnectorSlug }},
	{Name: "kind", Of: func(c connectors.ToolCall) any { return c.Kind }},
	{Name: "tool", Of: func(c connectors.ToolCall) any { return c.Tool }},
	{Name: "exposed_name", Of: func(c connectors.ToolCall) any { return c.ExposedName }},
	{Name: "source", Of: func(c connectors.ToolCall) any { return c.Source }},
	{Name: "caller", Of: func(c connectors.ToolCall) any { return c.Caller }},
	{Name: "address", Of: func(c connectors.ToolCall) any { return c.From() }},
	{Name: "request_id", Of: func(c connectors.ToolCall) any { return c.RequestID }},
	{Name: "status", Of: func(c connectors.ToolCall) any { return c.Status }},
	{Name: "outcome", Of: func(c connectors.ToolCall) any { return c.Outcome }},
	{Name: "error_code", Of: func(c connectors.ToolCall) any { return c.ErrorCode }},
	{Name: "error_message", Of: func(c connectors.ToolCall) any { return c.ErrorMessage }},
	{Name: "approved_by", Of: func(c connectors.ToolCall) any { return c.ApprovedBy }},
	{Name: "request_bytes", Of: func(c connectors.ToolCall) any { return c.RequestBytes }},
	{Name: "response_bytes", Of: func(c connectors.ToolCall) any { return c.ResponseBytes }},
}

// taskColumns are those of calls, and the server's task state.
var taskColumns = append(slices.Clone(callColumns),
	export.Column[connectors.ToolCall]{Name: "task_status", Of: func(c connectors.ToolCall) any { return readTask(c.Task).Status.value }},
	export.Column[connectors.ToolCall]{Name: "task_message", Of: func(c connectors.ToolCall) any { return readTask(c.Task).Message.value }},
)

var approvalColumns = []export.Column[waitingApproval]{
	{Name: "id", Of: func(a waitingApproval) any { return a.ID.String() }},
	{Name: "asked_at", Of: func(a waitingApproval) any { return a.AskedAt }},
	{Name: "expires_at", Of: func(a waitingApproval) any { return a.ExpiresAt }},
	{Name: "agent", Of: func(a waitingApproval) any { return a.about.AgentSlug }},
	{Name: "connector", Of: func(a waitingApproval) any { return a.about.ConnectorSlug }},
	{Name: "tool", Of: func(a waitingApproval) any { return a.Tool }},
	{Name: "exposed_name", Of: func(a waitingApproval) any { return a.ExposedName }},
	{Name: "state", Of: func(a waitingApproval) any { return a.State }},
}

var changeColumns = []export.Column[connectors.ToolChange]{
	{Name: "id", Of: func(c connectors.ToolChange) any { return c.ID.String() }},
	{Name: "seen_at", Of: func(c connectors.ToolChange) any { return c.SeenAt }},
	{Name: "connector", Of: func(c connectors.ToolChange) any { return c.ConnectorSlug }},
	{Name: "tool", Of: func(c connectors.ToolChange) any { return c.Tool }},
	{Name: "kinds", Of: func(c connectors.ToolChange) any {
		kinds := make([]string, len(c.Kinds))
		for i, k := range c.Kinds {
			kinds[i] = string(k)
		}
		return kinds
	}},
	{Name: "risk", Of: func(c connectors.ToolChange) any { return c.Risk }},
	{Name: "state", Of: func(c connectors.ToolChange) any { return c.State }},
	{Name: "decided_by", Of: func(c connectors.ToolChange) any { return c.DecidedBy }},
	{Name: "decided_at", Of: func(c connectors.ToolChange) any { return c.DecidedAt }},
	{Name: "agents", Of: func(c connectors.ToolChange) any { return c.Agents }},
	{Name: "calls", Of: func(c connectors.ToolChange) any { return c.Calls }},
}

var auditColumns = []export.Column[store.RecordedEvent]{
	{Name: "id", Of: func(e store.RecordedEvent) any { return e.ID.String() }},
	{Name: "at", Of: func(e store.RecordedEvent) any { return e.At }},
	{Name: "actor_type", Of: func(e store.RecordedEvent) any { return e.ActorType }},
	{Name: "actor_id", Of: func(e store.RecordedEvent) any {
		if e.ActorID == nil {
			return nil
		}
		return e.ActorID.String()
	}},
	{Name: "actor_name", Of: func(e store.RecordedEvent) any { return e.ActorName }},
	{Name: "action", Of: func(e store.RecordedEvent) any { return e.Action }},
	{Name: "target", Of: func(e store.RecordedEvent) any { return e.Target }},
	{Name: "detail", Of: func(e store.RecordedEvent) any { return e.Detail }},
	{Name: "request_id", Of: func(e store.RecordedEvent) any { return e.RequestID }},
	{Name: "ip", Of: func(e store.RecordedEvent) any { return e.IP }},
}

var memberColumns = []export.Column[connectors.Member]{
	{Name: "user_id", Of: func(m connectors.Member) any { return m.UserID.String() }},
	{Name: "email", Of: func(m connectors.Member) any { return m.Email }},
	{Name: "name", Of: func(m connectors.Member) any { return m.Name }},
	{Name: "role", Of: func(m connectors.Member) any { return m.Role }},
	{Name: "created_at", Of: func(m connectors.Member) any { return m.CreatedAt }},
	{Name: "signed_in_at", Of: func(m connectors.Member) any { return m.SignedIn }},
}

var keyColumns = []export.Column[connectors.APIKey]{
	{Name: "id", Of: func(k connectors.APIKey) any { return k.ID.String() }},
	{Name: "name", Of: func(k connectors.APIKey) any { return k.Name }},
	{Name: "prefix", Of: func(k connectors.APIKey) any { return k.Prefix }},
	{Name: "role", Of: func(k connectors.APIKey) any { return k.Role }},
	{Name: "created_at", Of: func(k connectors.APIKey) any { return k.CreatedAt }},
	{Name: "expires_at", Of: func(k connectors.APIKey) any { return k.ExpiresAt }},
	{Name: "last_used_at", Of: func(k connectors.APIKey) any { return k.LastUsedAt }},
	{Name: "revoked_at", Of: func(k connectors.APIKey) any { return k.RevokedAt }},
}

var syncRunColumns = []export.Column[connectors.SyncRun]{
	{Name: "id", Of: func(s connectors.SyncRun) any { return s.ID.String() }},
	{Name: "agent_id", Of: func(s connectors.SyncRun) any {
		if s.AgentID == nil {
			return nil
		}
		return s.AgentID.String()
	}},
	{Name: "trigger", Of: func(s connectors.SyncRun) any { return s.Trigger }},
	{Name: "state", Of: func(s connectors.SyncRun) any { return s.State }},
	{Name: "queued_at", Of: func(s connectors.SyncRun) any { return s.QueuedAt }},
	{Name: "started_at", Of: func(s connectors.SyncRun) any { return s.StartedAt }},
	{Name: "finished_at", Of: func(s connectors.SyncRun) any { return s.FinishedAt }},
	{Name: "duration_ms", Of: func(s connectors.SyncRun) any { return toMilliseconds(s.Duration()) }},
	{Name: "total", Of: func(s connectors.SyncRun) any { return s.Counts.Total }},
	{Name: "added", Of: func(s connectors.SyncRun) any { return s.Counts.Added }},
	{Name: "changed", Of: func(s connectors.SyncRun) any { return s.Counts.Changed }},
	{Name: "removed", Of: func(s connectors.SyncRun) any { return s.Counts.Removed }},
	{Name: "quarantined", Of: func(s connectors.SyncRun) any { return s.Counts.Quarantined }},
	{Name: "protocol_version", Of: func(s connectors.SyncRun) any { return s.ProtocolVersion }},
	{Name: "error_code", Of: func(s connectors.SyncRun) any { return s.ErrorCode }},
	{Name: "error_message", Of: func(s connectors.SyncRun) any { return s.ErrorMessage }},
	{Name: "repeats", Of: func(s connectors.SyncRun) any { return s.Repeats }},
	{Name: "repeated_at", Of: func(s connectors.SyncRun) any { return s.RepeatedAt }},
}

var deliveryColumns = []export.Column[connectors.Delivery]{
	{Name: "id", Of: func(d connectors.Delivery) any { return d.ID.String() }},
	{Name: "kind", Of: func(d connectors.Delivery) any { return d.Kind }},
	{Name: "state", Of: func(d connectors.Delivery) any { return d.State }},
	{Name: "tries", Of: func(d connectors.Delivery) any { return d.Tries }},
	{Name: "created_at", Of: func(d connectors.Delivery) any { return d.CreatedAt }},
	{Name: "tried_at", Of: func(d connectors.Delivery) any { return d.TriedAt }},
	{Name: "next_at", Of: func(d connectors.Delivery) any { return d.NextAt }},
	{Name: "status", Of: func(d connectors.Delivery) any { return d.Status }},
	{Name: "error", Of: func(d connectors.Delivery) any { return d.Error }},
	{Name: "duration_ms", Of: func(d connectors.Delivery) any { return toMilliseconds(d.Duration) }},
}

// toMilliseconds keeps microseconds as decimals.
func toMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
