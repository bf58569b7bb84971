package toolcall_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// newSeveralAgent is an agent with a grant that binds the accounts work and home of a connector.
func newSeveralAgent(t testing.TB, b *bench, approval connectors.ApprovalMode) (connectors.Agent, connectors.Connector) {
	t.Helper()
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.saveAccount(t, c, nil, "work", "of-work")
	b.saveAccount(t, c, nil, "home", "of-home")
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = approval })
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true, Accounts: []string{"home", "work"}}))
	return a, c
}

// orderAs is a call of a tool with one of several accounts.
func orderAs(t testing.TB, b *bench, a connectors.Agent, c connectors.Connector, account, tool, arguments string) toolcall.CallRequest {
	t.Helper()
	c.Slug = connectors.ViewSlug(c.Slug, account)
	return b.order(t, b.process, a, c, tool, arguments)
}

func TestSeveralAccounts_TheNameChoosesOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a, c := newSeveralAgent(t, b, connectors.ApprovalAuto)
	view, err := b.process.keeper.ByAgent(t.Context(), b.Tenant, connectors.Ref(a.ID.String()))
	must(t, err)
	if view.Connector(c.Slug) != nil || view.Tool(connectors.ExposedName(c.Slug, "search")) != nil {
		t.Error("the connector is there without an account")
	}
	var calls sync.WaitGroup
	for n := range 20 {
		for _, account := range []string{"work", "home"} {
			request := orderAs(t, b, a, c, account, "search", fmt.Sprintf(`{"q":"%d"}`, n))
			if want := "mcp_" + c.Slug + "_" + account + "__search"; request.Tool.Exposed != want || view.Tool(want) == nil {
				t.Fatalf("the tool is called %s, want %s", request.Tool.Exposed, want)
			}
			calls.Go(func() {
				out, err := b.Call(t.Context(), request)
				if err != nil {
					t.Error(err)
					return
				}
				if row := b.row(t, out.CallID); row.CredentialID == nil || *row.CredentialID != request.Tool.Connector.Account {
					t.Errorf("the row of a call as %s has the account %v", account, row.CredentialID)
				}
			})
		}
	}
	calls.Wait()
	for _, account := range []string{"work", "home"} {
		if n := b.remote.callsWith("Bearer of-" + account); n != 20 {
			t.Errorf("%d calls as %s, want 20", n, account)
		}
	}
}

func TestSeveralAccounts_ApprovalIsForOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a, c := newSeveralAgent(t, b, connectors.ApprovalAlwaysAsk)
	ask := func(account string) error {
		request := orderAs(t, b, a, c, account, "search", `{"q":"x"}`)
		request.NoWait = true
		_, err := b.Call(t.Context(), request)
		return err
	}
	wantRefused(t, ask("work"), toolcall.CodeApprovalPending)
	work := b.onlyWaiting(t)
	wantRefused(t, ask("home"), toolcall.CodeApprovalPending) // the same arguments with another account are another call
	list, err := b.ListPendingApprovals(t.Context(), b.actor(connectors.RoleViewer), store.Page{})
	must(t, err)
	if len(list.Items) != 2 {
		t.Fatalf("%d approvals wait, want 2", len(list.Items))
	}
	_, err = b.Decide(t.Context(), b.actor(connectors.RoleMember), work, toolcall.Decision{Approve: true, AllowFor: time.Hour})
	must(t, err)
	b.waitUntil(t, "exists (select from tool_calls where id = '"+work.String()+"' and status = 'success')")
	if asWork, asHome := b.remote.callsWith("Bearer of-work"), b.remote.callsWith("Bearer of-home"); asWork != 1 || asHome != 0 {
		t.Fatalf("%d calls as work and %d as home, want 1 and 0", asWork, asHome)
	}
	must(t, ask("work"))
	wantRefused(t, ask("home"), toolcall.CodeApprovalPending) // the standing approval is for work alone
	if n := b.remote.callsWith("Bearer of-home"); n != 0 {
		t.Errorf("%d calls as home without approval", n)
	}
}

// A state of a call with one account does not continue a call with the other.
func TestSeveralAccounts_StateIsOfOne(t *testing.T) {
	t.Parallel()
	b := newPinnedBench(t, connectors.ApprovalAuto, map[string]func(string) string{
		"tools/call": func(string) string {
			return `{"resultType":"input_required","requestState":"theirs","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`
		},
	})
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: b.a.ID, ConnectorID: b.c.ID, AllTools: true, Accounts: []string{"home", "work"}}))
	begin := func(account string) toolcall.CallRequest {
		request := orderAs(t, b.bench, b.a, b.c, account, "search", `{}`)
		request.MultiRound, request.Capabilities = true, json.RawMessage(`{"elicitation":{"form":{}}}`)
		return request
	}
	out, err := b.Call(t.Context(), begin("work"))
	must(t, err)
	var state struct {
		RequestState json.RawMessage `json:"requestState"`
	}
	must(t, json.Unmarshal(out.Raw, &state))
	if !out.InputRequired || state.RequestState == nil {
		t.Fatalf("no input is required: %s", out.Raw)
	}
	other := begin("home")
	other.Input = &mcp.Input{State: state.RequestState, Responses: json.RawMessage(`{"k":{"action":"accept","content":{}}}`)}
	if _, err := b.Call(t.Context(), other); err == nil || !strings.Contains(err.Error(), "requestState") {
		t.Errorf("the state of the account work continues a call as home: %v", err)
	}
}

// An admin's request of an agent with several accounts uses none, also if another account is the only one left.
func TestSeveralAccounts_AreNotReplacedByTheOnlyOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, perAgent)
	a := b.newGrantedAgent(t, c)
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true, Accounts: []string{"home", "work"}}))
	b.saveAccount(t, c, &a.ID, "spare", "of-spare")
	own := b.ownCall(c, "read", `{}`)
	own.Account = connectors.Ref(a.Slug)
	call, err := b.runOwn(t, own)
	if err == nil && call.Status == connectors.CallSuccess {
		t.Error("a person's call was made")
	}
	if _, err := b.Call(t.Context(), orderAs(t, b, a, c, "work", "search", `{}`)); err == nil {
		t.Error("an agent's call was made")
	}
	if n := b.remote.callsWith("Bearer of-spare"); n != 0 {
		t.Errorf("%d calls with an account that the grant does not bind", n)
	}
}

// A call that was checked again keeps its account, also if it is missing.
func TestSeveralAccounts_RecheckKeepsTheAccount(t *testing.T) {
	t.Parallel()
	for name, drop := range map[string]bool{"stored": false, "missing": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a, c := newSeveralAgent(t, b, connectors.ApprovalAuto)
			if drop {
				must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, "home"))
			}
			request := orderAs(t, b, a, c, "work", "search", `{}`)
			if !drop { // the view is stale: the account has another id now
				must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, "work"))
				b.saveAccount(t, c, nil, "work", "of-work")
			}
			_, err := b.Call(t.Context(), request)
			must(t, err)
			if asWork, asHome := b.remote.callsWith("Bearer of-work"), b.remote.callsWith("Bearer of-home"); asWork != 1 || asHome != 0 {
				t.Errorf("%d calls as work and %d as home, want 1 and 0", asWork, asHome)
			}
		})
	}
}

// What is kept of an answer is read with the account of its call alone.
func TestSeveralAccounts_ConnectorWithNeedsTheAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a, c := newSeveralAgent(t, b, connectors.ApprovalAuto)
	view, err := b.process.keeper.ByAgent(t.Context(), b.Tenant, connectors.Ref(a.ID.String()))
	must(t, err)
	for _, account := range []string{"home", "work"} {
		of := view.Connector(connectors.ViewSlug(c.Slug, account))
		if got := view.ConnectorWith(c.ID, of.Account); got != of {
			t.Errorf("the connector with the account %s is %+v", account, got)
		}
	}
	if view.ConnectorWith(c.ID, connectors.CredentialID{}) != nil || view.ConnectorWith(c.ID, connectors.CredentialID{UUID: uuid.New()}) != nil {
		t.Error("a connector is found without one of its accounts")
	}
}
