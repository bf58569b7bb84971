package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// person is a member, for decisions about calls.
func (b *testEnv) person(t testing.TB) auth.Actor {
	t.Helper()
	self, err := b.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: connectors.RoleMember, Name: "somebody"}
}

// approve approves the only pending call.
func (b *testEnv) approve(t testing.TB) {
	t.Helper()
	b.decide(t, toolcall.Decision{Approve: true})
}

// decide decides the only pending call.
func (b *testEnv) decide(t testing.TB, d toolcall.Decision) {
	t.Helper()
	person := b.person(t)
	eventually(t, "a call waits", func() bool {
		inbox, err := b.caller.ListPendingApprovals(t.Context(), person, store.Page{})
		if err != nil || len(inbox.Items) == 0 {
			return false
		}
		_, err = b.caller.Decide(t.Context(), person, inbox.Items[0].ID, d)
		if err != nil {
			t.Fatal(err)
		}
		return true
	})
}

func TestApproval_ResumesCall(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			other := newTestProcess(t, b.World)
			agent := b.Agent(t)
			b.Grant(t, agent.ID, b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").url).ID)
			s := connect(t, other.url+"/mcp", b.Token(t, agent.ID), e)
			said := make(chan string, 1)
			go func() {
				result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "mcp_one__a", Arguments: map[string]any{"text": "hello"}})
				if err != nil {
					said <- err.Error()
					return
				}
				said <- textOf(result)
			}()
			b.approve(t)
			select {
			case got := <-said:
				if got != "a: hello" {
					t.Errorf("it says %q", got)
				}
			case <-time.After(patience):
				t.Error("an approved call does not go on")
			}
		})
	}
}

// TestApproval_TaskClientPolls polls the task at another process than the one that created it.
func TestApproval_TaskClientPolls(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	other := newTestProcess(t, b.World)
	agent, stranger := b.Agent(t), b.Agent(t)
	c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").url)
	b.Grant(t, agent.ID, c.ID)
	b.Grant(t, stranger.ID, c.ID)
	token := bearerHeader(b.Token(t, agent.ID))
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_one__a","arguments":{"text":"hello"},` + tasksMeta + `}}`
	made := post(t, b.url+"/mcp", message, "Authorization", token).rpc(t)
	task := taskIn(t, made)
	if task.Type != "task" || task.ID == "" || task.Status == "completed" {
		t.Fatalf("no task: %s", made.Result)
	}
	ask := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"` + task.ID + `",` + tasksMeta + `}}`
	get := func(url, token string) answer {
		return post(t, url+"/mcp", ask, "Authorization", token, "Mcp-Name", task.ID)
	}
	if got := get(b.url, bearerHeader(b.Token(t, stranger.ID))); got.rpc(t).Error == nil {
		t.Errorf("another agent got the task: %s", got.body)
	}
	b.approve(t)
	eventually(t, "the task is completed", func() bool {
		got := get(other.url, token)
		return got.status == http.StatusOK && taskIn(t, got.rpc(t)).Status == "completed" && strings.Contains(got.body, "a: hello")
	})
}

type taskState struct {
	Type   string `json:"resultType"`
	ID     string `json:"taskId"`
	Status string `json:"status"`
}

func taskIn(t testing.TB, r rpc) (s taskState) {
	t.Helper()
	if r.Error != nil || json.Unmarshal(r.Result, &s) != nil {
		t.Fatalf("no task: %+v %s", r.Error, r.Result)
	}
	return s
}

// TestItemApproval_UseWaitsAndRuns uses a prompt and a resource that a person approves, at both addresses.
func TestItemApproval_UseWaitsAndRuns(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.Agent(t, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAskAll })
			var asked atomic.Int32
			up := newUpstream(t, sdk.StreamableHTTPOptions{}).withTools()
			up.addMiddleware(func(context.Context, *sdk.ServerSession, sdk.Params) error { asked.Add(1); return nil })
			b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
			token := b.Token(t, agent.ID)
			for address, uri := range map[string]string{"/mcp": "patchbay+one:file:///notes", "/mcp/one": "file:///days/monday"} {
				s := connect(t, b.url+address, token, e)
				prompts, err := s.ListPrompts(t.Context(), nil)
				if err != nil || len(prompts.Prompts) != 1 {
					t.Fatal(prompts, err)
				}
				for _, use := range []itemUse{getPrompt(prompts.Prompts[0].Name), read(uri)} {
					before, done := asked.Load(), make(chan error, 1)
					go func() { done <- use.ask(t.Context(), s) }()
					b.waitForApproval(t)
					if asked.Load() != before {
						t.Errorf("%s: the server is asked before the approval", use.name)
					}
					b.approve(t)
					select {
					case err := <-done:
						if err != nil || asked.Load() == before {
							t.Errorf("%s: %v, asked %d times", use.name, err, asked.Load()-before)
						}
					case <-time.After(patience):
						t.Fatalf("%s: an approved use does not go on", use.name)
					}
				}
			}
		})
	}
}

// waitForApproval returns when a call waits for a person.
func (b *testEnv) waitForApproval(t testing.TB) {
	t.Helper()
	eventually(t, "a call waits", func() bool {
		list, err := b.Door().Calls().WaitingApprovals(t.Context(), store.Page{})
		return err == nil && len(list.Items) == 1
	})
}

// TestItemApproval_DenialIsAnError denies the use of a prompt.
func TestItemApproval_DenialIsAnError(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.Agent(t, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAskAll })
			b.Grant(t, agent.ID, b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withTools().url).ID)
			s, done := connect(t, b.url+"/mcp/one", b.Token(t, agent.ID), e), make(chan error, 1)
			go func() { done <- getPrompt("greet me").ask(t.Context(), s) }()
			b.waitForApproval(t)
			b.decide(t, toolcall.Decision{Reason: "not now"})
			if err := <-done; err == nil || !strings.Contains(err.Error(), "not now") {
				t.Errorf("error %v", err)
			}
		})
	}
}
