package ctl

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestConnectorTry_PrintsResultOrFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		command         connectorTry
		status          int
		reply           string
		body, out, fail string
	}{
		"a result": {
			connectorTry{Tool: "a/b", Arguments: `{"q": "x"}`, Agent: "helper", Confirm: true}, http.StatusCreated,
			`{"id": "x", "status": "success", "content": [{"type": "text", "text": "3 found"}]}`,
			`{"agent":"helper","arguments":{"q":"x"},"confirm":true}`, "3 found\n", "",
		},
		"a failed call": {
			connectorTry{Tool: "a/b", Arguments: "{}"}, http.StatusCreated,
			`{"id": "x", "status": "error", "content": [], "error": {"code": "upstream", "message": "It failed."}, "upstream": {"said": "No.", "status": 500}}`,
			`{"arguments":{},"confirm":false}`, "", "It failed.\nThe server said:\n  > No.",
		},
		"no confirmation": {
			connectorTry{Tool: "a/b", Arguments: "{}"}, http.StatusConflict,
			`{"type": "/problems/confirmation-required", "title": "Conflict", "status": 409, "detail": "Confirm that you want to run it."}`,
			`{"arguments":{},"confirm":false}`, "", "Confirm that you want to run it.",
		},
		"no object": {connectorTry{Tool: "a/b", Arguments: "[1]"}, http.StatusCreated, "", "", "", "the arguments must be a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = r.Method + " " + r.URL.EscapedPath() + " " + string(body)
				w.Header().Set("Content-Type", "application/json")
				if tc.status >= http.StatusBadRequest {
					w.Header().Set("Content-Type", "application/problem+json")
				}
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.reply)
			}))
			t.Cleanup(api.Close)
			var out bytes.Buffer
			s := &session{flags: Flags{URL: api.URL}, world: World{Out: &out, Env: func(string) string { return "key" }}}
			tc.command.Connector = "dev"
			err := tc.command.Run(t.Context(), s)
			if (err == nil) != (tc.fail == "") || err != nil && !strings.Contains(err.Error(), tc.fail) || out.String() != tc.out {
				t.Errorf("%q, error %v", out.String(), err)
			}
			if tc.body != "" && strings.TrimSpace(got) != "POST /api/v1/connectors/dev/tools/a%2Fb/call "+tc.body {
				t.Errorf("the API got %s", got)
			}
		})
	}
}
