package ctl

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// newAPI starts an API that answers each request with reply. It returns a session of it, its output, and the last request as
// method, path and body.
func newAPI(t *testing.T, reply string) (s *session, out *bytes.Buffer, request *string) {
	t.Helper()
	out, request = new(bytes.Buffer), new(string)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*request = strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(api.Close)
	return &session{flags: Flags{URL: api.URL}, world: World{Out: out, Env: func(string) string { return "key" }}}, out, request
}

func TestCall_SendsItsTimeout(t *testing.T) {
	t.Parallel()
	const reply = `{"id": "x", "status": "success", "content": [{"type": "text", "text": "done"}], "error": null}`
	for timeout, want := range map[time.Duration]string{
		0:                       `{"arguments":{},"tool":"search"}`,
		1500 * time.Millisecond: `{"arguments":{},"timeout_ms":1500,"tool":"search"}`,
		time.Microsecond:        "",
		-time.Second:            "",
	} {
		s, out, request := newAPI(t, reply)
		c := callCommand{Tool: "search", Arguments: "{}", Timeout: timeout}
		c.Agent = "helper"
		err := c.Run(t.Context(), s)
		if want == "" {
			if err == nil || *request != "" {
				t.Errorf("%s: %v, the API got %s", timeout, err, *request)
			}
			continue
		}
		if err != nil || out.String() != "done\n" || *request != "POST /api/v1/agents/helper/tool_calls "+want {
			t.Errorf("%s: %q, %v, the API got %s", timeout, out, err, *request)
		}
	}
}

func TestApprovals_OfPromptsAndResources(t *testing.T) {
	t.Parallel()
	s, out, _ := newAPI(t, `{"items": [{"id": "x", "kind": "resource", "name": "file:///a", "arguments": {"uri": "file:///a"}}], "next_cursor": null}`)
	if err := (approvalList{}).Run(t.Context(), s); err != nil || !strings.Contains(out.String(), "resource") || !strings.Contains(out.String(), "file:///a") {
		t.Errorf("%q, %v", out, err)
	}
	s, _, request := newAPI(t, `{"id": "x", "status": "running"}`)
	approve := approvalApprove{callRef: callRef{ID: "x"}, For: 2 * time.Hour}
	if err := approve.Run(t.Context(), s); err != nil || *request != `POST /api/v1/tool_calls/x/approve {"allow_for_s":7200}` {
		t.Errorf("%v, the API got %s", err, *request)
	}
}

func TestAllowances_OfPromptsAndResources(t *testing.T) {
	t.Parallel()
	s, out, _ := newAPI(t, `{"items": [{"connector": "dev", "kind": "prompt", "tool": "greet", "granted_by": "Ada", "in_force": true}], "next_cursor": null}`)
	list := agentAllowances{agentRef{Agent: "helper"}}
	if err := list.Run(t.Context(), s); err != nil || !strings.Contains(out.String(), "prompt") || !strings.Contains(out.String(), "greet") {
		t.Errorf("%q, %v", out, err)
	}
	s, out, request := newAPI(t, ``)
	end := agentEndAllowance{agentRef: agentRef{Agent: "helper"}, Connector: "dev", Tool: "file:///a", Kind: "resource"}
	err := end.Run(t.Context(), s)
	if err != nil || *request != "DELETE /api/v1/agents/helper/connectors/dev/allowances/file:%2F%2F%2Fa?kind=resource" || out.String() != "helper needs approval for file:///a again.\n" {
		t.Errorf("%q, %v, the API got %s", out, err, *request)
	}
}
