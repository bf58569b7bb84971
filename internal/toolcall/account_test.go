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

// awaiting is a bench whose calls miss an account of their agent's own, and may wait for it.
type awaiting struct {
	*bench
	c     connectors.Connector
	agent connectors.Agent
}

func newAwaiting(t *testing.T) *awaiting {
	t.Helper()
	b := newBench(t, func(o *toolcall.Options) {
		o.Page = func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent) string {
			return "https://patchbay.example.com/account"
		}
	})
	c := b.connector(t, b.remote, perAgent)
	return &awaiting{bench: b, c: c, agent: b.trusted(t, c)}
}

// asked is a call that was told where its account is connected, as it comes back.
func (a *awaiting) asked(t *testing.T, token *connectors.AgentTokenID) toolcall.Order {
	t.Helper()
	order := a.order(t, a.process, a.agent, a.c, "search", `{"q":"x"}`)
	order.MultiRound, order.Capabilities, order.Token = true, json.RawMessage(`{"elicitation":{"url":{}}}`), token
	out, err := a.Call(t.Context(), order)
	must(t, err)
	var asks struct {
		State json.RawMessage `json:"requestState"`
	}
	must(t, json.Unmarshal(out.Raw, &asks))
	if !out.InputRequired || len(asks.State) == 0 {
		t.Fatalf("it is answered %s", out.Raw)
	}
	order.Input = &mcp.Input{State: asks.State, Responses: json.RawMessage(`{"account":{"action":"accept"}}`)}
	return order
}

func (a *awaiting) connected(t *testing.T) {
	t.Helper()
	a.keep(t, a.c, &a.agent.ID, connectors.Secret{Token: "its-own"})
}

// The order is the one of half an hour ago, with the view of then: nothing of it counts any more.
func TestACallThatWaitedForAnAccountIsJudgedByWhatIsNow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		meanwhile func(*testing.T, *awaiting, connectors.AgentTokenID)
		code      toolcall.Code
	}{
		"nothing happened": {func(*testing.T, *awaiting, connectors.AgentTokenID) {}, ""},
		"the agent was disabled": {func(t *testing.T, a *awaiting, _ connectors.AgentTokenID) {
			a.AsSystem(t, "update agents set enabled = false where id = $1", []any{a.agent.ID.UUID})
		}, toolcall.CodeNotGranted},
		"the grant was taken": {func(t *testing.T, a *awaiting, _ connectors.AgentTokenID) {
			a.AsSystem(t, "delete from agent_grants where agent_id = $1", []any{a.agent.ID.UUID})
		}, toolcall.CodeNotGranted},
		"the tool was switched off": {func(t *testing.T, a *awaiting, _ connectors.AgentTokenID) {
			a.AsSystem(t, "update tools set enabled = false where connector_id = $1", []any{a.c.ID.UUID})
		}, toolcall.CodeHeld},
		"the token was revoked": {func(t *testing.T, a *awaiting, id connectors.AgentTokenID) {
			a.AsSystem(t, "delete from agent_tokens where id = $1", []any{id.UUID})
		}, toolcall.CodeNotGranted},
		"the token has expired": {func(t *testing.T, a *awaiting, id connectors.AgentTokenID) {
			a.AsSystem(t, "update agent_tokens set created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour' where id = $1", []any{id.UUID})
		}, toolcall.CodeNotGranted},
		"a person is asked now": {func(t *testing.T, a *awaiting, _ connectors.AgentTokenID) {
			a.AsSystem(t, "update agents set approval = 'always_ask' where id = $1", []any{a.agent.ID.UUID})
		}, toolcall.CodeApprovalPending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAwaiting(t)
			a.Token(t, a.agent.ID)
			var id connectors.AgentTokenID
			a.AsSystem(t, "select id from agent_tokens where agent_id = $1", []any{a.agent.ID.UUID}, &id)
			order := a.asked(t, &id)
			a.connected(t)
			tc.meanwhile(t, a, id)
			order.Impatient = true // nobody waits for the approval
			out, err := a.Call(t.Context(), order)
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

func TestOneRequestWaitsForAnAccountAndASecondIsToldToComeBack(t *testing.T) {
	t.Parallel()
	a := newAwaiting(t)
	order := a.asked(t, nil)
	waits, ended := make(chan struct{}, 100), make(chan answer, 1)
	first := order
	first.Progress = func(json.RawMessage) { waits <- struct{}{} }
	go func() {
		out, err := a.Call(context.WithoutCancel(t.Context()), first)
		ended <- answer{out, err}
	}()
	<-waits
	if r := refused(t, second(t, a, order), toolcall.CodeRateLimited); r.RetryAfter == 0 {
		t.Errorf("it is not told when: %+v", r)
	}
	a.connected(t)
	got := <-ended
	must(t, got.err)
	a.remote.wantCalls(t, 1)
}

// second is what a request is told that comes with the state for which another one waits.
func second(t *testing.T, a *awaiting, order toolcall.Order) error {
	t.Helper()
	_, err := a.Call(t.Context(), order)
	return err
}
