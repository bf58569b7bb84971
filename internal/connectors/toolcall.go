package connectors

import (
	"net/netip"
	"time"
)

// CallStatus is the status of a tool call.
type CallStatus string

// The statuses. The last four are final.
const (
	CallPendingApproval CallStatus = "pending_approval"
	CallRunning         CallStatus = "running"
	CallSuccess         CallStatus = "success"
	CallError           CallStatus = "error" // also if the tool reports one
	CallDenied          CallStatus = "denied"
	CallCancelled       CallStatus = "cancelled"
)

// Ended reports whether the status is final.
func (s CallStatus) Ended() bool { return s != CallPendingApproval && s != CallRunning }

// CallOutcome is the kind of a call's end.
type CallOutcome string

// The outcomes.
const (
	OutcomeNone      CallOutcome = ""           // not ended
	OutcomeOK        CallOutcome = "ok"         // a result, which Patchbay may have withheld
	OutcomeToolError CallOutcome = "tool_error" // a result with isError
	OutcomeRPCError  CallOutcome = "rpc_error"  // a JSON-RPC error
	OutcomeTransport CallOutcome = "transport"  // no connection, or no valid MCP response
	OutcomeRefused   CallOutcome = "refused"    // by policy, before a request was sent
	OutcomeDenied    CallOutcome = "denied"     // by a person
	OutcomeCancelled CallOutcome = "cancelled"
	OutcomeLost      CallOutcome = "lost" // Patchbay's process died during the call
)

// CallKind is the kind of request.
type CallKind string

// The kinds.
const (
	CallTool       CallKind = "tool"
	CallPrompt     CallKind = "prompt"
	CallResource   CallKind = "resource"
	CallCompletion CallKind = "completion"
	CallMethod     CallKind = "method" // outside MCP; notifications too
)

// CallSource is the entry point of a call.
type CallSource string

// The sources.
const (
	SourceGateway   CallSource = "gateway"
	SourceAPI       CallSource = "api"
	SourceDashboard CallSource = "dashboard"
)

// CallHistory is what a tenant stores of arguments and results.
type CallHistory string

// What is kept.
const (
	HistoryNone     CallHistory = "none"     // sizes alone
	HistoryRedacted CallHistory = "redacted" // without values that look secret
	HistoryFull     CallHistory = "full"
)

// codeUndelivered is the ErrorCode of a call whose response did not reach its agent.
const codeUndelivered = "undelivered"

// Undelivered reports whether the response did not reach the agent. The outcome is unaffected.
func (c *ToolCall) Undelivered() bool { return c.ErrorCode == codeUndelivered }

// MaxHistoryBytes bounds one call's stored content. The agent gets all of it.
const MaxHistoryBytes = 200_000

// ToolCall is one recorded call.
type ToolCall struct {
	ID            ToolCallID
	AgentID       *AgentID // nil: the agent was deleted
	AgentSlug     string   // at the time
	AgentName     string   // now; empty: not read, or deleted
	ConnectorID   *ConnectorID
	ConnectorSlug string
	ConnectorName string // likewise
	Kind          CallKind
	Tool          string // the upstream's name of a tool or prompt, or a URI
	ToolTitle     string // of the called version; remote text; empty: none, or not read
	ExposedName   string // as the agent named it
	Source        CallSource
	Caller        string // the person or key that called for the agent
	CallOrigin           // of the first request
	TokenID       *AgentTokenID
	TokenName     string // now: its own, its client's, or its prefix; empty: not read, or revoked
	CredentialID  *CredentialID
	Account       AccountName // of that credential; zero: not read, or replaced since
	Definition    *Hash       // of the tool
	InstanceID    *InstanceID
	Status        CallStatus
	Outcome       CallOutcome
	ErrorCode     string // empty: none
	ErrorMessage  string
	Upstream      *Upstream // of a failure; Said by the tenant's CallHistory; nil: none
	IsError       bool      // of the result
	// StructuredValid reports whether the structured content fits the tool's output schema; nil: not checked.
	StructuredValid *bool
	StructuredError string // why it does not fit, one sentence; empty: it fits, or was not checked
	ApprovedBy      string
	Arguments       []byte        // JSON, by the tenant's CallHistory; nil: not stored
	Content         []byte        // likewise
	Structured      []byte        // likewise
	Task            []byte        // last state of a task, JSON; nil: none
	TaskHandle      string        // the agent's sealed task id; empty: none
	Progress        *CallProgress // last notification of progress; nil: none
	Truncated       bool          // content was longer than MaxHistoryBytes
	Withheld        bool          // arguments and results are hidden from this reader
	RequestBytes    int64         // of the arguments
	ResponseBytes   int64         // of the result
	StartedAt       time.Time
	CompletedAt     *time.Time
	Duration        time.Duration // until now, if not ended
	Waited          time.Duration // the part of Duration before the approval was decided; 0: none, or not known
}

// Ran is the part of the duration after a person approved the call.
func (c ToolCall) Ran() time.Duration { return max(0, c.Duration-c.Waited) }

// CallOrigin is the HTTP request of a call.
type CallOrigin struct {
	Address   netip.Addr // of the client; zero: unknown
	RequestID string     // the X-Request-Id of the response; empty: unknown
}

// CallOriginOf parses an address; an invalid one is unknown.
func CallOriginOf(address, requestID string) CallOrigin {
	at, _ := netip.ParseAddr(address) // an invalid address is the zero value
	return CallOrigin{Address: at, RequestID: requestID}
}

// From returns the address as text; "": unknown.
func (o CallOrigin) From() string {
	if !o.Address.IsValid() {
		return ""
	}
	return o.Address.String()
}

// CallProgress is a server's progress notification.
type CallProgress struct {
	Done    *float64 `json:"progress"` // nil: no number
	Total   float64  `json:"total,omitempty"`
	Message string   `json:"message,omitempty"` // remote text, by the tenant's CallHistory
}
