package toolcall

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// The use of a prompt or a resource waits for approval in the mode always_ask_all, as a tool call does. It runs in the request
// that waits, or when the agent makes the same request again: it only reads, so that no process runs it without one.

// needsApproval reports whether the request is a use of a prompt or a resource that waits for a person.
func (q *UpstreamRequest) needsApproval(now time.Time) bool {
	return q.approvedAs == nil && q.Connector.ItemNeedsApprovalAt(q.View.Agent.Approval, q.Kind, q.Name, now)
}

// newItemCall represents the use of a prompt or a resource as a call, for the steps of approval.
func (q *UpstreamRequest) newItemCall(now time.Time) *activeCall {
	arguments, _ := findMember(q.Params, "arguments")
	if q.Kind == connectors.CallResource {
		arguments = withMember([]byte("{}"), "uri", quoteString(q.Name))
	}
	record := q.newCallRecord(now)
	request := &CallRequest{
		View: q.View, Tool: &agentview.Tool{Name: q.Name, Exposed: record.ExposedName, Connector: q.Connector}, Arguments: arguments,
		Source: q.Source, ActorName: q.ActorName, Token: q.Token, Origin: q.Origin, ID: record.ID, Client: q.Client,
	}
	a := newActiveCall(request, now)
	a.call.Kind, a.call.Definition = q.Kind, nil
	return a
}

// openItemApproval reports whether the request continues an approved use.
func (rs *requestSender) openItemApproval(q *UpstreamRequest, a *activeCall) (approved bool) {
	handle, _ := findMember(q.Params, "requestState")
	var s callState
	if handle == nil || isAmbiguous(q.Params) || !rs.handles.openHandle(q.View, purposeState, handle, &s) {
		return false
	}
	if s.Item == nil || string(s.Item) != string(a.callHash()) || !rs.o.Now().Before(s.Until) {
		return false
	}
	q.approvedBy, q.approvedAs, q.continued = s.Approved, s.Item, &s
	return true
}

// consumeItemApproval uses up the approval of a continued use. A use that cannot run now keeps it.
func (rs *requestSender) consumeItemApproval(ctx context.Context, q *UpstreamRequest) error {
	if q.continued == nil {
		return nil
	}
	a := q.newItemCall(rs.o.Now())
	a.account = q.account
	if err := rs.sender.checkReady(ctx, a); err != nil {
		return err
	}
	return rs.handles.takeOnceMail(ctx, q.View, q.Connector, q.Wait, q.continued)
}

// sendApproved sends the request when a person has approved it.
func (rs *requestSender) sendApproved(ctx context.Context, q UpstreamRequest, a *activeCall) (json.RawMessage, error) {
	callCtx, err := rs.running.beginCall(ctx, a.call.ID)
	if err != nil {
		return nil, err
	}
	defer callCtx.endCall()
	ctx = callCtx
	agent := q.View.Agent.ID
	if !rs.limits.inFlight.TryAcquire(agent) {
		_, err := rs.recorder.recordRefusal(a, tooManyCallsRefusal())
		return nil, err
	}
	defer rs.limits.inFlight.Release(agent)
	params, err := rs.checkItem(ctx, &q, a)
	if err != nil {
		_, err = rs.recorder.recordRefusal(a, err)
		return nil, err
	}
	row, err := rs.approvals.requestApproval(ctx, a)
	if err != nil {
		_, err = rs.recorder.recordRefusal(a, rs.explainer.explainError(ctx, q.View, q.Connector, err))
		return nil, err
	}
	a.call.ID, a.call.Status = row.ID, connectors.CallPendingApproval
	out, err := rs.approvals.waitForApproval(ctx, a, row.ID)
	if a.approval == nil {
		return out.Raw, err
	}
	if a.claimedCtx != nil {
		defer a.claimedCtx.endCall()
		ctx = a.claimedCtx
	}
	out, err = rs.runApprovedItem(ctx, q, a, params)
	return out.Raw, err
}

// checkItem refuses a request about which no person is to be asked, and returns what is sent to the server.
func (rs *requestSender) checkItem(ctx context.Context, q *UpstreamRequest, a *activeCall) (json.RawMessage, error) {
	if err := rs.limits.applyRequestLimits(q.View, q.Connector); err != nil {
		return nil, err
	}
	if refusal := ItemRefusal(q.View, q.Connector, q.Kind, q.Name); refusal != nil {
		return nil, refusal
	}
	params, err := rs.upstreamParams(q)
	if err != nil {
		return nil, err
	}
	a.account = q.account // of the server's state
	return params, rs.approvals.checkRequest(ctx, a)
}

// runApprovedItem sends a claimed request and stores its result. It is checked again first.
func (rs *requestSender) runApprovedItem(ctx context.Context, q UpstreamRequest, a *activeCall, params json.RawMessage) (out Outcome, err error) {
	row := *a.approval
	rs.approvals.beginApproved(ctx, a, row)
	a.charge = quotaCharge{} // quotas are of tools
	defer func() { rs.approvals.saveResultWithRetry(ctx, a, q.View.Tenant.ID, row.ID, out, err) }()
	defer rs.recorder.recoverPanic(a, &out, &err)
	q.ID, q.approvedBy, q.approvedAs, q.account = row.ID, row.DecidedBy, a.callHash(), row.Account
	raw, err := rs.sendRechecked(ctx, &q, a, params)
	if err != nil {
		return rs.recorder.finishCall(ctx, a, nil, err)
	}
	return rs.recorder.finishCall(ctx, a, &mcp.Result{Raw: raw, Structured: raw}, nil)
}

func (rs *requestSender) sendRechecked(ctx context.Context, q *UpstreamRequest, a *activeCall, params json.RawMessage) (json.RawMessage, error) {
	if err := rs.recheckQuery(ctx, q); err != nil {
		return nil, rs.explainer.explainError(ctx, q.View, q.Connector, err)
	}
	if err := checkKeptAccount(q.account, q.Connector); err != nil {
		return nil, err
	}
	raw, err := rs.sendQuery(ctx, q, params, &a.credential)
	if err == nil {
		raw, err = q.checkResource(raw)
	}
	if err != nil {
		return nil, err
	}
	return rs.sealQueryState(ctx, *q, a.credential, raw)
}
