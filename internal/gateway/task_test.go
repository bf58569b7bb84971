package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// legacySession is a session of a client before 2026-07-28.
type legacySession struct {
	t       *testing.T
	address string
	header  []string
	opened  answer // the response to initialize
}

func newLegacySession(t *testing.T, address, token, version string) *legacySession {
	t.Helper()
	s := &legacySession{t: t, address: address, header: []string{
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Authorization", token,
	}}
	s.opened = s.send("initialize", `"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}`)
	s.header = append(s.header, "Mcp-Session-Id", s.opened.header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", version)
	return s
}

func (s *legacySession) send(method, params string) answer {
	s.t.Helper()
	return request(s.t, http.MethodPost, s.address, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`, s.header...)
}

// result is the result of a request, from JSON or the last event of a stream.
func (s *legacySession) result(method, params string) json.RawMessage {
	s.t.Helper()
	got := s.send(method, params)
	if at := strings.LastIndex(got.body, "data: {"); at >= 0 {
		got.body = got.body[at+len("data: "):]
	}
	r := got.rpc(s.t)
	if r.Error != nil {
		s.t.Fatalf("%s: %+v", method, r.Error)
	}
	return r.Result
}

func (s *legacySession) wantError(method, params string, code int) {
	s.t.Helper()
	if r := s.send(method, params).rpc(s.t); r.Error == nil || r.Error.Code != code {
		s.t.Errorf("%s %s: %s, %+v, want error %d", method, params, r.Result, r.Error, code)
	}
}

func TestTasks_OfClientBeforeModern(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	server := mcptest.StartTaskServer(t, "")
	agent, stranger := b.newAutoAgent(t), b.newAutoAgent(t)
	c := b.newConnector(t, "one", server.URL, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })
	b.Grant(t, agent.ID, c.ID)
	b.Grant(t, stranger.ID, c.ID)
	s := newLegacySession(t, b.url+"/mcp", bearerHeader(b.Token(t, agent.ID)), "2025-11-25")
	if !strings.Contains(s.opened.body, `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`) {
		t.Errorf("capabilities: %s", s.opened.body)
	}
	if tools := string(s.result("tools/list", "")); strings.Count(tools, `"taskSupport":"optional"`) != 2 || strings.Count(tools, "taskSupport") != 2 {
		t.Errorf("tools: %s", tools)
	}
	s.wantError("tools/call", `"name":"mcp_one__plain","task":{}`, -32601)
	for _, task := range []string{`"soon"`, `null`, `{"ttl":-1}`, `{"ttl":"long"}`} {
		s.wantError("tools/call", `"name":"mcp_one__research","task":`+task, -32602)
	}
	var made struct {
		Task struct{ TaskID, Status string }
	}
	raw := s.result("tools/call", `"name":"mcp_one__research","task":{"ttl":60000}`)
	if err := json.Unmarshal(raw, &made); err != nil || made.Task.Status != "working" {
		t.Fatalf("%s, %v", raw, err)
	}
	id, task := <-server.Began, fmt.Sprintf(`"taskId":%q`, made.Task.TaskID)
	if state := string(s.result("tasks/get", task)); !strings.HasPrefix(state, `{`+task+`,"status":"working"`) {
		t.Errorf("tasks/get: %s", state)
	}
	if list := string(s.result("tasks/list", "")); !strings.HasPrefix(list, `{"tasks":[{`+task+`,"status":"working"`) {
		t.Errorf("tasks/list: %s", list)
	}
	other := newLegacySession(t, b.url+"/mcp", bearerHeader(b.Token(t, stranger.ID)), "2025-11-25")
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		other.wantError(method, task, -32602)
		s.wantError(method, `"taskId":"none"`, -32602)
	}
	s.wantError("tasks/list", `"cursor":"none"`, -32602)
	s.wantError("tasks/update", task, -32601)
	server.Complete(id, `{"content":[{"type":"text","text":"found"}]}`)
	if result := string(s.result("tasks/result", task)); !strings.Contains(result, "found") || !strings.Contains(result, `"io.modelcontextprotocol/related-task":{`+task+`}`) {
		t.Errorf("tasks/result: %s", result)
	}
	s.wantError("tasks/cancel", task, -32602)

	plain := make(chan string, 1)
	go func() { plain <- s.send("tools/call", `"name":"mcp_one__research"`).body }()
	server.Complete(<-server.Began, `{"content":[{"type":"text","text":"awaited"}]}`)
	if got := <-plain; !strings.Contains(got, "awaited") {
		t.Errorf("without a task: %s", got)
	}
}

func TestTasks_AreUnknownToEarlierRevisions(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	server := mcptest.StartTaskServer(t, "")
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "one", server.URL, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })
	b.Grant(t, agent.ID, c.ID)
	s := newLegacySession(t, b.url+"/mcp/one", bearerHeader(b.Token(t, agent.ID)), "2025-06-18")
	if strings.Contains(s.opened.body, `"tasks":`) {
		t.Errorf("capabilities: %s", s.opened.body)
	}
	if got := string(s.result("tools/call", `"name":"either","task":{}`)); !strings.Contains(got, "at once") {
		t.Errorf("a call: %s", got)
	}
	s.wantError("tasks/list", "", -32601)
}

func TestTasks_OfModernClientNeedTheExtension(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	token := bearerHeader(b.Token(t, b.newAutoAgent(t).ID))
	send := func(method, meta string) answer {
		message := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"taskId":"invented",` + meta + `}}`
		return post(t, b.url+"/mcp", message, "Authorization", token, "Mcp-Name", "invented")
	}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		got := send(method, modernMeta)
		e := got.rpc(t).Error
		if got.status != http.StatusBadRequest || e == nil || e.Code != -32021 ||
			string(e.Data) != `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}` {
			t.Errorf("%s without the extension: %d %s", method, got.status, got.body)
		}
		if e := send(method, tasksMeta).rpc(t).Error; e == nil || e.Code != -32602 {
			t.Errorf("%s of an unknown task: %+v", method, e)
		}
	}
	for _, method := range []string{"tasks/list", "tasks/result"} { // of 2025-11-25
		for _, meta := range []string{modernMeta, tasksMeta} {
			if e := send(method, meta).rpc(t).Error; e == nil || e.Code != -32601 {
				t.Errorf("%s: %+v", method, e)
			}
		}
	}
}

func TestTasks_RefusedCallIsAnError(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	server := mcptest.StartTaskServer(t, "")
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "one", server.URL, func(d *connectors.Draft) {
		d.CredentialMode, d.Auth.Type = connectors.CredentialPerAgent, connectors.AuthBearer
	})
	b.Grant(t, agent.ID, c.ID)
	s := newLegacySession(t, b.url+"/mcp/one", bearerHeader(b.Token(t, agent.ID)), "2025-11-25")
	s.wantError("tools/call", `"name":"research","task":{}`, -32000)
}
