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

// addConnectURL adds to a refusal the page on which a person connects the missing account.
func (c *Caller) addConnectURL(ctx context.Context, v *agentview.View, r *agentview.Reach, refusal *Refusal) {
	connector := r.Connector
	perAgent := connector.CredentialMode == connectors.CredentialPerAgent && connector.Auth.Type != connectors.AuthNone
	if errors.Is(refusal.Err, credentials.ErrTooManyStepUps) || !perAgent && connector.Auth.Type != connectors.AuthOAuth2 {
		return
	}
	if c.o.ConnectURL != nil {
		refusal.ConnectURL = c.o.ConnectURL(ctx, v.Tenant.ID, connector, v.Agent)
	}
	if perAgent && c.o.AccountPage != nil {
		refusal.connectPage = c.o.AccountPage(ctx, v.Tenant.ID, connector, v.Agent)
	}
}

// requestAccount replaces a refusal for a missing account by a request for one, if the client supports that.
func (c *Caller) requestAccount(ctx context.Context, o *Order, out Outcome, err error) (Outcome, error) {
	r, ok := errors.AsType[*Refusal](err)
	if !ok || r.connectPage == "" || o.Input != nil || o.NoWait || out.Call.ApprovedBy != "" || !parseCapabilities(o.Capabilities).canOpenURLs() {
		return out, err
	}
	if !o.MultiRound && o.Session == "" {
		return out, err
	}
	request, requestErr := c.saveAccountRequest(ctx, o)
	if requestErr != nil {
		c.o.Log.WarnContext(ctx, "an account is not asked for", "tenant_id", o.View.Tenant.ID, "error", requestErr)
		return out, err
	}
	if !o.MultiRound {
		r.Elicit = &Elicitation{ID: request, URL: r.connectPage, Message: accountPrompt(o)}
		return out, err
	}
	raw, err := c.accountInputRequired(o, request, r.connectPage)
	return Outcome{CallID: out.CallID, Call: out.Call, Raw: raw, InputRequired: err == nil}, err
}

// saveAccountRequest stores a request once. If the database is away, the call waits for it.
func (c *Caller) saveAccountRequest(ctx context.Context, o *Order) (id connectors.AccountRequestID, err error) {
	n := c.newAccountRequest(o)
	err = c.o.Store.Retry(ctx, o.Wait, func(ctx context.Context) error {
		id, err = c.o.Store.Tenant(o.View.Tenant.ID).RequestAccount(ctx, n)
		return err
	})
	return id, err
}

func (c *Caller) newAccountRequest(o *Order) store.NewAccountRequest {
	now := c.o.Now()
	n := store.NewAccountRequest{ID: store.NewAccountRequestID(), Agent: o.View.Agent.ID, Connector: o.Tool.Reach.Connector.ID, Now: now, ExpiresAt: now.Add(accountRequestTTL)}
	if !o.MultiRound {
		n.Session = o.Session
	}
	return n
}

// Elicitation is a page for the client to open (MCP 2025-11-25, URL mode).
type Elicitation struct {
	ID      connectors.AccountRequestID
	URL     string
	Message string
}

func accountPrompt(o *Order) string {
	return fmt.Sprintf("%q needs an account of yours. Connect it on this page of Patchbay; the call goes on then.", o.Tool.Reach.Connector.Name)
}

// accountInputRequired is the InputRequired result that asks for an account.
func (c *Caller) accountInputRequired(o *Order, request connectors.AccountRequestID, page string) (json.RawMessage, error) {
	handle, err := c.sealHandle(o.View, purposeAccount, accountState{Request: request, Call: c.newAttempt(o).callHash()})
	if err != nil {
		return nil, err
	}
	return json.RawMessage(fmt.Sprintf(
		`{"resultType":"input_required","inputRequests":{%q:{"method":"elicitation/create","params":{"mode":"url","message":%s,"url":%s}}},"requestState":%s}`,
		accountInputKey, quoteString(accountPrompt(o)), quoteString(page), handle)), nil
}

func (c *Caller) newAttempt(o *Order) *attempt {
	a := &attempt{Caller: c, order: o, reach: o.Tool.Reach}
	a.call = a.newCallRecord()
	return a
}

// resumeAfterAccount resumes a call that lacked an account. If done, the outcome is final.
func (c *Caller) resumeAfterAccount(ctx context.Context, o *Order) (_ Outcome, done bool, _ error) {
	if o.Input == nil {
		return Outcome{}, false, nil
	}
	var s accountState
	if !c.openHandle(o.View, purposeAccount, o.Input.State, &s) {
		return Outcome{}, false, nil
	}
	a := c.newAttempt(o)
	if string(s.Call) != string(a.callHash()) {
		return a.endWithRefusal(staleAccountError())
	}
	if action := findElicitationAction(o.Input); action == "decline" || action == "cancel" {
		refusal := &Refusal{Code: CodeCredentialRequired, Sentence: fmt.Sprintf("The person did not connect the account that %q needs.", a.reach.Connector.Name)}
		c.addConnectURL(ctx, o.View, a.reach, refusal)
		return a.endWithRefusal(refusal)
	}
	callCtx, err := c.beginCall(ctx, a.call.ID)
	if err != nil {
		return Outcome{}, true, err
	}
	defer callCtx.endCall()
	ctx = callCtx
	agent := o.View.Agent.ID
	if !c.inFlight.TryAcquire(agent) {
		return a.endWithRefusal(tooManyCallsRefusal())
	}
	defer c.inFlight.Release(agent)
	if !c.accountWaits.TryAcquire(s.Request) { // each waiter polls the database, and only one may go on
		return a.endWithRefusal(accountBusyRefusal())
	}
	defer c.accountWaits.Release(s.Request)
	connected, err := c.waitForAccount(ctx, o, s.Request)
	switch {
	case err != nil:
		return a.endWithRefusal(err)
	case !connected: // the client decides whether to wait on
		raw, err := c.accountInputRequired(o, s.Request, c.o.AccountPage(ctx, o.View.Tenant.ID, a.reach.Connector, o.View.Agent))
		return Outcome{Raw: raw, InputRequired: err == nil}, true, err
	}
	if err := a.reauthorize(ctx); err != nil {
		return a.endWithRefusal(a.explainHeld(ctx, err))
	}
	o.View, o.Tool, o.Input = a.order.View, a.order.Tool, nil
	return Outcome{}, false, nil
}

// reauthorize checks token, agent, grant and tool again: all may have changed during the wait. It updates the
// order, which decides on approval.
func (a *attempt) reauthorize(ctx context.Context) error {
	switch err := a.checkToken(ctx, a.order.Token, a.order.Wait); {
	case fault.Is(err, fault.Unauthenticated):
		return &Refusal{Code: CodeNotGranted, Sentence: "The token with which this call came has ended meanwhile. Sign in again, or come with another one, and make the call anew."}
	case err != nil:
		return a.explainError(ctx, a.order.View, a.reach, err)
	}
	return a.recheckTool(ctx)
}

// checkToken returns an Unauthenticated fault if the request's token is no longer valid. nil: the request had
// none.
func (c *Caller) checkToken(ctx context.Context, token *connectors.AgentTokenID, wait *store.WaitBudget) error {
	if token == nil {
		return nil
	}
	var stored store.StoredAgentToken
	err := c.o.Store.Retry(ctx, wait, func(ctx context.Context) (err error) {
		stored, err = c.o.Store.System().AgentToken(ctx, *token)
		return err
	})
	expiresAt := stored.Token.ExpiresAt
	if fault.Is(err, fault.NotFound) || err == nil && expiresAt != nil && !expiresAt.After(c.o.Now()) {
		return fault.Errorf(fault.Unauthenticated, "The token has ended.")
	}
	return err
}

func accountBusyRefusal() *Refusal {
	return &Refusal{Code: CodeRateLimited, RetryAfter: waitPollInterval, Sentence: "This call waits for its account already, in another request with the same requestState. Wait for that one, or come back with the requestState."}
}

func (a *attempt) endWithRefusal(err error) (Outcome, bool, error) {
	out, err := a.recordRefusal(err)
	return out, true, err
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
	return &BadArguments{Sentence: "The requestState is not one of this call, or was used already. Make the call anew, without it."}
}

// waitForAccount waits for the account and claims it. connected is false after the tenant's approval timeout.
func (c *Caller) waitForAccount(ctx context.Context, o *Order, id connectors.AccountRequestID) (connected bool, _ error) {
	agent := o.View.Agent.ID
	woken, unsubscribe := c.waiters.subscribe(connectors.ToolCallID(agent))
	defer unsubscribe()
	timeout := time.NewTimer(o.View.Tenant.ApprovalTimeout)
	defer timeout.Stop()
	poll, progress := time.NewTicker(waitPollInterval), time.NewTicker(waitProgressInterval)
	defer poll.Stop()
	defer progress.Stop()
	reportAccountWait(o, 0)
	for reports := 1; ; {
		if connected, err := c.claimAccount(ctx, o, id); connected || err != nil {
			return connected, err
		}
		if c.isStopped() {
			return false, nil
		}
		select {
		case <-woken:
		case <-poll.C:
		case <-progress.C:
			reportAccountWait(o, reports)
			reports++
		case <-timeout.C:
			return false, nil
		case <-ctx.Done():
			return false, explainContext(ctx, o.Tool.Reach.Connector)
		}
	}
}

func reportAccountWait(o *Order, n int) {
	if o.Progress != nil {
		o.Progress(json.RawMessage(fmt.Sprintf(`{"progress":%d,"message":"Waiting for an account"}`, n)))
	}
}

// claimAccount reports whether the account is connected. Only one of several calls with the same state can
// claim it.
func (c *Caller) claimAccount(ctx context.Context, o *Order, id connectors.AccountRequestID) (bool, error) {
	tenant, agent := c.o.Store.Tenant(o.View.Tenant.ID), o.View.Agent.ID
	row, err := tenant.AccountRequest(ctx, agent, id)
	switch {
	case fault.Is(err, fault.Unavailable):
		return false, nil // the database may be away for a moment
	case fault.Is(err, fault.NotFound), err == nil && (row.Used || !c.o.Now().Before(row.ExpiresAt) || row.Connector != o.Tool.Reach.Connector.ID):
		return false, staleAccountError()
	case err != nil, !row.Connected:
		return false, err
	}
	err = tenant.UseAccountRequest(ctx, agent, id, c.o.Now())
	if fault.Is(err, fault.NotFound) {
		return false, staleAccountError()
	}
	return err == nil, err
}
