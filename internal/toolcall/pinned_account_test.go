package toolcall_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// accountChanges make another account of the connector the one of the agent's grant.
var accountChanges = map[string]func(testing.TB, *bench, connectors.Connector, connectors.Agent){
	"the grant binds another": func(t testing.TB, b *bench, c connectors.Connector, a connectors.Agent) {
		must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true, Accounts: []string{"home"}}))
	},
	"another takes its name": func(t testing.TB, b *bench, c connectors.Connector, _ connectors.Agent) {
		must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, "work"))
		b.saveAccount(t, c, nil, "work", "of-home")
	},
	"the names are swapped": func(t testing.TB, b *bench, c connectors.Connector, a connectors.Agent) {
		for _, names := range [][2]string{{"work", "was-work"}, {"home", "work"}} {
			must(t, b.Door().Accounts().Rename(t.Context(), c.ID, nil, names[0], names[1]))
		}
		must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true, Accounts: []string{"work"}}))
	},
}

// pinnedBench is a connector with the accounts work and home, and an agent of the first.
type pinnedBench struct {
	*bench
	c connectors.Connector
	a connectors.Agent

	mu     sync.Mutex
	atHome []string // methods of requests with the other account
}

func newPinnedBench(t testing.TB, approval connectors.ApprovalMode, answers map[string]func(string) string) *pinnedBench {
	t.Helper()
	b := &pinnedBench{bench: newBench(t, withModernDialer)}
	b.c = b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.saveAccount(t, b.c, nil, "work", "of-work")
	b.saveAccount(t, b.c, nil, "home", "of-home")
	b.a = b.newGrantedAgent(t, b.c, func(a *connectors.Agent) { a.Approval = approval })
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: b.a.ID, ConnectorID: b.c.ID, AllTools: true, Accounts: []string{"work"}}))
	answer := answerModern(answers)
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		if r.Header.Get("Authorization") == "Bearer of-home" && m.Method != "server/discover" {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.atHome = append(b.atHome, m.Method)
		}
		return answer(w, r, m)
	})
	return b
}

func (b *pinnedBench) wantNoOther(t testing.TB) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.atHome) > 0 {
		t.Errorf("requests with another account: %v", b.atHome)
	}
}

func TestPinnedAccount_IsThatOfTheApproval(t *testing.T) {
	t.Parallel()
	for name, change := range accountChanges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPinnedBench(t, connectors.ApprovalAlwaysAsk, map[string]func(string) string{
				"tools/call": func(string) string { return `{"resultType":"complete","content":[]}` },
			})
			answers, id := b.startWaiting(t, b.a, b.c, b.process)
			change(t, b.bench, b.c, b.a)
			b.approve(t, b.process, id)
			wantRefused(t, receive(t, answers).err, toolcall.CodeUnavailable)
			b.wantNoOther(t)
		})
	}
}

func TestPinnedAccount_AnotherAsksAgain(t *testing.T) {
	t.Parallel()
	b := newPinnedBench(t, connectors.ApprovalAlwaysAsk, nil)
	for waiting, account := range []string{"work", "home"} {
		must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: b.a.ID, ConnectorID: b.c.ID, AllTools: true, Accounts: []string{account}}))
		for range 2 {
			_, err := b.callNoWait(t, b.process, b.a, b.c)
			wantRefused(t, err, toolcall.CodeApprovalPending)
		}
		n, err := b.Door().Calls().CountOpenApprovals(t.Context(), b.a.ID)
		must(t, err)
		if n != waiting+1 {
			t.Errorf("%s: %d calls wait", account, n)
		}
	}
}

func TestPinnedAccount_IsThatOfTheTask(t *testing.T) {
	t.Parallel()
	for name, change := range accountChanges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := `{"resultType":"complete","taskId":"own-id","status":"working"}`
			b := newPinnedBench(t, connectors.ApprovalAuto, map[string]func(string) string{
				"tools/call": func(string) string {
					return `{"resultType":"task","taskId":"own-id","status":"working","pollIntervalMs":100}`
				},
				"tasks/get":    func(string) string { return task },
				"tasks/cancel": func(string) string { return `{"resultType":"complete"}` },
			})
			request := b.order(t, b.process, b.a, b.c, "search", "")
			request.Task = true
			out, err := b.Call(t.Context(), request)
			must(t, err)
			params := taskParams(t, out.Raw)
			_, err = b.TaskRequest(t.Context(), request.View, request.Client, "tasks/get", params)
			must(t, err)
			change(t, b.bench, b.c, b.a)
			now := b.order(t, b.process, b.a, b.c, "search", "")
			for _, method := range []string{"tasks/get", "tasks/update"} {
				_, err = b.TaskRequest(t.Context(), now.View, now.Client, method, params)
				wantRefused(t, err, toolcall.CodeUnavailable)
			}
			_, err = b.TaskRequest(t.Context(), now.View, now.Client, "tasks/cancel", params)
			if name == "another takes its name" {
				wantRefused(t, err, toolcall.CodeUnavailable)
			} else {
				must(t, err) // with the account of the task
			}
			b.wantNoOther(t)
		})
	}
}

func TestPinnedAccount_IsThatOfTheServersState(t *testing.T) {
	t.Parallel()
	for name, change := range accountChanges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPinnedBench(t, connectors.ApprovalAuto, map[string]func(string) string{"tools/call": func(string) string {
				return `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}},"requestState":"s"}`
			}})
			request := b.order(t, b.process, b.a, b.c, "search", "")
			request.MultiRound, request.Capabilities = true, json.RawMessage(`{"elicitation":{}}`)
			markModern(&request)
			out, err := b.Call(t.Context(), request)
			must(t, err)
			if !out.InputRequired {
				t.Fatalf("raw = %s", out.Raw)
			}
			var required struct{ RequestState json.RawMessage }
			must(t, json.Unmarshal(out.Raw, &required))
			change(t, b.bench, b.c, b.a)
			again := b.order(t, b.process, b.a, b.c, "search", "")
			again.MultiRound, again.Capabilities = true, request.Capabilities
			again.Input = &mcp.Input{Responses: json.RawMessage(`{"k":1}`), State: required.RequestState}
			markModern(&again)
			_, err = b.Call(t.Context(), again)
			wantRefused(t, err, toolcall.CodeUnavailable)
			b.wantNoOther(t)
		})
	}
}

func TestOwnCall_UsesTheAccountOfSyncsOrOfTheGrant(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.saveAccount(t, shared, nil, "work", "of-work")
	b.saveAccount(t, shared, nil, "home", "of-home")
	for _, account := range []string{"home", "work"} {
		must(t, b.Door().Syncs().ChooseForSyncs(t.Context(), shared.ID, nil, account))
		call, err := b.runOwn(t, b.ownCall(shared, "read", `{}`))
		must(t, err)
		if n := b.remote.callsWith("Bearer of-" + account); n != 1 || call.Status != connectors.CallSuccess {
			t.Errorf("%s: %d calls, %+v", account, n, call)
		}
	}
	own := b.connector(t, b.remote, perAgent)
	a := b.newBoundAgent(t, own, "home")
	b.saveAccount(t, own, &a.ID, "work", "agents-work")
	b.saveAccount(t, own, &a.ID, "home", "agents-home")
	request := b.ownCall(own, "read", `{}`)
	request.Account = connectors.Ref(a.Slug)
	if _, err := b.runOwn(t, request); err != nil || b.remote.callsWith("Bearer agents-home") != 1 {
		t.Errorf("the grant's account served no call: %v", err)
	}
}

func TestOwnCall_OpensNoAccountForAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.saveAccount(t, c, nil, "work", "of-work")
	b.saveAccount(t, c, nil, "home", "of-home")
	unbound := b.newBoundAgent(t, c, "")
	for range 2 { // the second time the person's session is open
		_, err := b.call(t, unbound, c, `{}`)
		wantRefused(t, err, toolcall.CodeNeedsAuthorization)
		call, err := b.runOwn(t, b.ownCall(c, "read", `{}`))
		must(t, err)
		if call.Status != connectors.CallSuccess {
			t.Errorf("%+v", call)
		}
	}
	if n := b.remote.callsWith("Bearer of-work"); n != 2 {
		t.Errorf("%d calls with the account of syncs, want the person's 2", n)
	}
}

func TestPinnedAccount_AllowsNoOtherOne(t *testing.T) {
	t.Parallel()
	b := newPinnedBench(t, connectors.ApprovalAlwaysAsk, nil)
	_, id := b.startWaiting(t, b.a, b.c, b.process)
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: b.a.ID, ConnectorID: b.c.ID, AllTools: true, Accounts: []string{"home"}}))
	_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true, AllowFor: time.Hour})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("the decision: %v", err)
	}
	list, err := b.Door().Calls().Allowances(t.Context(), b.a.ID, store.Page{})
	must(t, err)
	if len(list.Items) > 0 {
		t.Errorf("allowed: %+v", list.Items)
	}
}

func TestPinnedAccount_ReplacedOneAsksAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.saveAccount(t, c, nil, "", "first")
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	_, err := b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	first := b.onlyWaiting(t)
	_, err = b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	if again := b.onlyWaiting(t); again != first {
		t.Error("the same call asks twice")
	}
	must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""))
	b.saveAccount(t, c, nil, "", "second")
	_, err = b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	if second := b.onlyWaiting(t); second == first {
		t.Error("the approval of another account is joined")
	}
	if call := b.row(t, first); call.Status != connectors.CallCancelled || call.CompletedAt == nil {
		t.Errorf("the call with the account that was replaced: %s, completed %v", call.Status, call.CompletedAt)
	}
}

// The account is replaced while the decision waits for the replacement.
func TestPinnedAccount_ReplacedOneIsNotAllowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.saveAccount(t, c, nil, "", "first")
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	_, err := b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	id, member, decided := b.onlyWaiting(t), b.actor(connectors.RoleMember), make(chan error, 1)
	must(t, b.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		if _, err := tx.LockAndReadState(t.Context(), store.OfTenant()); err != nil {
			return err
		}
		if err := tx.Connectors().DeleteCredential(t.Context(), c.ID, nil, ""); err != nil {
			return err
		}
		go func() {
			_, err := b.Decide(t.Context(), member, id, toolcall.Decision{Approve: true, AllowFor: time.Hour})
			decided <- err
		}()
		b.waitUntil(t, "exists (select from pg_locks where not granted)")
		return nil
	}))
	if err := receive(t, decided); !fault.Is(err, fault.Conflict) {
		t.Errorf("the decision: %v", err)
	}
	list, err := b.Door().Calls().Allowances(t.Context(), a.ID, store.Page{})
	must(t, err)
	if len(list.Items) > 0 {
		t.Errorf("allowed: %+v", list.Items)
	}
}

func TestPinnedAccount_IsThatOfTheView(t *testing.T) {
	t.Parallel()
	b := newPinnedBench(t, connectors.ApprovalAuto, map[string]func(string) string{
		"tools/call":     func(string) string { return `{"resultType":"complete","content":[]}` },
		"resources/read": func(string) string { return `{"resultType":"complete","contents":[]}` },
	})
	request := b.order(t, b.process, b.a, b.c, "search", "")
	for _, names := range [][2]string{{"work", "was-work"}, {"home", "work"}} {
		must(t, b.Door().Accounts().Rename(t.Context(), b.c.ID, nil, names[0], names[1]))
	}
	_, err := b.Call(t.Context(), request) // the view is older than the names
	must(t, err)
	_, err = b.SendRequest(t.Context(), toolcall.UpstreamRequest{
		View: request.View, Connector: request.View.Connector(b.c.Slug), Method: "resources/read", Params: json.RawMessage(`{"uri":"a:b"}`),
		Client: toolcall.Client{Caller: connectors.CallerAgent(b.a.ID)},
	})
	must(t, err)
	b.wantNoOther(t)
}

func TestPinnedAccount_IsSealedWithTheApproval(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"none":    "update approvals set account_id = null, sealed_account_id = null",
		"another": "update approvals set account_id = gen_random_uuid(), sealed_account_id = gen_random_uuid()",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPinnedBench(t, connectors.ApprovalAlwaysAsk, nil)
			_, id := b.startWaiting(t, b.a, b.c, b.process)
			vault := b.St.Vault(b.Tenant)
			row, _, err := vault.ApprovalCall(t.Context(), id)
			must(t, err)
			b.AsSystem(t, "update approvals set account_id = null", nil)
			if again, _, err := vault.ApprovalCall(t.Context(), id); err != nil || again.Account != row.Account || again.Account == (connectors.CredentialID{}) {
				t.Errorf("of the account %s, not %s: %v", again.Account, row.Account, err)
			}
			b.AsSystem(t, change, nil)
			if _, _, err := vault.ApprovalCall(t.Context(), id); !fault.Is(err, fault.Internal) {
				t.Errorf("it opens: %v", err)
			}
		})
	}
}

// A call is stored as running before its account is known. Its row has the account when it was sent, also if it goes on as a task.
func TestPinnedAccount_IsInTheRowOfATask(t *testing.T) {
	t.Parallel()
	b := newPinnedBench(t, connectors.ApprovalAuto, map[string]func(string) string{
		"tools/call": func(string) string {
			return `{"resultType":"task","taskId":"own-id","status":"working","pollIntervalMs":100}`
		},
		"tasks/get": func(string) string {
			return `{"resultType":"complete","taskId":"own-id","status":"completed","result":{"content":[]}}`
		},
	})
	work, err := b.Door().Agents().CredentialFor(t.Context(), b.c.ID, nil, "work")
	must(t, err)
	request := b.order(t, b.process, b.a, b.c, "search", "")
	request.Task = true
	out, err := b.Call(t.Context(), request)
	must(t, err)
	wantAccount := func(status connectors.CallStatus) {
		t.Helper()
		if row := b.row(t, out.CallID); row.Status != status || row.CredentialID == nil || *row.CredentialID != work.ID {
			t.Errorf("%s, account %v, want %s of %v", row.Status, row.CredentialID, status, work.ID)
		}
	}
	wantAccount(connectors.CallRunning)
	_, err = b.TaskRequest(t.Context(), request.View, request.Client, "tasks/get", taskParams(t, out.Raw))
	must(t, err)
	wantAccount(connectors.CallSuccess)
}

func TestPinnedAccount_IsThatOfARepeatedRequest(t *testing.T) {
	t.Parallel()
	for method, send := range map[string]func(*pinnedBench, toolcall.CallRequest) error{
		"tools/call": func(b *pinnedBench, request toolcall.CallRequest) error {
			_, err := b.Call(context.Background(), request)
			return err
		},
		"resources/read": func(b *pinnedBench, request toolcall.CallRequest) error {
			_, err := b.SendRequest(context.Background(), toolcall.UpstreamRequest{
				View: request.View, Connector: request.View.Connector(b.c.Slug), Kind: connectors.CallResource, Name: "file:///a", Method: "resources/read",
				Params: json.RawMessage(`{"uri":"file:///a"}`), Client: toolcall.Client{Caller: connectors.CallerAgent(b.a.ID)},
			})
			return err
		},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			sent, release := make(chan struct{}, 1), make(chan struct{})
			defer close(release)
			hold := func(string) string {
				select {
				case sent <- struct{}{}:
					<-release
				default:
				}
				return `{"resultType":"complete"}`
			}
			b := newPinnedBench(t, connectors.ApprovalAuto, map[string]func(string) string{method: hold})
			request := b.order(t, b.process, b.a, b.c, "read", "")
			ended := make(chan error, 1)
			go func() { ended <- send(b, request) }()
			receive(t, sent)
			must(t, b.Door().Tx(t.Context(), func(tx *store.Tenant) error {
				if err := tx.Accounts().Rename(t.Context(), b.c.ID, nil, "work", "was-work"); err != nil {
					return err
				}
				return tx.Accounts().Rename(t.Context(), b.c.ID, nil, "home", "work")
			}))
			wantRefused(t, receive(t, ended), toolcall.CodeUnavailable)
			b.wantNoOther(t)
		})
	}
}

func TestPinnedAccount_ApprovedStateWithoutOneIsRefused(t *testing.T) {
	t.Parallel()
	b := newPinnedBench(t, connectors.ApprovalAlwaysAsk, nil)
	request := b.resumeOrder(t, b.c, b.a, func(toolcall.CallRequest) toolcall.Outcome {
		answers, id := b.startWaiting(t, b.a, b.c, b.process)
		b.approve(t, b.process, id)
		got := receive(t, answers)
		must(t, got.err)
		return got.out
	})
	var handle string
	must(t, json.Unmarshal(request.Input.State, &handle))
	owner := b.Tenant.String() + " " + b.a.ID.String()
	plain, err := b.St.OpenHandle("call state", owner, handle)
	must(t, err)
	var state map[string]json.RawMessage
	must(t, json.Unmarshal(plain, &state))
	if state["k"] == nil || state["a"] == nil {
		t.Fatalf("the state has no account or no approval: %s", plain)
	}
	delete(state, "k") // as the previous release sealed it, of a server without a state
	delete(state, "s")
	plain, err = json.Marshal(state)
	must(t, err)
	handle, err = b.St.SealHandle("call state", owner, plain)
	must(t, err)
	request.Input.State, err = json.Marshal(handle)
	must(t, err)
	_, err = b.Call(t.Context(), request)
	wantRefused(t, err, toolcall.CodeUnavailable)
	b.remote.wantCalls(t, 1)
}

// The row has the account before the request is sent, for another process that ends the call.
func TestPinnedAccount_IsStoredBeforeTheCallIsSent(t *testing.T) {
	t.Parallel()
	b := newPinnedBench(t, connectors.ApprovalAuto, nil)
	opening, release := make(chan struct{}, 1), make(chan struct{})
	answer := answerModern(map[string]func(string) string{
		"tools/call": func(string) string { return `{"resultType":"complete","content":[]}` },
	})
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method == "server/discover" {
			select {
			case opening <- struct{}{}:
			default:
			}
			<-release
		}
		return answer(w, r, m)
	})
	work, err := b.Door().Agents().CredentialFor(t.Context(), b.c.ID, nil, "work")
	must(t, err)
	request := b.order(t, b.process, b.a, b.c, "search", "")
	request.ID = toolcall.NewCallID()
	ended := make(chan error, 1)
	go func() {
		_, err := b.Call(context.Background(), request)
		ended <- err
	}()
	receive(t, opening)
	row := b.row(t, request.ID)
	close(release)
	if row.Status != connectors.CallRunning || row.CredentialID == nil || *row.CredentialID != work.ID {
		t.Errorf("%s, account %v, want %v", row.Status, row.CredentialID, work.ID)
	}
	must(t, receive(t, ended))
}
