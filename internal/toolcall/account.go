package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// A call that lacks the agent's own account asks for one, if its client can open a page. Nothing was sent to
// the server.
//
//	2026-07-28   Call ──► InputRequired: the page, and a state that names the account request
//	             Call with the state, in any process ──► waits for the account ──► policy is checked again ──► the call, once
//	2025-11-25   Call ──► a refusal with the page and the request's id ──► its session is notified (package gateway)
//
// The page requires a sign-in, so its address alone gives no access.

const (
	accountRequestTTL = 30 * time.Minute // as long as a person may take to sign in at the server
	accountInputKey   = "account"
	purposeAccount    = "account state"
)

type accountState struct {
	Request connectors.AccountRequestID `json:"r"`
	Call    []byte                      `json:"c"`
}

// accountRequests are the calls that ask for an account and wait for it.
type accountRequests struct {
	o          *Options
	running    *runningCalls
	waiters    *waiterSet
	explainer  *explainer
	handles    *handleSealer
	authorizer *authorizer
	limits     *callLimits
	recorder   *callRecorder
	waits      *limit.Gate[connectors.AccountRequestID] // one for each request
}

// addConnectURL adds to a refusal the page on which a person connects the missing account.
func (e *explainer) addConnectURL(ctx context.Context, v *agentview.View, r *agentview.ConnectorView, refusal *RefusalError) {
	connector := r.Connector
	perAgent := connector.CredentialMode == connectors.CredentialPerAgent && connector.Auth.Type != connectors.AuthNone
	if errors.Is(refusal.Err, credentials.ErrTooManyStepUps) || !perAgent && connector.Auth.Type != connectors.AuthOAuth2 || len(r.Grant.Accounts) > 1 {
		return
	}
	if e.o.ConnectURL != nil {
		refusal.ConnectURL = e.o.ConnectURL(ctx, v.Tenant.ID, connector, v.Agent, r.Grant.Account())
	}
	if perAgent && e.o.AccountPage != nil {
		refusal.connectPage = e.o.AccountPage(ctx, v.Tenant.ID, connector, v.Agent, r.Grant.Account())
	}
}

// requestAccount replaces a refusal for a missing account by a request for one, if the client supports that.
func (ac *accountRequests) requestAccount(ctx context.Context, o *CallRequest, out Outcome, err error) (Outcome, error) {
	r, ok := errors.AsType[*RefusalError](err)
	if !ok || r.connectPage == "" || o.Input != nil || o.NoWait || out.Call.ApprovedBy != "" || !parseCapabilities(o.Capabilities).canOpenURLs() {
		return out, err
	}
	if !o.MultiRound && o.Session == "" {
		return out, err
	}
	request, requestErr := ac.saveAccountRequest(ctx, o)
	if requestErr != nil {
		ac.o.Log.WarnContext(ctx, "account request not sent", "tenant_id", o.View.Tenant.ID, "error", requestErr)
		return out, err
	}
	if !o.MultiRound {
		r.Elicit = &Elicitation{ID: request, URL: r.connectPage, Message: accountPrompt(o)}
		return out, err
	}
	raw, err := ac.accountInputRequired(o, request, r.connectPage)
	return Outcome{CallID: out.CallID, Call: out.Call, Raw: raw, InputRequired: err == nil}, err
}

// saveAccountRequest stores a request once. If the database is away, the call waits for it.
func (ac *accountRequests) saveAccountRequest(ctx context.Context, request *CallRequest) (id connectors.AccountRequestID, err error) {
	n := ac.newAccountRequest(request)
	err = ac.o.Store.Retry(ctx, request.Wait, func(ctx context.Context) error {
		id, err = ac.o.Store.Tenant(request.View.Tenant.ID).Accounts().RequestAccount(ctx, n)
		return err
	})
	return id, err
}

func (ac *accountRequests) newAccountRequest(request *CallRequest) store.NewAccountRequest {
	now := ac.o.Now()
	n := store.NewAccountRequest{ID: store.NewAccountRequestID(), Agent: request.View.Agent.ID, Connector: request.Tool.Connector.Connector.ID, Now: now, ExpiresAt: now.Add(accountRequestTTL)}
	if !request.MultiRound {
		n.Session = request.Session
	}
	return n
}

// Elicitation is a page for the client to open (MCP 2025-11-25, URL mode).
type Elicitation struct {
	ID      connectors.AccountRequestID
	URL     string
	Message string
}

func accountPrompt(request *CallRequest) string {
	return fmt.Sprintf("%q needs your account. Connect it in Patchbay, and the call continues.", request.Tool.Connector.Connector.Name)
}

// accountInputRequired is the InputRequired result that asks for an account.
func (ac *accountRequests) accountInputRequired(o *CallRequest, request connectors.AccountRequestID, page string) (json.RawMessage, error) {
	handle, err := ac.handles.sealHandle(o.View, purposeAccount, accountState{Request: request, Call: newActiveCall(o, ac.o.Now()).callHash()})
	if err != nil {
		return nil, err
	}
	return json.RawMessage(fmt.Sprintf(
		`{"resultType":"input_required","inputRequests":{%q:{"method":"elicitation/create","params":{"mode":"url","message":%s,"url":%s}}},"requestState":%s}`,
		accountInputKey, quoteString(accountPrompt(o)), quoteString(page), handle)), nil
}

// resumeAfterAccount resumes a call that lacked an account. If done, the outcome is final.
func (ac *accountRequests) resumeAfterAccount(ctx context.Context, request *CallRequest) (_ Outcome, done bool, _ error) {
	if request.Input == nil {
		return Outcome{}, false, nil
	}
	var s accountState
	if !ac.handles.openHandle(request.View, purposeAccount, request.Input.State, &s) {
		return Outcome{}, false, nil
	}
	a := newActiveCall(request, ac.o.Now())
	if string(s.Call) != string(a.callHash()) {
		return ac.recorder.endWithRefusal(a, staleAccountError())
	}
	if action := findElicitationAction(request.Input); action == "decline" || action == "cancel" {
		refusal := &RefusalError{Code: CodeCredentialRequired, Sentence: fmt.Sprintf("The account for %q wasn't connected.", a.connector.Connector.Name)}
		ac.explainer.addConnectURL(ctx, request.View, a.connector, refusal)
		return ac.recorder.endWithRefusal(a, refusal)
	}
	callCtx, err := ac.running.beginCall(ctx, a.call.ID)
	if err != nil {
		return Outcome{}, true, err
	}
	defer callCtx.endCall()
	ctx = callCtx
	agent := request.View.Agent.ID
	if !ac.limits.inFlight.TryAcquire(agent) {
		return ac.recorder.endWithRefusal(a, tooManyCallsRefusal())
	}
	defer ac.limits.inFlight.Release(agent)
	if !ac.waits.TryAcquire(s.Request) { // each waiter polls the database, and only one may go on
		return ac.recorder.endWithRefusal(a, accountBusyRefusal())
	}
	defer ac.waits.Release(s.Request)
	connected, err := ac.waitForAccount(ctx, request, s.Request)
	switch {
	case err != nil:
		return ac.recorder.endWithRefusal(a, err)
	case !connected: // the client decides whether to wait on
		raw, err := ac.accountInputRequired(request, s.Request, ac.o.AccountPage(ctx, request.View.Tenant.ID, a.connector.Connector, request.View.Agent, a.connector.Grant.Account()))
		return Outcome{Raw: raw, InputRequired: err == nil}, true, err
	}
	if err := ac.authorizer.reauthorize(ctx, a); err != nil {
		return ac.recorder.endWithRefusal(a, ac.explainer.explainBlocked(ctx, a, err))
	}
	request.View, request.Tool, request.Input = a.request.View, a.request.Tool, nil
	return Outcome{}, false, nil
}

func accountBusyRefusal() *RefusalError {
	return &RefusalError{Code: CodeRateLimited, RetryAfter: waitPollInterval, Sentence: "This call already waits for its account in another request. Wait for that one, or retry later with the requestState."}
}

// findElicitationAction is the action of the client's elicitation response; empty: there is none.
func findElicitationAction(in *mcp.Input) string {
	var answers map[string]struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(in.Responses, &answers) != nil {
		return ""
	}
	return answers[accountInputKey].Action
}

func staleAccountError() error {
	return &InvalidArgumentsError{Sentence: "The requestState belongs to another call or was already used. Repeat the call without it."}
}

// waitForAccount waits for the account and claims it. connected is false after the tenant's approval timeout.
func (ac *accountRequests) waitForAccount(ctx context.Context, request *CallRequest, id connectors.AccountRequestID) (connected bool, _ error) {
	agent := request.View.Agent.ID
	woken, unsubscribe := ac.waiters.subscribe(connectors.ToolCallID(agent))
	defer unsubscribe()
	timeout := time.NewTimer(request.View.Tenant.ApprovalTimeout)
	defer timeout.Stop()
	poll, progress := time.NewTicker(waitPollInterval), time.NewTicker(waitProgressInterval)
	defer poll.Stop()
	defer progress.Stop()
	reportAccountWait(request, 0)
	for reports := 1; ; {
		if connected, err := ac.claimAccount(ctx, request, id); connected || err != nil {
			return connected, err
		}
		if ac.running.isStopped() {
			return false, nil
		}
		select {
		case <-woken:
		case <-poll.C:
		case <-progress.C:
			reportAccountWait(request, reports)
			reports++
		case <-timeout.C:
			return false, nil
		case <-ctx.Done():
			return false, explainContext(ctx, request.Tool.Connector.Connector)
		}
	}
}

func reportAccountWait(request *CallRequest, n int) {
	if request.Progress != nil {
		request.Progress(json.RawMessage(fmt.Sprintf(`{"progress":%d,"message":"Waiting for an account"}`, n)))
	}
}

// claimAccount reports whether the account is connected. Only one of several calls with the same state can
// claim it.
func (ac *accountRequests) claimAccount(ctx context.Context, request *CallRequest, id connectors.AccountRequestID) (bool, error) {
	tenant, agent := ac.o.Store.Tenant(request.View.Tenant.ID), request.View.Agent.ID
	row, err := tenant.Accounts().AccountRequest(ctx, agent, id)
	switch {
	case fault.Is(err, fault.Unavailable):
		return false, nil // the database may be away for a moment
	case fault.Is(err, fault.NotFound), err == nil && (row.Used || !ac.o.Now().Before(row.ExpiresAt) || row.Connector != request.Tool.Connector.Connector.ID):
		return false, staleAccountError()
	case err != nil, !row.Connected:
		return false, err
	}
	err = tenant.Accounts().UseAccountRequest(ctx, agent, id, ac.o.Now())
	if fault.Is(err, fault.NotFound) {
		return false, staleAccountError()
	}
	return err == nil, err
}
