package connectors

import "time"

// SyncTrigger is what started a sync run.
type SyncTrigger string

// The triggers.
const (
	TriggerManual      SyncTrigger = "manual" // a person in the dashboard
	TriggerAPI         SyncTrigger = "api"    // a program
	TriggerOAuth       SyncTrigger = "oauth"
	TriggerSchedule    SyncTrigger = "schedule"
	TriggerListChanged SyncTrigger = "list_changed"
)

// SyncState is where a sync run stands.
type SyncState string

// The sync states.
const (
	SyncQueued  SyncState = "queued"
	SyncRunning SyncState = "running"
	SyncOK      SyncState = "ok"
	SyncFailed  SyncState = "error"
)

// SyncRun is one attempt to read a connector's tools.
type SyncRun struct {
	ID              SyncRunID
	ConnectorID     ConnectorID
	AgentID         *AgentID // whose credential was used; nil: the shared one or none
	Trigger         SyncTrigger
	State           SyncState
	QueuedAt        time.Time
	StartedAt       *time.Time
	FinishedAt      *time.Time
	Counts          SyncCounts
	ProtocolVersion string
	ErrorCode       string // empty: none
	ErrorMessage    string
}

// Duration is how long the run took; 0 while it is not finished.
func (r SyncRun) Duration() time.Duration {
	if r.StartedAt == nil || r.FinishedAt == nil {
		return 0
	}
	return r.FinishedAt.Sub(*r.StartedAt)
}

// SyncCounts is what a sync found.
type SyncCounts struct {
	Total       int // tools in the list that are well formed
	Added       int
	Changed     int // held ones count
	Removed     int
	Quarantined int
}
