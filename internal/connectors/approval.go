package connectors

import "time"

// ApprovalState is how far an approval is.
type ApprovalState string

// The states.
const (
	ApprovalWaiting   ApprovalState = "waiting"
	ApprovalApproved  ApprovalState = "approved" // decided, and not begun yet
	ApprovalDenied    ApprovalState = "denied"
	ApprovalLapsed    ApprovalState = "lapsed"    // nobody decided in time
	ApprovalExecuting ApprovalState = "executing" // by one process, once
	ApprovalDone      ApprovalState = "done"
	ApprovalUnknown   ApprovalState = "unknown" // the process died while it executed the call
)

// Approval is a tool call that waits, or waited, for a person.
type Approval struct {
	ID          ToolCallID
	AgentID     AgentID
	ConnectorID ConnectorID
	Tool        string // the upstream's name
	ExposedName string
	Definition  Hash   // the definition that was there when it was asked for
	CallHash    []byte // of agent, connector, tool and arguments
	State       ApprovalState
	AskedAt     time.Time
	ExpiresAt   time.Time // when it lapses
	DecidedAt   *time.Time
	DecidedBy   string
	Reason      string // the person's words
	InstanceID  *InstanceID
	FetchedAt   *time.Time // when the agent got the result
}

// Allowance lets an agent call one tool without asking, for a while.
type Allowance struct {
	ConnectorID ConnectorID
	Tool        string
	Definition  Hash // of the tool as the person saw it
	Until       time.Time
	GrantedBy   string
}

// ItemKind is what a server offers besides tools.
type ItemKind string

// The kinds.
const (
	ItemPrompt   ItemKind = "prompt"
	ItemResource ItemKind = "resource"
	ItemTemplate ItemKind = "template"
)

// Item is a prompt, a resource or a resource template, as the server listed it.
type Item struct {
	Kind ItemKind
	Key  string // the name, the URI or the URI template
	Raw  []byte // one JSON object, byte for byte
}
