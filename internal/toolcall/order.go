package toolcall

import (
	"context"
	"encoding/json"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// Order is a tool call to be made. Its raw parts are looked at until [Caller.Call] returns, and no longer.
type Order struct {
	View      *access.View
	Tool      *access.Tool
	Arguments json.RawMessage // an object; empty: none
	Meta      json.RawMessage // _meta of the request, an object; empty: none
	Source    connectors.CallSource
	Caller    string                   // who calls for the agent, where a person or a key does
	Token     *connectors.AgentTokenID // with which the agent came
	From      connectors.CallOrigin    // the request that brings it

	ID connectors.ToolCallID // of the call; zero: a new one
	// Impatient: where a person has to agree, nobody waits: the refusal is CodeApprovalPending at once, and the call is made when it is
	// approved.
	Impatient bool

	// Read: Arguments were read before, and are valid JSON without white space around it.
	Read bool
	// Lend: the caller says by releasing [Outcome.Lent] when nobody looks at the outcome's Raw any more.
	Lend bool

	Client
	Input *mcp.Input // goes on with a call whose outcome was InputRequired; the state is the one that was handed out
}

// Client is what the one who waits for the answer hears and can do. The zero value hears nothing and can nothing.
type Client struct {
	// Progress takes the params of a progress notification, without a token; nil: nobody listens.
	Progress func(params json.RawMessage)
	// Message takes what else the server says meanwhile; nil: nobody listens.
	Message func(method string, params json.RawMessage)
	// LogLevel is from which level on it wants to hear the server's log messages; empty: it did not say.
	LogLevel string
	// Ask has the client answer a request of the server; nil: it cannot be asked in between.
	Ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// MultiRound: the client can send the call again with what was asked for (InputRequired).
	MultiRound bool
	// Task: the client can take a task in place of a result.
	Task bool
	// Session is that of a client which hears there that an account is there (2025-11-25); empty: it does not.
	Session string
	// Capabilities are the client's, as it wrote them: an object; empty: none.
	Capabilities json.RawMessage
	// Wait lets the request wait while the database is away; nil: it does not.
	Wait *store.WaitBudget
}

// Outcome is what came of a call. Where it was refused, there is only Call: as it is on record. At most one of Task and InputRequired is true; neither: the call is done.
type Outcome struct {
	CallID connectors.ToolCallID
	// Raw is the result as the server wrote it; in a task and in a request for input, its ids and states are ours.
	Raw           json.RawMessage
	IsError       bool // the tool says that it failed
	Task          bool // Raw is a task; ask for it by TaskRequest
	InputRequired bool // Raw asks for input; call again with Input
	// Call is the call as the history has it, or will have it; with an error, too, unless nothing was begun (then its ID is zero).
	Call connectors.ToolCall

	lent *mcp.Result // where Raw stands; nil: it is the caller's to keep
}

// Lent is where Raw stands, which is to be released once, when nobody looks at Raw any more; nil: it is the caller's to keep.
func (o *Outcome) Lent() *mcp.Result { return o.lent }
