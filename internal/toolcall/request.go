package toolcall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
)

// UpstreamRequest is a request other than tools/call to a connector's server.
type UpstreamRequest struct {
	View        *agentview.View
	Connector   *agentview.ConnectorView
	ID          connectors.ToolCallID // in the history; zero: a new one
	Kind        connectors.CallKind   // in the history; empty: not recorded
	Name        string                // in the history: the server's own
	ExposedName string                // the agent's name for it; empty: Name
	Method      string
	Params      json.RawMessage // as sent to the server
	Notify      bool            // a notification: it has no result
	Source      connectors.CallSource
	ActorName   string
	Token       *connectors.AgentTokenID
	Origin      connectors.CallOrigin
	Client

	isByAdmin   bool // needs no grant
	lastCheck   policyCheck
	approvedBy  string                  // the person; empty: no approval
	approvedAs  []byte                  // call hash of the approved use; nil: not approved
	continued   *callState              // the state of an approved use that the request continues; nil: none
	taskSession taskSession             // of the task that the request is about
	entry       *calllog.Entry          // in the history; nil: none
	account     connectors.CredentialID // that a person approved, or that began the request; zero: the one of the grant
	taskEnd     func() error            // refuses new input for a task after the end of its grant; nil: no end
	// send replaces Method and Params; nil: they are sent.
	send func(context.Context, *mcp.Session) (json.RawMessage, error)
}

// SendRequest sends any other request under the same limits as a call, and returns the server's result. Its
// InputRequired results carry a sealed state. A prompt or resource that the grant does not include is refused.
func (c *Executor) SendRequest(ctx context.Context, q UpstreamRequest) (json.RawMessage, error) {
	return c.requests.sendRequest(ctx, q)
}

// requestSender sends requests other than tools/call.
type requestSender struct {
	o          *Options
	running    *runningCalls
	explainer  *explainer
	handles    *handleSealer
	authorizer *authorizer
	limits     *callLimits
	sender     *callSender
	recorder   *callRecorder
	approvals  *approvals
}

// sendRequest is sendRecorded without the record. A use that needs approval waits for it first.
func (rs *requestSender) sendRequest(ctx context.Context, q UpstreamRequest) (json.RawMessage, error) {
	if now := rs.o.Now(); q.needsApproval(now) {
		if a := q.newItemCall(now); !rs.openItemApproval(&q, a) {
			return rs.sendApproved(ctx, q, a)
		}
	}
	raw, _, err := rs.sendRecorded(ctx, q)
	return raw, err
}

// sendRecorded records the request in the history, if it has a kind.
func (rs *requestSender) sendRecorded(ctx context.Context, q UpstreamRequest) (_ json.RawMessage, record connectors.ToolCall, _ error) {
	call := q.newCallRecord(rs.o.Now())
	call.ApprovedBy = q.approvedBy
	callCtx, err := rs.running.beginCall(ctx, call.ID)
	if err != nil {
		return nil, record, err
	}
	defer callCtx.endCall()
	ctx = callCtx
	var entry *calllog.Entry
	if q.Kind != "" {
		entry = rs.o.History.Begin(q.View.Tenant, call)
		q.entry = entry
	}
	var credential *credentials.Credential
	raw, err := rs.runQuery(ctx, q, &credential)
	if entry != nil {
		a := activeCall{call: call, credential: credential, upstream: rs.recorder.readUpstream(ctx, q.View, q.Connector, credential, err)}
		record = entry.End(func(call *connectors.ToolCall) {
			rs.recorder.setOutcome(&a, call, &mcp.Result{Raw: raw, Structured: raw}, err)
		})
		if rs.o.OnEnd != nil {
			rs.o.OnEnd(record)
		}
	}
	return raw, record, err
}

func (q *UpstreamRequest) newCallRecord(now time.Time) connectors.ToolCall {
	exposedName := q.ExposedName
	if exposedName == "" {
		exposedName = q.Name
	}
	if q.ID == (connectors.ToolCallID{}) {
		q.ID = NewCallID()
	}
	var agent *connectors.AgentID
	if q.View.Agent.ID != (connectors.AgentID{}) {
		agent = &q.View.Agent.ID
	}
	return connectors.ToolCall{
		ID: q.ID, AgentID: agent, AgentSlug: q.View.Agent.Slug, ConnectorID: &q.Connector.Connector.ID,
		ConnectorSlug: q.Connector.Connector.Slug, Kind: q.Kind, Tool: q.Name, ExposedName: exposedName, Source: q.Source, Caller: q.ActorName,
		CallOrigin: q.Origin, TokenID: q.Token, Status: connectors.CallRunning, Arguments: q.Params, RequestBytes: int64(len(q.Params)), StartedAt: now,
		CredentialID: accountOrNil(cmp.Or(q.account, q.taskSession.Account, q.Connector.Account)),
	}
}

func (rs *requestSender) runQuery(ctx context.Context, q UpstreamRequest, credential **credentials.Credential) (json.RawMessage, error) {
	owner := slotOwner(q.View)
	if !rs.limits.inFlight.TryAcquire(owner) {
		return nil, tooManyCallsRefusal()
	}
	defer rs.limits.inFlight.Release(owner)
	if err := rs.limits.applyRequestLimits(q.View, q.Connector); err != nil {
		return nil, err
	}
	if err := q.checkPermission(); err != nil {
		return nil, err
	}
	params, err := rs.upstreamParams(&q)
	if err != nil {
		return nil, err
	}
	if err := rs.consumeItemApproval(ctx, &q); err != nil {
		return nil, err
	}
	raw, err := rs.sendQuery(ctx, &q, params, credential)
	if err == nil {
		err = q.checkMethodResult(raw)
	}
	if err == nil {
		raw, err = q.checkResource(raw)
	}
	if err != nil {
		return nil, err
	}
	return rs.sealQueryState(ctx, q, *credential, raw)
}

// sendQuery sends the request and explains errors. A request that waited for the database is checked again
// first.
func (rs *requestSender) sendQuery(ctx context.Context, q *UpstreamRequest, params json.RawMessage, credential **credentials.Credential) (raw json.RawMessage, err error) {
	q.lastCheck = policyCheck{waited: q.Wait.Spent()}
	for {
		if raw, err = rs.sendQueryOnce(ctx, q, params, credential); errors.Is(err, errPolicyStale) {
			q.lastCheck = policyCheck{waited: q.Wait.Spent(), fromDatabase: true}
			if err = rs.recheckQuery(ctx, q); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, rs.explainer.explainError(ctx, q.View, q.Connector, err)
		}
		rs.sender.recordCredentialUse(q.View.Tenant.ID, *credential)
		return raw, nil
	}
}

// sendQueryOnce returns errPolicyStale if the request waited since its last check.
func (rs *requestSender) sendQueryOnce(ctx context.Context, q *UpstreamRequest, params json.RawMessage, credential **credentials.Credential) (raw json.RawMessage, err error) {
	w := rs.sender.newTaskSessionRequest(q.View, q.Connector, q.taskSession, q.Client)
	if q.account != (connectors.CredentialID{}) {
		w.Pinned = q.account
	}
	w.ByID = q.Method == "tasks/cancel" && q.taskSession.hasAccount() // a task can be ended after the grant binds another account
	w.Retryable = q.Kind != "" && q.Kind != connectors.CallMethod || q.Method == "tasks/get"
	ctx, query, done := q.buildQuery(ctx, params)
	defer done()
	wasSent := false
	isBegun := q.account != connectors.CredentialID{} || q.taskSession.Account != connectors.CredentialID{}
	err = rs.sender.withBreaker(ctx, q.View, q.Connector, func() error {
		return rs.sender.withSession(ctx, w, credential, func(s *mcp.Session) error {
			if !wasSent && q.lastCheck.isStale(q.Wait) {
				return errPolicyStale
			}
			if err := q.checkEnd(); err != nil {
				return err
			}
			wasSent = true
			setEntryAccount(q.entry, *credential)
			switch {
			case q.send != nil:
				raw, err = q.send(ctx, s)
			case q.Notify:
				err = s.Notify(ctx, q.Method, params)
			default:
				query.BetweenCalls, query.OwnStreamOnly = q.messageReceiver(q.Connector, s)
				raw, err = q.sendTraced(ctx, s, query)
			}
			return err
		})
	})
	if !wasSent && !isBegun && q.lastCheck.isViewStale(err) {
		err = errPolicyStale
	}
	return raw, err
}

// recheckQuery checks token, agent and connector again.
func (rs *requestSender) recheckQuery(ctx context.Context, q *UpstreamRequest) error {
	switch err := rs.authorizer.checkToken(ctx, q.Token, q.Wait); {
	case fault.Is(err, fault.Unauthenticated):
		return &RefusalError{Code: CodeNotGranted, Sentence: "The request's token expired or was revoked. Sign in again or use another."}
	case err != nil:
		return err
	}
	view, err := rs.authorizer.loadFreshView(ctx, q.View, q.Wait)
	if err != nil {
		return err
	}
	if !view.Agent.Enabled {
		return disabledRefusal()
	}
	connector := view.Connector(q.Connector.Slug)
	if connector == nil || connector.Connector.ID != q.Connector.Connector.ID || ItemRefusal(view, connector, q.Kind, q.Name) != nil {
		return &RefusalError{Code: CodeNotGranted, Sentence: "This agent lost access to what it requested."}
	}
	q.View, q.Connector = view, connector
	if q.needsApproval(rs.o.Now()) {
		return approvalNeededRefusal()
	}
	return nil
}

// buildQuery builds the upstream request. Each progress notification restarts its timeout: the returned context
// ends when that is over.
func (q *UpstreamRequest) buildQuery(ctx context.Context, params json.RawMessage) (_ context.Context, query mcp.OtherRequest, done func()) {
	query = mcp.OtherRequest{Method: q.Method, Params: params, LogLevel: q.LogLevel, Message: q.messageHandler(&q.Connector.Connector), MemoryKey: q.View.Tenant.ID.UUID}
	if q.Progress == nil {
		return ctx, query, func() {}
	}
	ctx, w := newWatchdog(ctx, q.Connector.Connector.Timeout)
	query.Timeout = maxCallTime
	query.Progress = func(n mcp.ProgressNotification) {
		w.resetTimer()
		q.Progress(progressParams(n))
	}
	return ctx, query, w.stop
}

// queryHash identifies the request in its state.
func (q *UpstreamRequest) queryHash() []byte {
	sum := sha256.Sum256([]byte(q.Connector.Connector.ID.String() + " " + q.Method + " " + q.Name))
	return sum[:]
}

// upstreamParams replaces a sealed requestState by the server's own. The request is for the account that got it.
func (rs *requestSender) upstreamParams(q *UpstreamRequest) (json.RawMessage, error) {
	handle, _ := findMember(q.Params, "requestState")
	if handle == nil {
		return q.Params, nil
	}
	var s callState
	if isAmbiguous(q.Params) || !rs.handles.openHandle(q.View, purposeState, handle, &s) || string(s.Call) != string(q.queryHash()) {
		return nil, &InvalidArgumentsError{Sentence: "The requestState belongs to another request. Repeat the request without it."}
	}
	if err := checkKeptAccount(s.Account, q.Connector); err != nil {
		return nil, err
	}
	q.account = cmp.Or(s.Account, q.account)
	if len(s.State) == 0 {
		s.State = json.RawMessage("null")
	}
	return withMember(q.Params, "requestState", s.State), nil
}

// sealQueryState seals the requestState of an InputRequired result.
func (rs *requestSender) sealQueryState(
	ctx context.Context, q UpstreamRequest, credential *credentials.Credential, raw json.RawMessage,
) (json.RawMessage, error) {
	if kind, _ := findMember(raw, "resultType"); string(kind) != `"input_required"` {
		return raw, nil
	}
	if err := checkInputRequest(raw, q.Client, q.Connector.Connector); err != nil {
		return nil, err
	}
	upstreamState, _ := findMember(raw, "requestState")
	state := callState{State: upstreamState, Call: q.queryHash(), Account: usedAccount(credential)}
	if q.approvedAs != nil {
		state.Approved, state.Item, state.Until = q.approvedBy, q.approvedAs, rs.o.Now().Add(stateTTL)
		state.Once = onceMailboxPrefix + NewCallID().String()
		if err := rs.handles.putOnceMail(ctx, q.View, q.Wait, state); err != nil {
			return nil, rs.explainer.explainError(ctx, q.View, q.Connector, err)
		}
	}
	handle, err := rs.handles.sealHandle(q.View, purposeState, state)
	if err != nil {
		return nil, err
	}
	return withMember(raw, "requestState", handle), nil
}
