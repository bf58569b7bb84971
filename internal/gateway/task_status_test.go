package gateway_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// taskClient is a client of 2025-11-25 with a task. It listens at another process.
type taskClient struct {
	*testEnv
	t      *testing.T
	server *mcptest.TaskServer
	call   connectors.ToolCallID
	handle string // id of the task
	states <-chan serverMessage
}

func newTaskClient(t *testing.T, opts ...func(*connectors.Agent)) *taskClient {
	t.Helper()
	c := &taskClient{testEnv: newTestEnv(t), t: t, server: mcptest.StartTaskServer(t, "")}
	other := newTestProcess(t, c.World)
	agent := c.newAutoAgent(t, opts...)
	connector := c.newConnector(t, "one", c.server.URL, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })
	c.Grant(t, agent.ID, connector.ID)
	token := bearerHeader(c.Token(t, agent.ID))
	s := newLegacySession(t, c.url+"/mcp", token, "2025-11-25")
	session := s.opened.header.Get("Mcp-Session-Id")
	c.states = listenForMessages(t, other.url+"/mcp", token, session)
	other.listening(t, 1)
	var made struct{ Task struct{ TaskID string } }
	raw := s.result("tools/call", `"name":"mcp_one__research","task":{}`)
	if err := json.Unmarshal(raw, &made); err != nil || made.Task.TaskID == "" {
		t.Fatalf("%s, %v", raw, err)
	}
	c.handle = made.Task.TaskID
	list, err := c.Door().Calls().AgentTasks(t.Context(), agent.ID, connector.CreatedAt, store.Page{Limit: 10})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d tasks, %v", len(list.Items), err)
	}
	c.call = list.Items[0].ID
	return c
}

// wantState waits for the next state of the task.
func (c *taskClient) wantState(status, message string) {
	c.t.Helper()
	m := <-c.states
	var got struct{ TaskID, Status, StatusMessage, CreatedAt, LastUpdatedAt string }
	if err := json.Unmarshal(m.Params, &got); err != nil || m.Method != "notifications/tasks/status" || got.TaskID != c.handle ||
		got.Status != status || got.StatusMessage != message || got.CreatedAt == "" || got.LastUpdatedAt == "" {
		c.t.Errorf("received %s %s, want %s, %q", m.Method, m.Params, status, message)
	}
}

func TestTaskStatus_OfCancelledTask(t *testing.T) {
	t.Parallel()
	c := newTaskClient(t)
	id := <-c.server.Began
	if _, err := c.caller.Cancel(t.Context(), c.person(t), c.call); err != nil {
		t.Fatal(err)
	}
	c.wantState("cancelled", "Someone cancelled this call.")
	if got := <-c.server.Cancelled; got != id {
		t.Errorf("the server cancelled %s", got)
	}
}

func TestTaskStatus_OfExpiredTask(t *testing.T) {
	t.Parallel()
	c := newTaskClient(t)
	c.AsSystem(t, "update tool_calls set task_expires_at = now() - interval '1 second'", nil)
	c.caller.Sweep(t.Context())
	call, err := c.Door().Calls().Get(t.Context(), c.call)
	if err != nil {
		t.Fatal(err)
	}
	c.wantState("failed", call.ErrorMessage)
}

func askAlways(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk }

func TestTaskStatus_OfDecidedApproval(t *testing.T) {
	t.Parallel()
	for _, approve := range []bool{true, false} {
		t.Run(fmt.Sprint("approve ", approve), func(t *testing.T) {
			t.Parallel()
			c := newTaskClient(t, askAlways)
			if _, err := c.caller.Decide(t.Context(), c.person(t), c.call, toolcall.Decision{Approve: approve}); err != nil {
				t.Fatal(err)
			}
			if !approve {
				c.wantState("failed", "Denied")
				return
			}
			c.wantState("working", "Approved, running")
			c.server.Complete(<-c.server.Began, `{"content":[{"type":"text","text":"found"}]}`)
			c.wantState("completed", "Approved, completed")
		})
	}
}

func TestTaskStatus_OfWithdrawnApproval(t *testing.T) {
	t.Parallel()
	c := newTaskClient(t, askAlways)
	if _, err := c.caller.Cancel(t.Context(), c.person(t), c.call); err != nil {
		t.Fatal(err)
	}
	c.wantState("cancelled", "Someone cancelled this call.")
}

func TestTaskStatus_OfLapsedApproval(t *testing.T) {
	t.Parallel()
	c := newTaskClient(t, askAlways)
	c.AsSystem(t, "update approvals set expires_at = now() - interval '1 second'", nil)
	c.caller.Sweep(t.Context())
	c.wantState("cancelled", "This call wasn't decided in time.")
}
