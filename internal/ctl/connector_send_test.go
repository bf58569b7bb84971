package ctl

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestConnectorSend_PrintsResultOrFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		command         connectorSend
		reply           string
		body, out, fail string
	}{
		"a result": {
			connectorSend{Method: "acme/a", Params: `{"n": 1}`, Agent: "helper"},
			`{"call_id": "x", "result": {"hits":[1]}, "error": null, "upstream": null}`,
			`{"agent":"helper","method":"acme/a","notify":false,"params":{"n":1}}`, `{"hits":[1]}` + "\n", "",
		},
		"a failure": {
			connectorSend{Method: "acme/a"},
			`{"call_id": "x", "result": null, "error": {"code": "rpc", "message": "It failed.", "rpc_code": -1, "rpc_data": null}, "upstream": {"said": "No.", "status": 200}}`,
			`{"method":"acme/a","notify":false}`, "", "It failed.\nThe server said:\n  > No.",
		},
		"a notification": {connectorSend{Method: "acme/b", Notify: true}, `{"call_id": "x", "result": null, "error": null, "upstream": null}`, `{"method":"acme/b","notify":true}`, "", ""},
		"no object":      {connectorSend{Method: "acme/a", Params: "[1]"}, "", "", "", "the parameters must be a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = r.Method + " " + r.URL.Path + " " + string(body)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, tc.reply)
			}))
			t.Cleanup(api.Close)
			var out bytes.Buffer
			s := &session{flags: Flags{URL: api.URL}, world: World{Out: &out, Env: func(string) string { return "key" }}}
			tc.command.Connector = "dev"
			err := tc.command.Run(t.Context(), s)
			if (err == nil) != (tc.fail == "") || err != nil && err.Error() != tc.fail || out.String() != tc.out {
				t.Errorf("%q, error %v", out.String(), err)
			}
			if tc.body != "" && strings.TrimSpace(got) != "POST /api/v1/connectors/dev/methods "+tc.body {
				t.Errorf("the API got %s", got)
			}
		})
	}
}
