package mcp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func TestWithRelatedTask_SetsAndRemovesID(t *testing.T) {
	t.Parallel()
	const id = `"new"`
	for _, tc := range []struct{ raw, set, removed string }{
		{``, `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"new"}}}`, ``},
		{`{"a" : 1.50}`, `{"a":1.50,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"new"}}}`, `{"a" : 1.50}`},
		{
			`{"_meta":{"x":1,"io.modelcontextprotocol/related-task":{"taskId":"old"}},"a":1}`,
			`{"a":1,"_meta":{"x":1,"io.modelcontextprotocol/related-task":{"taskId":"new"}}}`, `{"a":1,"_meta":{"x":1}}`,
		},
		{`{"_meta":{"io.modelcontextprotocol/related-task":{}}}`, `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"new"}}}`, `{}`},
	} {
		if got := string(mcp.WithRelatedTask(json.RawMessage(tc.raw), json.RawMessage(id))); got != tc.set {
			t.Errorf("set in %s: %s", tc.raw, got)
		}
		if got := string(mcp.WithRelatedTask(json.RawMessage(tc.raw), nil)); got != tc.removed {
			t.Errorf("removed from %s: %s", tc.raw, got)
		}
	}
}

func TestDeclaredTasks_ReadsBothRevisions(t *testing.T) {
	t.Parallel()
	for capabilities, want := range map[string][2]bool{
		``:                       {},
		`[]`:                     {},
		mcptest.TaskCapabilities: {true, false},
		`{"tasks":{"list":{}}}`:  {},
		`{"tasks":{"requests":{"tools":{"call":null}}}}`:           {},
		`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`:      {false, true},
		`{"extensions":{"io.modelcontextprotocol/tasks":false}}`:   {},
		`{"tasks":{"requests":{"sampling":{"createMessage":{}}}}}`: {},
	} {
		handshake, extension := mcp.DeclaredTasks(json.RawMessage(capabilities))
		if got := [2]bool{handshake, extension}; got != want {
			t.Errorf("%s: %v", capabilities, got)
		}
	}
}

// TestToken_ContinuesSession finds a task in another session object, and not in another session of the server.
func TestToken_ContinuesSession(t *testing.T) {
	t.Parallel()
	server := mcptest.StartTaskServer(t, "")
	target := mcp.Target{URL: server.URL, Era: mcp.EraHandshake}
	first, err := newClient(t).Dial(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	if !first.AcceptsTasks() {
		t.Error("the server declares tasks")
	}
	result, err := first.Call(t.Context(), mcp.Call{Name: "research", TaskTTL: time.Minute})
	if err != nil || result.Task == nil || !result.Task.IsHandshake || result.Task.TTL != 10*time.Minute || result.Task.PollInterval != 250*time.Millisecond {
		t.Fatalf("%+v, %v", result, err)
	}
	id := result.Task.ID
	token := first.Token()
	first.Close(t.Context())
	server.Complete(id, `{"content":[]}`)

	target.Resume = token
	second, err := newClient(t).Dial(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close(t.Context())
	task, err := second.Task(t.Context(), [16]byte{}, id)
	if err != nil || task.Status != "completed" || string(task.Result) != `{"content":[]}` || !strings.Contains(string(task.Raw), `"ttlMs":600000`) {
		t.Errorf("%+v, %v", task, err)
	}
	if opened, deleted := server.Sessions(); opened != 1 || deleted != 0 {
		t.Errorf("%d sessions were opened, %d deleted", opened, deleted)
	}

	target.Resume = ""
	third, err := newClient(t).Dial(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = third.Task(t.Context(), [16]byte{}, id)
	if failure, ok := errors.AsType[*mcp.Error](err); !ok || failure.RPCCode != mcp.CodeInvalidParams {
		t.Errorf("in another session: %v", err)
	}
	third.Close(t.Context())
	if _, deleted := server.Sessions(); deleted != 1 {
		t.Error("a session without tasks was not deleted")
	}
}

func TestResume_InvalidTokenOpensNewSession(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	for _, token := range []string{"", "2025-11-25 ", "1.0 session", "nothing"} {
		session, err := newClient(t).Dial(t.Context(), mcp.Target{URL: up.URL, Era: mcp.EraHandshake, Resume: token})
		if err != nil {
			t.Fatalf("%q: %v", token, err)
		}
		if _, err := session.Tools(t.Context()); err != nil {
			t.Errorf("%q: %v", token, err)
		}
		session.Close(t.Context())
	}
}
