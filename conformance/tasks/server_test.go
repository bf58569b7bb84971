package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const withTasks = `"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

func sendRequest(t *testing.T, s *server, method, params string, header ...string) (result jsonMembers, code int) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var reply struct {
		Result jsonMembers
		Error  rpcError
	}
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
		t.Fatal(err)
	}
	return reply.Result, reply.Error.Code
}

func TestTask_WaitsForEachInput(t *testing.T) {
	t.Parallel()
	s := newServer()
	task, _ := sendRequest(t, s, "tools/call", `"name":"multi_input",`+withTasks)
	id, _ := task["taskId"].(string)
	for _, step := range []struct{ answer, status string }{
		{`"first":{"action":"accept"}`, "input_required"}, {`"second":{"action":"accept"}`, "completed"},
	} {
		sendRequest(t, s, "tasks/update", `"taskId":"`+id+`","inputResponses":{`+step.answer+`},`+withTasks)
		if got, _ := sendRequest(t, s, "tasks/get", `"taskId":"`+id+`",`+withTasks); got["status"] != step.status {
			t.Errorf("after %s: %v", step.answer, got)
		}
	}
}

func TestServer_RefusesInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newServer()
	for name, c := range map[string]struct {
		method, params string
		header         []string
		code           int
	}{
		"a task without the extension": {"tools/call", `"name":"failing_job"`, nil, codeMissingCapability},
		"an unknown task":              {"tasks/get", `"taskId":"x",` + withTasks, nil, codeInvalidParams},
		"a method of 2025-11-25":       {"tasks/result", `"taskId":"x",` + withTasks, nil, codeMethodNotFound},
		"another name in the header":   {"tasks/get", `"taskId":"x",` + withTasks, []string{"Mcp-Name", "y"}, codeHeaderMismatch},
	} {
		if _, code := sendRequest(t, s, c.method, c.params, c.header...); code != c.code {
			t.Errorf("%s: %d, want %d", name, code, c.code)
		}
	}
}
