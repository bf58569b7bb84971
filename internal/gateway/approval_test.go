package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// approve approves the only pending call.
func (b *testEnv) approve(t testing.TB) {
	t.Helper()
	self, err := b.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	person := auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: connectors.RoleMember, Name: "somebody"}
	eventually(t, "a call waits", func() bool {
		inbox, err := b.caller.ListPendingApprovals(t.Context(), person, store.Page{})
		if err != nil || len(inbox.Items) == 0 {
			return false
		}
		_, err = b.caller.Decide(t.Context(), person, inbox.Items[0].ID, toolcall.Decision{Approve: true})
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
