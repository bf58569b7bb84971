package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/secret"
)

// resultClient makes tasks of calls, and fetches their results, as a client of its era does.
type resultClient struct {
	b       *testEnv
	token   secret.Text
	session *legacySession // nil: a client of 2026-07-28
}

func (b *testEnv) newResultClient(t *testing.T, token secret.Text, e era) *resultClient {
	t.Helper()
	c := &resultClient{b: b, token: token}
	if e == legacy {
		c.session = newLegacySession(t, b.url+"/mcp", bearerHeader(token), string(legacy))
	}
	return c
}

// makeTask calls a tool and returns the id of its task.
func (c *resultClient) makeTask(t *testing.T, tool string) string {
	t.Helper()
	var made struct {
		TaskID string
		Task   struct{ TaskID string }
	}
	var raw json.RawMessage
	if c.session != nil {
		raw = c.session.result("tools/call", `"name":"`+tool+`","task":{"ttl":60000}`)
	} else {
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `",` + tasksMeta + `}}`
		raw = post(t, c.b.url+"/mcp", message, "Authorization", bearerHeader(c.token)).rpc(t).Result
	}
	if err := json.Unmarshal(raw, &made); err != nil || made.TaskID+made.Task.TaskID == "" {
		t.Fatalf("%v: no task: %.300s", err, raw)
	}
	return made.TaskID + made.Task.TaskID
}

// awaitResult returns the result of a task that ends now.
func (c *resultClient) awaitResult(t *testing.T, id string) (result json.RawMessage) {
	t.Helper()
	if c.session != nil {
		return c.session.result("tasks/result", fmt.Sprintf(`"taskId":%q`, id))
	}
	message := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"` + id + `",` + tasksMeta + `}}`
	eventually(t, "the task is completed", func() bool {
		got := post(t, c.b.url+"/mcp", message, "Authorization", bearerHeader(c.token), "Mcp-Name", id)
		var task struct {
			Status string
			Result json.RawMessage
		}
		if got.status != http.StatusOK || json.Unmarshal(got.rpc(t).Result, &task) != nil {
			t.Fatalf("no task: %.300s", got.body)
		}
		result = task.Result
		return task.Status == "completed"
	})
	return result
}

// wantShortened fetches the result of a task twice, and reads its text back.
func (c *resultClient) wantShortened(t *testing.T, id string) {
	t.Helper()
	text := longAnswer()
	first := c.awaitResult(t, id)
	found := answerID.FindStringSubmatch(strings.ReplaceAll(string(first), `\"`, `"`))
	if found == nil || len(first) > len(text)/2 || !strings.Contains(string(first), `"uri":"patchbay://results/`+found[1]) {
		t.Fatalf("%d of %d bytes: %.300s", len(first), len(text), first)
	}
	if again := c.awaitResult(t, id); string(again) != string(first) {
		t.Errorf("the next time it is %.300s", again)
	}
	if got := readAnswer(t, connect(t, c.b.url+"/mcp", c.token, modern), found[1], "0"); got != text {
		t.Errorf("the reads are not the text: %.100s", got)
	}
	var kept int
	if c.b.AsSystem(t, "select count(*) from gateway_mail where box like 'result-%' and id::text = $1", []any{found[1]}, &kept); kept != 1 {
		t.Errorf("%d answers are kept under the id of the call", kept)
	}
}

func longResult(t *testing.T) string {
	t.Helper()
	quoted, err := json.Marshal(longAnswer())
	if err != nil {
		t.Fatal(err)
	}
	return `{"content":[{"type":"text","text":` + string(quoted) + `}]}`
}

func TestTasks_ResultsAreShortened(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			server := mcptest.StartTaskServer(t, "")
			agent := b.newAutoAgent(t)
			c := b.newConnector(t, "one", server.URL, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })
			b.Grant(t, agent.ID, c.ID)
			b.shape(t, agent, c, "research", connectors.Shaping{Budget: 300})
			client := b.newResultClient(t, b.Token(t, agent.ID), e)
			id := client.makeTask(t, "mcp_one__research")
			server.Complete(<-server.Began, longResult(t))
			client.wantShortened(t, id)

			b.shape(t, agent, c, "either", connectors.Shaping{Budget: 300})
			b.shape(t, agent, c, "research", connectors.Shaping{})
			id = client.makeTask(t, "mcp_one__research")
			server.Complete(<-server.Began, longResult(t))
			if got := string(client.awaitResult(t, id)); !strings.Contains(got, longResult(t)[1:200]) {
				t.Errorf("without a rule it is %.300s", got)
			}
		})
	}
}

// A call that waits for approval is a task, and its result one as well.
func TestTasks_ResultsOfApprovedCallsAreShortened(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			server := mcptest.StartTaskServer(t, "")
			agent := b.Agent(t, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAskAll })
			c := b.newConnector(t, "one", server.URL, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })
			b.Grant(t, agent.ID, c.ID)
			b.shape(t, agent, c, "research", connectors.Shaping{Budget: 300})
			client := b.newResultClient(t, b.Token(t, agent.ID), e)
			id := client.makeTask(t, "mcp_one__research")
			b.approve(t)
			server.Complete(<-server.Began, longResult(t))
			client.wantShortened(t, id)
		})
	}
}
