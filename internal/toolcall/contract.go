package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

var errNotYet = errors.New("not built yet")

// Caller makes calls. It is safe for concurrent use.
type Caller struct{ o Options }

// New makes a Caller. Start begins what goes on besides the calls, Stop ends it.
func New(o Options) *Caller { return &Caller{o: o} }

// Start begins what goes on besides the calls: approved calls that nobody waits for, and what has lapsed.
func (c *Caller) Start(ctx context.Context) {}

// Stop lets what is under way end until ctx is done, cuts the rest off, and waits. No call begins any more. The history is the
// caller's to stop, after this.
func (c *Caller) Stop(ctx context.Context) {}

// Hear takes a notice of [store.Store.Watch].
func (c *Caller) Hear(n store.Notice) {}

// Connected takes the state of [store.Store.Watch]: while nobody listens, no credential is trusted for longer than a second.
func (c *Caller) Connected(yes bool) {}

// Call makes a tool call. The errors that a client is told of are *Refusal, *BadArguments, and *mcp.Error with the RPC error of the
// server.
func (c *Caller) Call(ctx context.Context, o Order) (Outcome, error) { return Outcome{}, errNotYet }

// Query is any other request to a connector's server.
type Query struct {
	View   *access.View
	Reach  *access.Reach
	Kind   connectors.CallKind // what the history has it as; empty: nothing
	Name   string              // for the history: the upstream's
	Shown  string              // as the agent named it; empty: as Name
	Method string
	Params json.RawMessage // as the server wants them
	Source connectors.CallSource
	Caller string
	Token  *connectors.AgentTokenID
	Client
}

// Request sends any other request, under the same policy as a call, and returns the result as the server wrote it.
func (c *Caller) Request(ctx context.Context, q Query) (json.RawMessage, error) {
	return nil, errNotYet
}

// TaskRequest sends tasks/get, tasks/update or tasks/cancel of a task that a call's outcome named. params are the client's, with our
// id. An id that is not this agent's is a *BadArguments.
func (c *Caller) TaskRequest(ctx context.Context, v *access.View, method string, params json.RawMessage) (json.RawMessage, error) {
	return nil, errNotYet
}

// Decision is what a person says of a call that waits.
type Decision struct {
	Approve bool
	Reason  string
	Allow   time.Duration // approve, and ask nobody about this tool of this agent for so long; 0: this call alone
}

// Decide approves or denies a call that waits. A second decision is a Conflict.
func (c *Caller) Decide(ctx context.Context, a auth.Actor, id connectors.ToolCallID, d Decision) (connectors.ToolCall, error) {
	return connectors.ToolCall{}, errNotYet
}

// Cancel ends a call that waits or runs, in whatever process. It is a Conflict where the call has ended.
func (c *Caller) Cancel(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (connectors.ToolCall, error) {
	return connectors.ToolCall{}, errNotYet
}

// Waiting is a call that waits for a person, with what the person should see.
type Waiting struct {
	connectors.Approval
	Arguments json.RawMessage // all of them, whatever the history keeps
}

// Approval shows a call that waits, or waited, for a person.
func (c *Caller) Approval(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (Waiting, error) {
	return Waiting{}, errNotYet
}

// CircuitState is what the breaker of a server does.
type CircuitState string

// The states.
const (
	CircuitClosed   CircuitState = "closed"    // calls go through
	CircuitOpen     CircuitState = "open"      // calls are refused until Until
	CircuitHalfOpen CircuitState = "half_open" // one call tries
)

// Circuit is the breaker of one connector's server, in this process.
type Circuit struct {
	State    CircuitState
	Failures int       // in a row
	Until    time.Time // where it is open
}

// Circuit shows the breaker of a connector's server.
func (c *Caller) Circuit(t connectors.TenantID, id connectors.ConnectorID) Circuit {
	return Circuit{State: CircuitClosed}
}
