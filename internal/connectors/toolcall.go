package connectors

import (
	"net/netip"
	"time"
)

// CallStatus is how far a tool call is.
type CallStatus string

// The statuses. The last four are ends.
const (
	CallPendingApproval CallStatus = "pending_approval"
	CallRunning         CallStatus = "running"
	CallSuccess         CallStatus = "success"
	CallError           CallStatus = "error" // also where the tool says so itself
	CallDenied          CallStatus = "denied"
	CallCancelled       CallStatus = "cancelled"
)

// Ended tells whether nothing more will come of the call.
func (s CallStatus) Ended() bool { return s != CallPendingApproval && s != CallRunning }

// CallOutcome is the kind of a call's end.
type CallOutcome string

// The outcomes.
const (
	OutcomeNone      CallOutcome = ""           // it has not ended
	OutcomeOK        CallOutcome = "ok"         // a result
	OutcomeToolError CallOutcome = "tool_error" // a result with isError: the tool failed
	OutcomeRPCError  CallOutcome = "rpc_error"  // the server refused the request by a JSON-RPC error
	OutcomeTransport CallOutcome = "transport"  // the server was not reached, or did not answer as MCP wants
	OutcomeRefused   CallOutcome = "refused"    // by policy, before anything was sent
	OutcomeDenied    CallOutcome = "denied"     // by a person
	OutcomeCancelled CallOutcome = "cancelled"
	OutcomeLost      CallOutcome = "lost" // Patchbay's process died meanwhile
)

// CallKind is what was asked for.
type CallKind string

// The kinds.
const (
	CallTool       CallKind = "tool"
	CallPrompt     CallKind = "prompt"
	CallResource   CallKind = "resource"
	CallCompletion CallKind = "completion"
)

// CallSource is where a call came in.
type CallSource string

// The sources.
const (
	SourceGateway   CallSource = "gateway"
	SourceAPI       CallSource = "api"
	SourceDashboard CallSource = "dashboard"
)

// CallHistory is what a tenant keeps of arguments and results.
type CallHistory string

// What is kept.
const (
	HistoryNone     CallHistory = "none"     // nothing but sizes
	HistoryRedacted CallHistory = "redacted" // without the values that look like secrets
	HistoryFull     CallHistory = "full"
)

// codeUndelivered is the ErrorCode of a call whose answer did not reach its agent.
const codeUndelivered = "undelivered"

// Undelivered tells whether the agent's client did not take the answer. What came of the call is the same.
func (c *ToolCall) Undelivered() bool { return c.ErrorCode == codeUndelivered }

// MaxHistoryBytes is how much of one call's content the history keeps. The agent gets all.
const MaxHistoryBytes = 200_000

// ToolCall is one call, as the history has it.
type ToolCall struct {
	ID            ToolCallID
	AgentID       *AgentID // nil: the agent was deleted
	AgentSlug     string   // as it was
	ConnectorID   *ConnectorID
	ConnectorSlug string
	Kind          CallKind
	Tool          string // the upstream's name: a tool, a prompt or a URI
	ExposedName   string // as the agent named it
	Source        CallSource
	Caller        string // who called for the agent, where a person or a key did
	CallOrigin           // of the request that began it
	TokenID       *AgentTokenID
	CredentialID  *CredentialID
	Definition    *Hash // the version of the tool's definition
	InstanceID    *InstanceID
	Status        CallStatus
	Outcome       CallOutcome
	ErrorCode     string // empty: none
	ErrorMessage  string // our words
	IsError       bool   // the result says so
	ApprovedBy    string
	Arguments     []byte        // JSON, as the tenant's history says; nil: not kept
	Content       []byte        // likewise
	Structured    []byte        // likewise
	Task          []byte        // the last state of a task, JSON; nil: none
	TaskHandle    string        // by which the agent asks for the task, sealed to it; empty: none
	Progress      *CallProgress // the last that its server said of how far it is; nil: nothing
	Truncated     bool          // content was longer than MaxHistoryBytes
	Withheld      bool          // arguments and results were left out: they are not for this reader
	RequestBytes  int64         // of the arguments
	ResponseBytes int64         // of the result
	StartedAt     time.Time
	CompletedAt   *time.Time
	Duration      time.Duration // until now, where it has not ended
}

// CallOrigin is where a call came from.
type CallOrigin struct {
	Address   netip.Addr // as the audit log has it; not valid: not known
	RequestID string     // of the HTTP request, as its answer's X-Request-Id; empty: not known
}

// CallOriginOf is an origin by an address's text.
func CallOriginOf(address, requestID string) CallOrigin {
	at, _ := netip.ParseAddr(address) // what is no address is none
	return CallOrigin{Address: at, RequestID: requestID}
}

// From is the address's text; empty: it is not known.
func (o CallOrigin) From() string {
	if !o.Address.IsValid() {
		return ""
	}
	return o.Address.String()
}

// CallProgress is how far a call is, in its server's words and numbers.
type CallProgress struct {
	Done    *float64 `json:"progress"` // nil: it gave no number
	Total   float64  `json:"total,omitempty"`
	Message string   `json:"message,omitempty"` // remote text, as the tenant's history keeps contents
}
