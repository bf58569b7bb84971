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

	Repeats    int        // later scheduled syncs that came to the same, and have no runs of their own
	RepeatedAt *time.Time // the end of the last of them; nil: there is none
}

// Duration is how long the run took; 0 while it is not finished.
func (r SyncRun) Duration() time.Duration {
	if r.StartedAt == nil || r.FinishedAt == nil {
		return 0
	}
	return r.FinishedAt.Sub(*r.StartedAt)
}

// LastAt is the end of the run, or of the last one that came to the same; nil while it is not finished.
func (r SyncRun) LastAt() *time.Time {
	if r.RepeatedAt != nil {
		return r.RepeatedAt
	}
	return r.FinishedAt
}

// SyncRequest is one request of a sync and what came back. It holds nothing of what was said: no address, no header, no body.
type SyncRequest struct {
	Phase    string        // as in an error's
	Method   string        // of HTTP; empty: a message to a program
	Call     string        // the MCP method; empty: none
	Page     int           // of a tool list; 0: none
	Era      string        // of MCP, in which the server was asked
	At       time.Duration // since the first request
	Took     time.Duration
	Status   int // of HTTP; 0: no answer, or a program's
	Sent     int64
	Received int64
	Reason   string // why it did not bring what it was for; empty: it did
	RPCCode  int    // 0: no JSON-RPC error
}

// SyncRequests are the requests of one sync, in the order of their beginnings.
type SyncRequests struct {
	List []SyncRequest
	Left int // how many others there were, between the first and the last
}

// SyncCounts is what a sync found.
type SyncCounts struct {
	Total       int // tools in the list that are well formed
	Added       int
	Changed     int // held ones count
	Removed     int
	Quarantined int
}
