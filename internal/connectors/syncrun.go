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

// SyncState is the state of a sync run.
type SyncState string

// The sync states.
const (
	SyncQueued    SyncState = "queued"
	SyncRunning   SyncState = "running"
	SyncOK        SyncState = "ok"
	SyncFailed    SyncState = "error"
	SyncCancelled SyncState = "cancelled" // by a person or a program
)

// Ended reports whether a run in this state has ended.
func (s SyncState) Ended() bool { return s != SyncQueued && s != SyncRunning }

// SyncRun is one attempt to read a connector's tools.
type SyncRun struct {
	ID              SyncRunID
	ConnectorID     ConnectorID
	AgentID         *AgentID // of the credential; nil: shared or none
	Trigger         SyncTrigger
	State           SyncState
	QueuedAt        time.Time
	StartedAt       *time.Time
	FinishedAt      *time.Time
	Counts          SyncCounts
	Items           *ItemCounts // nil: not known
	ProtocolVersion string
	ErrorCode       string // empty: none
	ErrorMessage    string
	CancelledBy     string    // name; empty: not cancelled
	Upstream        *Upstream // of the first of its repeats; nil: none

	Repeats    int        // later scheduled syncs with the same outcome, without runs of their own
	RepeatedAt *time.Time // end of the last of them; nil: none
}

// Duration returns the run's duration; 0: not finished.
func (r SyncRun) Duration() time.Duration {
	if r.StartedAt == nil || r.FinishedAt == nil {
		return 0
	}
	return r.FinishedAt.Sub(*r.StartedAt)
}

// LastAt returns the end of the run or of its last repeat; nil: not finished.
func (r SyncRun) LastAt() *time.Time {
	if r.RepeatedAt != nil {
		return r.RepeatedAt
	}
	return r.FinishedAt
}

// SyncRequest is one request of a sync and its outcome, without address, headers and body.
type SyncRequest struct {
	Phase    string        // as in an error's
	Method   string        // of HTTP; empty: a message to a program
	Call     string        // the MCP method; empty: none
	Page     int           // of a tool list; 0: none
	Era      string        // of the MCP version used
	At       time.Duration // since the first request
	Took     time.Duration
	Status   int // of HTTP; 0: no response, or a program's
	Sent     int64
	Received int64
	Reason   string // of its failure; empty: it succeeded
	RPCCode  int    // 0: no JSON-RPC error
}

// SyncRequests are the requests of one sync in order.
type SyncRequests struct {
	List []SyncRequest
	Left int // number of omitted ones between the first and the last
}

// SyncCounts are the results of a sync.
type SyncCounts struct {
	Total       int // valid tools in the list
	Added       int
	Changed     int // held ones included
	Removed     int
	Quarantined int
}
