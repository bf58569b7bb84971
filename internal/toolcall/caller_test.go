package toolcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
)

// newManagedBench is a member's agent with a managed account.
func newManagedBench(t *testing.T, approval connectors.ApprovalMode) (*bench, connectors.Connector, connectors.Agent, connectors.UserID) {
	t.Helper()
	b := newBench(t)
	c := b.connector(t, b.remote, fixture.Managed, func(d *connectors.Draft) { d.Methods = []string{"x/y"} })
	a, member := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = approval }), b.Member(t, connectors.RoleAdmin).UserID
	b.ManagedAccount(t, c, a.ID, member, "managed")
	return b, c, a, member
}

func TestManagedAccount_ServesItsCallersAlone(t *testing.T) {
	t.Parallel()
	b, c, a, member := newManagedBench(t, connectors.ApprovalAuto)
	admin := b.Member(t, connectors.RoleOwner).UserID
	served := 0
	for range 2 { // the second time the account is cached, and its session is open
		for name, caller := range map[string]connectors.Caller{"key": {}, "admin": connectors.CallerPerson(&admin), "another agent": connectors.CallerAgent(b.Agent(t).ID)} {
			request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
			request.Caller = caller
			_, err := b.Call(t.Context(), request)
			if r := asRefusal(t, err, toolcall.CodeNotGranted); !strings.Contains(r.Sentence, "Ask the member") || r.ConnectURL != "" {
				t.Errorf("%s: %q", name, r.Sentence)
			}
		}
		b.remote.wantCalls(t, served)
		for name, caller := range map[string]connectors.Caller{"member": connectors.CallerPerson(&member), "agent": connectors.CallerAgent(a.ID)} {
			request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
			request.Caller = caller
			if _, err := b.Call(t.Context(), request); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			served++
		}
	}
	if n := b.remote.callsWith("Bearer managed"); n != served {
		t.Errorf("%d calls with the account, want %d", n, served)
	}
}

func TestManagedAccount_ServesNoOtherAdmin(t *testing.T) {
	t.Parallel()
	b, c, a, member := newManagedBench(t, connectors.ApprovalAuto)
	own := b.ownCall(c, "read", `{}`)
	own.Account = connectors.Ref(a.Slug)
	method := toolcall.MethodRequest{Method: "x/y", Params: json.RawMessage(`{}`), Agent: connectors.Ref(a.Slug)}
	other := b.Member(t, connectors.RoleOwner).UserID
	for _, person := range []*connectors.UserID{nil, &other} {
		own.Actor.UserID = person
		call, err := b.runOwn(t, own)
		must(t, err)
		if call.ErrorCode != string(toolcall.CodeNotGranted) || call.Status == connectors.CallSuccess {
			t.Errorf("own call: %+v", call)
		}
		_, _, err = b.SendMethod(t.Context(), own.Actor, c, method)
		wantRefused(t, err, toolcall.CodeNotGranted)
	}
	if _, requests := b.remote.requestCounts(); requests != 0 {
		t.Errorf("%d requests", requests)
	}
	own.Actor.UserID = &member
	if call, err := b.runOwn(t, own); err != nil || call.Status != connectors.CallSuccess {
		t.Errorf("the member's own: %+v, %v", call, err)
	}
}

func TestManagedAccount_ApprovedCallIsItsCallers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		caller func(connectors.Agent, connectors.UserID) connectors.Caller
		runs   bool
	}{
		"agent":  {func(a connectors.Agent, _ connectors.UserID) connectors.Caller { return connectors.CallerAgent(a.ID) }, true},
		"member": {func(_ connectors.Agent, m connectors.UserID) connectors.Caller { return connectors.CallerPerson(&m) }, true},
		"key":    {func(connectors.Agent, connectors.UserID) connectors.Caller { return connectors.Caller{} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, c, a, member := newManagedBench(t, connectors.ApprovalAlwaysAsk)
			request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
			request.NoWait, request.Caller = true, tc.caller(a, member)
			if !tc.runs {
				_, err := b.Call(t.Context(), request)
				wantRefused(t, err, toolcall.CodeNotGranted)
				b.AsSystem(t, "update credentials set member_id = null", nil) // a person's account, until the call is approved
			}
			_, err := b.Call(t.Context(), request)
			wantRefused(t, err, toolcall.CodeApprovalPending)
			if !tc.runs {
				b.ReplaceByManaged(t, c, a.ID, member, "managed")
			}
			id := b.onlyWaiting(t)
			p := b.newProcess(t, b.newInstance(t))
			_, err = p.Decide(t.Context(), b.actor(connectors.RoleAdmin), id, toolcall.Decision{Approve: true})
			must(t, err)
			p.stop() // waits for the call
			call := b.row(t, id)
			if want := map[bool]connectors.CallStatus{true: connectors.CallSuccess, false: connectors.CallError}[tc.runs]; call.Status != want {
				t.Errorf("status %s, %s", call.Status, call.ErrorMessage)
			}
			b.remote.wantCalls(t, map[bool]int{true: 1}[tc.runs])
		})
	}
}
