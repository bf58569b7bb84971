package toolcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

func TestApproval_RunsOnlyWhatWasReviewed(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	answers, id := b.startWaiting(t, a, c, b.process)
	for _, arguments := range []string{`{"q":"evil","q":"x"}`, `{"q":"x","o":{"a":1,"a":2}}`, `{"q":"x\ud800"}`, `{"q":["\udc00","\ud83d\ud83d"]}`} {
		_, err := b.Call(t.Context(), b.order(t, b.process, a, c, "read", arguments))
		if bad, ok := errors.AsType[*toolcall.InvalidArgumentsError](err); !ok || !strings.Contains(bad.Sentence, "arguments are ambiguous") {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	unambiguous := `{"q":"\ud83d\ude00 \\ud800 \ufffd","o":[{"a":1},{"a":1}]}`
	request := b.order(t, b.process, a, c, "read", unambiguous)
	request.NoWait = true
	_, err := b.Call(t.Context(), request)
	_, err = b.Cancel(t.Context(), b.actor(connectors.RoleMember), asRefusal(t, err, toolcall.CodeApprovalPending).CallID)
	must(t, err)
	// The same call in another encoding shares the row.
	request = b.order(t, b.process, a, c, "search", `{ "\u0071" : "\u0078" }`)
	progress := make(chan struct{}, 10)
	request.Progress = func(json.RawMessage) { progress <- struct{}{} }
	go func() {
		out, err := b.Call(context.WithoutCancel(t.Context()), request)
		answers <- callAnswer{out, err}
	}()
	receive(t, progress)
	b.approve(t, b.process, id)
	must(t, receive(t, answers).err)
	must(t, receive(t, answers).err)
	var sent struct{ Arguments json.RawMessage }
	must(t, json.Unmarshal(receive(t, b.remote.arrived).Params, &sent))
	if string(sent.Arguments) != `{"q":"x"}` {
		t.Errorf("the server got %s", sent.Arguments)
	}
	b.remote.wantCalls(t, 1)
}

func TestApproval_DenialHoldsForFiveMinutes(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	other := b.newProcess(t, b.newInstance(t))
	deny := func(reason string) {
		_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), b.onlyWaiting(t), toolcall.Decision{Reason: reason})
		must(t, err)
	}
	_, err := b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	deny("Not today.")
	for _, p := range []*process{b.process, other} {
		_, err = b.callNoWait(t, p, a, c)
		r := asRefusal(t, err, toolcall.CodeDenied)
		p.history.Flush(t.Context())
		if row := b.row(t, r.CallID); r.Sentence != "The same call was denied less than five minutes ago. No new approval was requested. Reason: Not today." || row.Status != connectors.CallDenied {
			t.Errorf("it says %q, on record is %+v", r.Sentence, row)
		}
	}
	if list, err := b.ListPendingApprovals(t.Context(), b.actor(connectors.RoleMember), store.Page{}); err != nil || len(list.Items) > 0 {
		t.Errorf("inbox = %+v, %v", list, err)
	}

	request := b.order(t, b.process, a, c, "search", `{"q":"another"}`)
	request.NoWait = true
	_, err = b.Call(t.Context(), request)
	_, err = b.Cancel(t.Context(), b.actor(connectors.RoleMember), asRefusal(t, err, toolcall.CodeApprovalPending).CallID)
	must(t, err)
	b.clock.advance(6 * time.Minute)
	_, err = b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	b.onlyWaiting(t)
	b.remote.wantCalls(t, 0)
}

func TestApproval_DisabledAgentIsRefused(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	answers, id := b.startWaiting(t, a, c, b.process)
	a.Enabled = false
	_, err := b.Door().Agents().Update(t.Context(), a)
	must(t, err)
	b.approve(t, b.process, id)
	wantRefused(t, receive(t, answers).err, toolcall.CodeNotGranted)
	_, err = b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeNotGranted)
	b.remote.wantCalls(t, 0)
	if list, err := b.ListPendingApprovals(t.Context(), b.actor(connectors.RoleMember), store.Page{}); err != nil || len(list.Items) > 0 {
		t.Errorf("inbox = %+v, %v", list, err)
	}
}

func TestApproval_OpenCallsPerAgentAreBounded(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	ask := func(a connectors.Agent, arguments string) error {
		request := b.order(t, b.process, a, c, "search", arguments)
		request.NoWait = true
		_, err := b.Call(t.Context(), request)
		return err
	}
	for i := range 100 {
		wantRefused(t, ask(a, fmt.Sprintf(`{"q":"%d"}`, i)), toolcall.CodeApprovalPending)
	}
	wantRefused(t, ask(a, `{"q":"one more"}`), toolcall.CodeRateLimited)
	wantRefused(t, ask(a, `{"q":"99"}`), toolcall.CodeApprovalPending) // an open call again
	other := b.newGrantedAgent(t, c)
	wantRefused(t, ask(other, `{"q":"x"}`), toolcall.CodeApprovalPending)
	if _, ok := errors.AsType[*toolcall.InvalidArgumentsError](ask(other, `{"q":"`+strings.Repeat("x", 1<<20)+`"}`)); !ok {
		t.Error("a person is asked about a megabyte")
	}
}

func TestApproval_SendsOnlyReviewedContent(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	sent := make(chan string, 1)
	b.remote.set(answerModern(map[string]func(string) string{"tools/call": func(params string) string {
		sent <- params
		return `{"resultType":"complete","content":[]}`
	}}))
	request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
	request.Meta = json.RawMessage(`{"progressToken":7,"x-also":"delete all"}`)
	request.Capabilities = json.RawMessage(`{"elicitation":{"x":"delete"},"experimental":{"x":"delete"}}`)
	request.MultiRound, request.Input = true, &mcp.Input{Responses: json.RawMessage(`{"confirmed":true}`)}
	progress, answers := make(chan struct{}, 10), make(chan callAnswer, 1)
	request.Progress = func(json.RawMessage) { progress <- struct{}{} }
	go func() {
		out, err := b.Call(context.WithoutCancel(t.Context()), request)
		answers <- callAnswer{out, err}
	}()
	receive(t, progress)
	b.approve(t, b.process, b.onlyWaiting(t))
	must(t, receive(t, answers).err)
	if params := receive(t, sent); !strings.Contains(params, `"arguments":{"q":"x"}`) || strings.Contains(params, "delete") ||
		strings.Contains(params, "confirmed") || !strings.Contains(params, `/clientCapabilities":{"elicitation":{"form":{}}}`) {
		t.Errorf("the server got %s", params)
	}
}
