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
