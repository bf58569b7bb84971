package toolcall

import (
	"cmp"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
)

// activeCall is one call in progress.
type activeCall struct {
	request    *CallRequest
	connector  *agentview.ConnectorView
	call       connectors.ToolCall     // as recorded at the start
	entry      *calllog.Entry          // nil: not recorded yet
	credential *credentials.Credential // the credential sent last; nil: none
	account    connectors.CredentialID // that a person approved, or that began the call; zero: the one of the grant

	charge  quotaCharge
	wasSent bool // the request was sent: the server may have received it
	// inNewSession: the server had lost the session, and the call was repeated in another one.
	inNewSession bool

	lastCheck  policyCheck
	approval   *connectors.Approval // claimed by this process; nil: none
	claimedCtx *callContext         // of an approval that an earlier request asked for; nil: this request did

	resumed      *callState // state in CallRequest.Input; nil: a new call
	registeredID connectors.ToolCallID
	hasWaiter    bool // a request receives the result of an approved call directly
	mayLend      bool // the outcome's memory may be lent
	output       outputCheck

	taskSession taskSession     // of the task that the server made of the call
	lastTask    *mcp.Task       // last state of the task that this process waits for; nil: none
	taskUnknown bool            // the server told so, of lastTask
	taskHandle  json.RawMessage // the agent's, in a request about a task; nil: the call is not one

	resetTimeout func() // of the watchdog; nil: none
	sentProgress sentProgress
	lastNote     atomic.Pointer[mcp.ProgressNotification] // last notification of progress; nil: none

	upstream *connectors.Upstream // what the server of the failure said, for admins; nil: nothing
}

func newActiveCall(request *CallRequest, now time.Time) *activeCall {
	a := &activeCall{request: request, connector: request.Tool.Connector, hasWaiter: !request.NoWait}
	a.call, a.lastCheck.waited = a.newCallRecord(now), request.Wait.Spent()
	a.registeredID = a.call.ID
	return a
}

func (a *activeCall) newCallRecord(now time.Time) connectors.ToolCall {
	request, connector := a.request, &a.connector.Connector
	id := request.ID
	if id == (connectors.ToolCallID{}) {
		id = NewCallID()
	}
	call := connectors.ToolCall{
		ID: id, ConnectorID: &connector.ID, ConnectorSlug: connector.Slug,
		Kind: connectors.CallTool, Tool: request.Tool.Name, ExposedName: request.Tool.Exposed, Source: request.Source, Caller: request.ActorName, CallOrigin: request.Origin,
		TokenID: request.Token, Definition: &request.Tool.Hash, Status: connectors.CallRunning, Arguments: request.Arguments, RequestBytes: int64(len(request.Arguments)),
		StartedAt: now,
	}
	if !request.isOwn {
		call.AgentID, call.AgentSlug = &request.View.Agent.ID, request.View.Agent.Slug
	}
	return call
}

// NewCallID returns an id for [CallRequest].
func NewCallID() connectors.ToolCallID {
	return connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())} // fails only without a source of randomness
}

// knownAccount is the account that the call is for if it is known before its credential is read; nil: it is not. The row has it from the
// beginning, so that another process that ends the call knows it.
func (a *activeCall) knownAccount() *connectors.CredentialID {
	return accountOrNil(cmp.Or(a.account, a.connector.Account))
}

func accountOrNil(id connectors.CredentialID) *connectors.CredentialID {
	if id == (connectors.CredentialID{}) {
		return nil
	}
	return &id
}

// rawArguments are the call's arguments, always an object.
func (a *activeCall) rawArguments() json.RawMessage {
	if len(a.request.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return a.request.Arguments
}
