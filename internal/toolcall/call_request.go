package toolcall

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// CallRequest is a tool call to make. Its raw parts are not read after [Executor.Call] returns.
type CallRequest struct {
	View      *agentview.View
	Tool      *agentview.Tool
	Arguments json.RawMessage // an object; empty: none
	Meta      json.RawMessage // _meta of the request, an object; empty: none
	Source    connectors.CallSource
	ActorName string                   // the person or key behind the agent, if any
	Token     *connectors.AgentTokenID // the request's agent token
	Origin    connectors.CallOrigin    // the request's origin

	ID connectors.ToolCallID // of the call; zero: a new one
	// NoWait: a call that needs approval returns CodeApprovalPending at once, and runs after approval.
	NoWait bool

	// Read: Arguments are valid JSON without surrounding white space.
	ArgumentsValid bool
	// Lend: the caller releases [Outcome.PooledResult] when it has used Raw.
	AllowPooled bool

	// TaskTTL is how long a client with HandshakeTasks wants its task kept; 0: not said.
	TaskTTL time.Duration

	Client
	// Timeout is how long the server may take, at most the connector's; 0: the connector's. A call that runs after a decision
	// has the connector's.
	Timeout time.Duration
	Input   *mcp.Input // resumes a call after an InputRequired outcome, with its state

	isOwn bool // a person's own call: the view's agent, if any, is only the owner of the credential
}

// Client is the caller, and what it receives and supports while it waits. The zero value receives nothing and supports
// nothing.
type Client struct {
	// Caller decides which managed accounts serve the request.
	Caller connectors.Caller
	// Progress receives params of progress notifications, without a token; nil: dropped.
	Progress func(params json.RawMessage)
	// Message receives other notifications of the server; nil: dropped.
	Message func(method string, params json.RawMessage)
	// LogLevel is the minimum level of the server's log messages; empty: not set.
	LogLevel string
	// BetweenCalls receives the params of log messages that a connector's server sends while the client makes no request
	// there, until the server's session ends. Those of sessions that agents share are dropped. nil: all are. It must not block.
	BetweenCalls func(connectorSlug string, params json.RawMessage)
	// SessionKey is the client's session, if BetweenCalls is set.
	SessionKey string
	// SendRequest sends a server's request to the client during the call; nil: not supported.
	SendRequest func(context.Context, mcp.InputRequest) (json.RawMessage, error)
	// MultiRound: the client answers InputRequired with another request.
	MultiRound bool
	// Task: the client accepts a task as result.
	Task bool
	// HandshakeTasks: the client has tasks of 2025-11-25, and asks for a task in the call.
	HandshakeTasks bool
	// Session is notified when an account is connected (2025-11-25); empty: none.
	Session string
	// StatusSession is told what others do to its tasks (2025-11-25); empty: none.
	StatusSession string
	// Capabilities are the client's own JSON object; empty: none.
	Capabilities json.RawMessage
	// Wait lets the request wait while the database is away; nil: it fails at once.
	Wait *store.WaitBudget
}

// Outcome is the outcome of a call. A refused call has only Call. At most one of Task and InputRequired is
// true; neither: the call is done.
type Outcome struct {
	CallID connectors.ToolCallID
	// Raw is the server's result. In a task and an InputRequired result, ids and states are sealed handles.
	Raw           json.RawMessage
	IsError       bool // the tool reports an error
	Task          bool // Raw is a task; poll it with TaskRequest
	InputRequired bool // Raw requests input; call again with Input
	// Call is the call's record, also with an error. Its ID is zero if no call began.
	Call connectors.ToolCall

	lent *mcp.Result // owner of Raw's memory; nil: the caller may keep Raw
}

// PooledResult owns Raw's memory, and is to be released once after the last use of Raw; nil: the caller may keep Raw.
func (o *Outcome) PooledResult() *mcp.Result { return o.lent }
