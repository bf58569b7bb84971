package toolcall_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

// accountBench is a bench with an agent that lacks its own account.
type accountBench struct {
	*bench
	c     connectors.Connector
	agent connectors.Agent
}

func newAccountBench(t *testing.T) *accountBench {
	t.Helper()
	b := newBench(t, func(o *toolcall.Options) {
		o.AccountPage = func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent, string) string {
			return "https://patchbay.example.com/account"
		}
	})
	c := b.connector(t, b.remote, perAgent)
	return &accountBench{bench: b, c: c, agent: b.newTrustedAgent(t, c)}
}

// askedOrder is the order that resumes a call after its account request.
func (a *accountBench) askedOrder(t *testing.T, token *connectors.AgentTokenID) toolcall.CallRequest {
	t.Helper()
	request := a.order(t, a.process, a.agent, a.c, "search", `{"q":"x"}`)
	request.MultiRound, request.Capabilities, request.Token = true, json.RawMessage(`{"elicitation":{"url":{}}}`), token
	out, err := a.Call(t.Context(), request)
	must(t, err)
	var required struct {
		State json.RawMessage `json:"requestState"`
	}
	must(t, json.Unmarshal(out.Raw, &required))
	if !out.InputRequired || len(required.State) == 0 {
		t.Fatalf("it is answered %s", out.Raw)
	}
	request.Input = &mcp.Input{State: required.State, Responses: json.RawMessage(`{"account":{"action":"accept"}}`)}
	return request
}

func (a *accountBench) connectAccount(t *testing.T) {
	t.Helper()
	a.saveCredential(t, a.c, &a.agent.ID, connectors.Secret{Token: "its-own"})
}

// The resumed order holds the view of the first request, which must not count.
func TestAccount_WaitedCallIsReauthorized(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*testing.T, *accountBench, connectors.AgentTokenID)
		code   toolcall.Code
	}{
		"nothing happened": {func(*testing.T, *accountBench, connectors.AgentTokenID) {}, ""},
		"the agent was disabled": {func(t *testing.T, a *accountBench, _ connectors.AgentTokenID) {
			a.AsSystem(t, "update agents set enabled = false where id = $1", []any{a.agent.ID.UUID})
		}, toolcall.CodeNotGranted},
		"the grant was taken": {func(t *testing.T, a *accountBench, _ connectors.AgentTokenID) {
			a.AsSystem(t, "delete from agent_grants where agent_id = $1", []any{a.agent.ID.UUID})
		}, toolcall.CodeNotGranted},
		"the tool was switched off": {func(t *testing.T, a *accountBench, _ connectors.AgentTokenID) {
			a.AsSystem(t, "update tools set enabled = false where connector_id = $1", []any{a.c.ID.UUID})
		}, toolcall.CodeHeld},
		"the token was revoked": {func(t *testing.T, a *accountBench, id connectors.AgentTokenID) {
			a.AsSystem(t, "delete from agent_tokens where id = $1", []any{id.UUID})
		}, toolcall.CodeNotGranted},
		"the token has expired": {func(t *testing.T, a *accountBench, id connectors.AgentTokenID) {
			a.AsSystem(t, "update agent_tokens set created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour' where id = $1", []any{id.UUID})
		}, toolcall.CodeNotGranted},
		"a person is asked now": {func(t *testing.T, a *accountBench, _ connectors.AgentTokenID) {
			a.AsSystem(t, "update agents set approval = 'always_ask' where id = $1", []any{a.agent.ID.UUID})
		}, toolcall.CodeApprovalPending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccountBench(t)
			a.Token(t, a.agent.ID)
			var id connectors.AgentTokenID
			a.AsSystem(t, "select id from agent_tokens where agent_id = $1", []any{a.agent.ID.UUID}, &id)
			request := a.askedOrder(t, &id)
			a.connectAccount(t)
			tc.change(t, a, id)
			request.NoWait = true
			out, err := a.Call(t.Context(), request)
			if tc.code == "" {
				must(t, err)
				if !strings.Contains(string(out.Raw), "search") {
					t.Errorf("it is answered %s", out.Raw)
				}
				a.remote.wantCalls(t, 1)
				return
			}
			wantRefused(t, err, tc.code)
			a.remote.wantCalls(t, 0)
		})
	}
}

func TestAccount_SecondWaiterIsRateLimited(t *testing.T) {
	t.Parallel()
	a := newAccountBench(t)
	request := a.askedOrder(t, nil)
	progress, answers := make(chan struct{}, 100), make(chan callAnswer, 1)
	first := request
	first.Progress = func(json.RawMessage) { progress <- struct{}{} }
	go func() {
		out, err := a.Call(context.WithoutCancel(t.Context()), first)
		answers <- callAnswer{out, err}
	}()
	receive(t, progress)
	if r := asRefusal(t, callAgain(t, a, request), toolcall.CodeRateLimited); r.RetryAfter == 0 {
		t.Errorf("it is not told when: %+v", r)
	}
	a.connectAccount(t)
	got := receive(t, answers)
	must(t, got.err)
	a.remote.wantCalls(t, 1)
}

// callAgain makes the call with a state that another request waits with.
func callAgain(t *testing.T, a *accountBench, request toolcall.CallRequest) error {
	t.Helper()
	_, err := a.Call(t.Context(), request)
	return err
}
