package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// A call that misses an account of its agent's own asks for it, where its client can send a person to a page. Nothing was sent to the server.
//
//	2026-07-28   Call ──► InputRequired: the page, and a state that names the request
//	             Call with the state, at any process ──► waits until the account is there ──► is judged anew ──► the call, once
//	2025-11-25   Call ──► a refusal with the page and the request's id ──► the session hears of the account (package gateway)
//
// The page asks for a sign-in: who has its address can do nothing with it that they could not do before.

const (
	accountLife    = 30 * time.Minute // of a request: as long as a person may take at the server
	accountKey     = "account"
	purposeAccount = "account state"
)

// awaited is the state of a call that misses an account.
type awaited struct {
	Request connectors.AccountRequestID `json:"r"`
	Call    []byte                      `json:"c"`
}

// mend says in a refusal where a person connects the account that the call misses.
func (c *Caller) mend(ctx context.Context, v *access.View, r *access.Reach, refusal *Refusal) {
	to := r.Connector
	own := to.CredentialMode == connectors.CredentialPerAgent && to.Auth.Type != connectors.AuthNone
	if errors.Is(refusal.Err, credentials.ErrInsists) || !own && to.Auth.Type != connectors.AuthOAuth2 {
		return
	}
	if c.o.Connect != nil {
		refusal.ConnectURL = c.o.Connect(ctx, v.Tenant.ID, to, v.Agent)
	}
	if own && c.o.Page != nil {
		refusal.page = c.o.Page(ctx, v.Tenant.ID, to, v.Agent)
	}
}

// askAccount has a client ask for the account that its call misses, where it can. Else what came of the call stays what it is.
func (c *Caller) askAccount(ctx context.Context, o *Order, out Outcome, err error) (Outcome, error) {
	r, ok := errors.AsType[*Refusal](err)
	if !ok || r.page == "" || o.Input != nil || o.Impatient || out.Call.ApprovedBy != "" || !abilitiesOf(o.Capabilities).openURLs() {
		return out, err
	}
	if !o.MultiRound && o.Session == "" {
		return out, err
	}
	request, failed := c.o.Store.Tenant(o.View.Tenant.ID).AskAccount(ctx, c.newRequest(o))
	if failed != nil {
		c.o.Log.WarnContext(ctx, "an account is not asked for", "tenant_id", o.View.Tenant.ID, "error", failed)
		return out, err
	}
	if !o.MultiRound {
		r.Elicit = &Elicitation{ID: request, URL: r.page, Message: askingFor(o)}
		return out, err
	}
	raw, err := c.asking(o, request, r.page)
	return Outcome{CallID: out.CallID, Call: out.Call, Raw: raw, InputRequired: err == nil}, err
}

func (c *Caller) newRequest(o *Order) store.NewAccountRequest {
	now := c.o.Now()
	n := store.NewAccountRequest{Agent: o.View.Agent.ID, Connector: o.Tool.Reach.Connector.ID, Now: now, ExpiresAt: now.Add(accountLife)}
	if !o.MultiRound {
		n.Session = o.Session
	}
	return n
}

// Elicitation is a page that a person opens, for a client of the handshake era.
type Elicitation struct {
	ID      connectors.AccountRequestID
	URL     string
	Message string
}

func askingFor(o *Order) string {
	return fmt.Sprintf("%q needs an account of yours. Connect it on this page of Patchbay; the call goes on then.", o.Tool.Reach.Connector.Name)
}

// asking is the result that asks for an account.
func (c *Caller) asking(o *Order, request connectors.AccountRequestID, page string) (json.RawMessage, error) {
	handle, err := c.sealHandle(o.View, purposeAccount, awaited{Request: request, Call: c.attemptAt(o).hash()})
	if err != nil {
		return nil, err
	}
	return json.RawMessage(fmt.Sprintf(
		`{"resultType":"input_required","inputRequests":{%q:{"method":"elicitation/create","params":{"mode":"url","message":%s,"url":%s}}},"requestState":%s}`,
		accountKey, stringOf(askingFor(o)), stringOf(page), handle)), nil
}

func (c *Caller) attemptAt(o *Order) *attempt {
	a := &attempt{Caller: c, order: o, reach: o.Tool.Reach}
	a.call = a.beginning()
	return a
}

// comeBack goes on with a call that missed an account. done: it does not go on, and this is what came of it.
func (c *Caller) comeBack(ctx context.Context, o *Order) (_ Outcome, done bool, _ error) {
	if o.Input == nil {
		return Outcome{}, false, nil
	}
	var s awaited
	if !c.openHandle(o.View, purposeAccount, o.Input.State, &s) {
		return Outcome{}, false, nil
	}
	a := c.attemptAt(o)
	if string(s.Call) != string(a.hash()) {
		return a.ended(staleAccount())
	}
	if said := actionOf(o.Input); said == "decline" || said == "cancel" {
		refusal := &Refusal{Code: CodeCredentialRequired, Sentence: fmt.Sprintf("The person did not connect the account that %q needs.", a.reach.Connector.Name)}
		c.mend(ctx, o.View, a.reach, refusal)
		return a.ended(refusal)
	}
	here, err := c.enter(ctx, a.call.ID)
	if err != nil {
		return Outcome{}, true, err
	}
	defer here.leave()
	ctx = here
	agent := o.View.Agent.ID
	if !c.underWay.enter(agent, mostUnderWay) {
		return a.ended(tooMany())
	}
	defer c.underWay.leave(agent)
	if !c.accounts.enter(s.Request, 1) { // each looks into the database now and then, and one of them goes on
		return a.ended(waitedForAlready())
	}
	defer c.accounts.leave(s.Request)
	there, err := c.awaitAccount(ctx, o, s.Request)
	switch {
	case err != nil:
		return a.ended(err)
	case !there: // a person may still be at it: the client asks whether to wait on
		raw, err := c.asking(o, s.Request, c.o.Page(ctx, o.View.Tenant.ID, a.reach.Connector, o.View.Agent))
		return Outcome{Raw: raw, InputRequired: err == nil}, true, err
	}
	if err := a.stillStands(ctx); err != nil {
		return a.ended(a.because(ctx, err))
	}
	o.View, o.Tool, o.Input = a.order.View, a.order.Tool, nil
	return Outcome{}, false, nil
}

// stillStands judges a call that waited by what is now: half an hour ago its token was good, and its agent might make it. Whether a person is
// asked follows from what it leaves in the order.
func (a *attempt) stillStands(ctx context.Context) error {
	switch err := a.tokenStands(ctx, a.order.Token, a.order.Wait); {
	case fault.Is(err, fault.Unauthenticated):
		return &Refusal{Code: CodeNotGranted, Sentence: "The token with which this call came has ended meanwhile. Sign in again, or come with another one, and make the call anew."}
	case err != nil:
		return a.explain(ctx, a.order.View, a.reach, err)
	}
	return a.lookAgain(ctx)
}

// tokenStands looks whether the token with which a request came is good now; where it is not, the error is Unauthenticated. nil: the request came
// without one.
func (c *Caller) tokenStands(ctx context.Context, token *connectors.AgentTokenID, wait *store.WaitBudget) error {
	if token == nil {
		return nil
	}
	var stored store.StoredAgentToken
	err := c.o.Store.Retry(ctx, wait, func(ctx context.Context) (err error) {
		stored, err = c.o.Store.System().AgentToken(ctx, *token)
		return err
	})
	ends := stored.Token.ExpiresAt
	if fault.Is(err, fault.NotFound) || err == nil && ends != nil && !ends.After(c.o.Now()) {
		return fault.Errorf(fault.Unauthenticated, "The token has ended.")
	}
	return err
}

func waitedForAlready() *Refusal {
	return &Refusal{Code: CodeRateLimited, RetryAfter: lookEvery, Sentence: "This call waits for its account already, in another request with the same requestState. Wait for that one, or come back with the requestState."}
}

// ended puts a call on record that does not go on.
func (a *attempt) ended(err error) (Outcome, bool, error) {
	out, err := a.refuse(err)
	return out, true, err
}

// actionOf is what the person said to the page; empty: nobody said anything.
func actionOf(in *mcp.Input) string {
	var answers map[string]struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(in.Responses, &answers) != nil {
		return ""
	}
	return answers[accountKey].Action
}

func staleAccount() error {
	return &BadArguments{Sentence: "The requestState is not one of this call, or was used already. Make the call anew, without it."}
}

// awaitAccount waits until an account is there that a call missed, and lets the call go on, once. there is false where nobody connected one for as
// long as the tenant has calls wait for people.
func (c *Caller) awaitAccount(ctx context.Context, o *Order, id connectors.AccountRequestID) (there bool, _ error) {
	agent := o.View.Agent.ID
	woken, leave := c.waits.join(connectors.ToolCallID(agent))
	defer leave()
	patience := time.NewTimer(o.View.Tenant.ApprovalTimeout)
	defer patience.Stop()
	look, tell := time.NewTicker(lookEvery), time.NewTicker(tellEvery)
	defer look.Stop()
	defer tell.Stop()
	tellAwaiting(o, 0)
	for told := 1; ; {
		if there, err := c.accountThere(ctx, o, id); there || err != nil {
			return there, err
		}
		if c.isStopped() {
			return false, nil
		}
		select {
		case <-woken:
		case <-look.C:
		case <-tell.C:
			tellAwaiting(o, told)
			told++
		case <-patience.C:
			return false, nil
		case <-ctx.Done():
			return false, ended(ctx, o.Tool.Reach.Connector)
		}
	}
}

func tellAwaiting(o *Order, n int) {
	if o.Progress != nil {
		o.Progress(json.RawMessage(fmt.Sprintf(`{"progress":%d,"message":"Waiting for an account"}`, n)))
	}
}

// accountThere looks whether an account is there. Of several that come back with the same state, one goes on.
func (c *Caller) accountThere(ctx context.Context, o *Order, id connectors.AccountRequestID) (bool, error) {
	tenant, agent := c.o.Store.Tenant(o.View.Tenant.ID), o.View.Agent.ID
	row, err := tenant.AccountRequest(ctx, agent, id)
	switch {
	case fault.Is(err, fault.Unavailable):
		return false, nil // the database may be away for a moment
	case fault.Is(err, fault.NotFound), err == nil && (row.Used || !c.o.Now().Before(row.ExpiresAt) || row.Connector != o.Tool.Reach.Connector.ID):
		return false, staleAccount()
	case err != nil, !row.Connected:
		return false, err
	}
	err = tenant.UseAccountRequest(ctx, agent, id, c.o.Now())
	if fault.Is(err, fault.NotFound) {
		return false, staleAccount()
	}
	return err == nil, err
}
