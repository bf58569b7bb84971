package toolcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

type itemAnswer struct {
	raw json.RawMessage
	err error
}

// useItem uses a prompt or resource in the background.
func (b *bench) useItem(t *testing.T, p *process, request toolcall.CallRequest, kind connectors.CallKind, params string) chan itemAnswer {
	t.Helper()
	method, name := "prompts/get", "p"
	if kind == connectors.CallResource {
		method, name = "resources/read", "file:///a"
	}
	answers, ctx := make(chan itemAnswer, 1), context.WithoutCancel(t.Context())
	go func() {
		raw, err := p.SendRequest(ctx, toolcall.UpstreamRequest{
			View: request.View, Connector: request.Tool.Connector, Kind: kind, Name: name, Method: method, Params: json.RawMessage(params),
			Source: connectors.SourceGateway, Client: request.Client,
		})
		answers <- itemAnswer{raw, err}
	}()
	return answers
}

// waitingItem returns the approval that an agent waits for.
func (b *bench) waitingItem(t *testing.T) connectors.Approval {
	t.Helper()
	b.waitUntil(t, "exists (select from approvals where state = 'waiting')")
	list, err := b.Door().Calls().WaitingApprovals(t.Context(), store.Page{})
	must(t, err)
	if len(list.Items) != 1 {
		t.Fatalf("%d wait", len(list.Items))
	}
	return list.Items[0]
}

func TestItemApproval_DecidesOnUse(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	other := b.newProcess(t, b.newInstance(t), withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAskAll })
	sent := make(chan string, 10)
	b.remote.set(answerModern(map[string]func(string) string{
		"prompts/get":    func(params string) string { sent <- params; return `{"resultType":"complete","messages":[]}` },
		"resources/read": func(params string) string { sent <- params; return `{"resultType":"complete","contents":[]}` },
	}))
	request := b.order(t, b.process, a, c, "search", "")

	answers := b.useItem(t, b.process, request, connectors.CallPrompt, `{"name":"p","arguments":{"x":"1"}}`)
	row := b.waitingItem(t)
	if row.Kind != connectors.CallPrompt || row.Tool != "p" || len(sent) != 0 {
		t.Errorf("row = %+v, %d sent", row, len(sent))
	}
	if pending, err := b.Approval(t.Context(), b.actor(connectors.RoleMember), row.ID); err != nil || string(pending.Arguments) != `{"x":"1"}` {
		t.Errorf("pending = %s, %v", pending.Arguments, err)
	}
	b.approve(t, other, row.ID)
	got := receive(t, answers)
	must(t, got.err)
	if !strings.Contains(string(got.raw), `"messages":[]`) || len(sent) != 1 || !strings.Contains(receive(t, sent), `"x":"1"`) {
		t.Errorf("raw = %s", got.raw)
	}
	if call := b.row(t, row.ID); call.Kind != connectors.CallPrompt || call.Status != connectors.CallSuccess || call.ApprovedBy != "Dana" {
		t.Errorf("call = %+v", call)
	}

	answers = b.useItem(t, b.process, request, connectors.CallResource, `{"uri":"file:///a"}`)
	row = b.waitingItem(t)
	if pending, err := b.Approval(t.Context(), b.actor(connectors.RoleMember), row.ID); err != nil || string(pending.Arguments) != `{"uri":"file:///a"}` {
		t.Errorf("pending = %s, %v", pending.Arguments, err)
	}
	_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), row.ID, toolcall.Decision{Reason: "not now"})
	must(t, err)
	refusal := asRefusal(t, receive(t, answers).err, toolcall.CodeDenied)
	if !strings.Contains(refusal.Sentence, "not now") || len(sent) != 0 {
		t.Errorf("%v, %d sent", refusal, len(sent))
	}
	answers = b.useItem(t, b.process, request, connectors.CallResource, `{"uri":"file:///a"}`)
	asRefusal(t, receive(t, answers).err, toolcall.CodeDenied) // again, without a question
}

// TestItemApproval_RunsWhenMadeAgain: an approved use that no request waits for runs when the agent makes it again.
func TestItemApproval_RunsWhenMadeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAskAll })
	b.remote.set(answerModern(map[string]func(string) string{
		"prompts/get": func(string) string { return `{"resultType":"complete","messages":[]}` },
	}))
	b.AsSystem(t, "update tenants set approval_timeout_s = 1", nil)
	request := b.order(t, b.process, a, c, "search", "")
	use := func() itemAnswer {
		return receive(t, b.useItem(t, b.process, request, connectors.CallPrompt, `{"name":"p"}`))
	}
	refusal := asRefusal(t, use().err, toolcall.CodeApprovalPending)
	b.approve(t, b.process, refusal.CallID)
	b.Sweep(t.Context())
	got := use()
	must(t, got.err)
	if row := b.row(t, refusal.CallID); row.Status != connectors.CallSuccess {
		t.Errorf("row = %+v", row)
	}
	if second := asRefusal(t, use().err, toolcall.CodeApprovalPending); second.CallID == refusal.CallID {
		t.Error("one approval lets it be used twice")
	} else {
		b.approve(t, b.process, second.CallID)
		b.AsSystem(t, "update approvals set expires_at = now() where state = 'approved'", nil)
		b.Sweep(t.Context())
		if row := b.row(t, second.CallID); row.ErrorCode != "approval_lapsed" {
			t.Errorf("row = %+v", row)
		}
	}
}

func TestItemApproval_OnlyInItsMode(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	b.remote.set(answerModern(map[string]func(string) string{
		"prompts/get": func(string) string { return `{"resultType":"complete","messages":[]}` },
	}))
	for _, mode := range []connectors.ApprovalMode{connectors.ApprovalAuto, connectors.ApprovalAlwaysAsk, connectors.ApprovalTrustedOnly} {
		a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = mode })
		request := b.order(t, b.process, a, c, "search", "")
		got := receive(t, b.useItem(t, b.process, request, connectors.CallPrompt, `{"name":"p"}`))
		if got.err != nil {
			t.Errorf("%s: %v", mode, got.err)
		}
	}
}

// resumeItem approves a use of a prompt that asks for input. It returns the agent's order and the params that continue it.
func (b *bench) resumeItem(t *testing.T, c connectors.Connector, a connectors.Agent) (request toolcall.CallRequest, params string) {
	t.Helper()
	request = b.order(t, b.process, a, c, "search", "")
	request.MultiRound = true
	answers := b.useItem(t, b.process, request, connectors.CallPrompt, `{"name":"p"}`)
	b.approve(t, b.process, b.waitingItem(t).ID)
	first := receive(t, answers)
	must(t, first.err)
	var required struct{ RequestState json.RawMessage }
	must(t, json.Unmarshal(first.raw, &required))
	return request, `{"name":"p","requestState":` + string(required.RequestState) + `}`
}

// TestItemApproval_StateIsUsedOnce uses a prompt that asks for input after the approval.
func TestItemApproval_StateIsUsedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAskAll })
	b.remote.set(answerModern(map[string]func(string) string{"prompts/get": func(params string) string {
		if strings.Contains(params, `"requestState"`) {
			return `{"resultType":"complete","messages":[]}`
		}
		return `{"resultType":"input_required","inputRequests":{},"requestState":"s"}`
	}}))
	request, params := b.resumeItem(t, c, a)
	must(t, receive(t, b.useItem(t, b.process, request, connectors.CallPrompt, params)).err)
	again := receive(t, b.useItem(t, b.process, request, connectors.CallPrompt, params))
	if _, ok := errors.AsType[*toolcall.InvalidArgumentsError](again.err); !ok {
		t.Errorf("one approval is used twice: %s, %v", again.raw, again.err)
	}
}

// TestItemApproval_StateSurvivesOpenCircuit continues an approved use while the server is away.
func TestItemApproval_StateSurvivesOpenCircuit(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAskAll })
	works := answerModern(map[string]func(string) string{"prompts/get": func(params string) string {
		if strings.Contains(params, `"requestState"`) {
			return `{"resultType":"complete","messages":[]}`
		}
		return `{"resultType":"input_required","inputRequests":{},"requestState":"s"}`
	}})
	b.remote.set(works)
	request, params := b.resumeItem(t, c, a)
	b.remote.set(func(w http.ResponseWriter, _ *http.Request, _ message) bool {
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	for range 5 { // completions need no approval
		_, err := b.SendRequest(t.Context(), toolcall.UpstreamRequest{
			View: request.View, Connector: request.Tool.Connector, Kind: connectors.CallCompletion, Name: "p", Method: "completion/complete", Params: json.RawMessage(`{}`),
		})
		wantRefused(t, err, toolcall.CodeUpstream)
	}
	wantRefused(t, receive(t, b.useItem(t, b.process, request, connectors.CallPrompt, params)).err, toolcall.CodeCircuitOpen)
	b.clock.advance(11 * time.Second)
	b.remote.set(works)
	must(t, receive(t, b.useItem(t, b.process, request, connectors.CallPrompt, params)).err)
}

func TestItemAllowance_SkipsApprovalUntilItEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAskAll })
	b.remote.set(answerModern(map[string]func(string) string{
		"prompts/get":    func(string) string { return `{"resultType":"complete","messages":[]}` },
		"resources/read": func(string) string { return `{"resultType":"complete","contents":[]}` },
	}))
	b.AsSystem(t, "update tenants set approval_timeout_s = 1", nil)
	for kind, params := range map[connectors.CallKind]string{connectors.CallPrompt: `{"name":"p"}`, connectors.CallResource: `{"uri":"file:///a"}`} {
		use := func(kind connectors.CallKind, params string) error {
			p := b.newProcess(t, b.newInstance(t), withModernDialer) // its view is new
			defer p.history.Flush(t.Context())
			return receive(t, b.useItem(t, p, b.order(t, p, a, c, "search", ""), kind, params)).err
		}
		answers := b.useItem(t, b.process, b.order(t, b.process, a, c, "search", ""), kind, params)
		row := b.waitingItem(t)
		_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), row.ID, toolcall.Decision{Approve: true, AllowFor: 2 * time.Hour})
		must(t, err)
		must(t, receive(t, answers).err)
		must(t, use(kind, params))
		list, err := b.Door().Calls().Allowances(t.Context(), a.ID, store.Page{})
		must(t, err)
		if len(list.Items) != 1 || list.Items[0].Kind != kind || list.Items[0].Tool != row.Tool || !list.Items[0].InForce {
			t.Errorf("%s: %+v", kind, list.Items)
		}
		if call := b.lastCall(t); call.Kind != kind || call.ApprovedBy != "" || call.Status != connectors.CallSuccess {
			t.Errorf("%s: %+v", kind, call)
		}
		b.clock.advance(2 * time.Hour)
		asRefusal(t, use(kind, params), toolcall.CodeApprovalPending)
		b.clock.advance(-2 * time.Hour)
		_, err = b.Door().Calls().EndAllowance(t.Context(), a.ID, list.Items[0].AllowanceKey)
		must(t, err)
		asRefusal(t, use(kind, params), toolcall.CodeApprovalPending)
		b.AsSystem(t, "update approvals set state = 'lapsed' where state = 'waiting'", nil)
	}
}

// lastCall is the latest call of the history.
func (b *bench) lastCall(t *testing.T) connectors.ToolCall {
	t.Helper()
	list, err := b.Door().Calls().List(t.Context(), store.CallFilter{Page: store.Page{Limit: 1}})
	must(t, err)
	if len(list.Items) == 0 {
		t.Fatal("there is no call")
	}
	return list.Items[0]
}

func TestDecide_ItemAllowanceNeedsGrantAndShortName(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAskAll })
	b.AsSystem(t, "update tenants set approval_timeout_s = 1", nil)
	request := b.order(t, b.process, a, c, "search", "")
	refusal := asRefusal(t, receive(t, b.useItem(t, b.process, request, connectors.CallPrompt, `{"name":"p"}`)).err, toolcall.CodeApprovalPending)
	allow := func() error {
		_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), refusal.CallID, toolcall.Decision{Approve: true, AllowFor: time.Hour})
		return err
	}
	b.Grant(t, a.ID, c.ID, func(g *connectors.Grant) { g.Prompts = connectors.PromptsNone })
	if err := allow(); !fault.Is(err, fault.Conflict) {
		t.Errorf("a prompt that is not granted is allowed: %v", err)
	}
	b.Grant(t, a.ID, c.ID)
	b.AsSystem(t, "update approvals set tool = repeat('x', 2001)", nil)
	if err := allow(); !fault.Is(err, fault.Invalid) {
		t.Errorf("a long name is allowed: %v", err)
	}
	b.AsSystem(t, "update approvals set tool = repeat('x', 2000)", nil)
	must(t, allow())
}

// TestItemRequest_NeedsApprovalAfterWait: the agent's mode changes while the request waits for the database.
func TestItemRequest_NeedsApprovalAfterWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.saveCredential(t, c, nil, connectors.Secret{Token: "t"})
	a := b.newTrustedAgent(t, c)
	request := b.order(t, b.process, a, c, "search", "")
	request.Wait = &store.WaitBudget{Tenant: b.Tenant}
	a.Approval = connectors.ApprovalAskAll
	_, err := b.Door().Agents().Update(t.Context(), a)
	must(t, err)
	reopen := b.CloseDatabase(t)
	answers := b.useItem(t, b.process, request, connectors.CallPrompt, `{"name":"p"}`)
	b.waitForWaiters(t, 1)
	reopen()
	wantRefused(t, receive(t, answers).err, toolcall.CodeUnavailable)
}
