package connectors

import "time"

// ApprovalState is the state of an approval.
type ApprovalState string

// The states.
const (
	ApprovalWaiting   ApprovalState = "waiting"
	ApprovalApproved  ApprovalState = "approved" // not yet started
	ApprovalDenied    ApprovalState = "denied"
	ApprovalLapsed    ApprovalState = "lapsed"    // not decided in time
	ApprovalExecuting ApprovalState = "executing" // by exactly one process
	ApprovalDone      ApprovalState = "done"
	ApprovalUnknown   ApprovalState = "unknown" // the process died during the call
)

// Approval is a request that a person must approve, or has decided: a tool call, or the use of a prompt or a resource.
type Approval struct {
	ID          ToolCallID
	AgentID     AgentID
	ConnectorID ConnectorID
	Kind        CallKind // CallTool, CallPrompt or CallResource
	Tool        string   // the upstream's name; of a resource the URI
	ExposedName string
	Definition  Hash   // the definition at the time of the call; zero for prompts and resources
	CallHash    []byte // of agent, connector, tool and arguments
	State       ApprovalState
	AskedAt     time.Time
	ExpiresAt   time.Time
	DecidedAt   *time.Time
	DecidedBy   string
	Reason      string // the person's
	InstanceID  *InstanceID
	FetchedAt   *time.Time   // when the agent got the result
	Caller      Caller       // of the first request for the call
	Account     CredentialID // that the call is for; zero: it needs none, or a previous release stored it
}

// MaxAllowedItem bounds the name or URI of an allowance for a prompt or a resource, in bytes. A longer one is used with
// approval alone.
const MaxAllowedItem = 2000

// AllowanceKey identifies an allowance of an agent.
type AllowanceKey struct {
	ConnectorID ConnectorID
	Kind        CallKind // CallTool, CallPrompt or CallResource
	Tool        string   // the upstream's name; of a resource the URI
	AccountName string   // that is allowed, of a grant that binds several; empty: it does not
}

// Allowance lets an agent use one tool, prompt or resource without approval for a limited time.
type Allowance struct {
	AllowanceKey
	Definition Hash // of the tool as the person saw it; zero for prompts and resources
	Until      time.Time
	GrantedBy  string
	Account    CredentialID // that the approved call was for, which the grant must bind; zero: none. It is not stored
}

// CanAllow reports whether what the approval is about can be allowed for a time.
func (a Approval) CanAllow() bool { return a.Kind == CallTool || len(a.Tool) <= MaxAllowedItem }
