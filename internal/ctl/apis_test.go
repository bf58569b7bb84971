package ctl

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestConnectorTestAPI_PrintsWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	const read = `{"ok": true, "tools": [], "api": {"spec": "3.1.0", "title": "Notes", "version": "2", "operations": 3, "server_url": "https://notes.example/v2", "left_out": [],
		"sign_in_methods": [{"scheme": "k", "type": "api_key", "header": "X-Key", "scopes": [], "operations": 2}]}}`
	for name, tc := range map[string]struct {
		document          documentFlags
		in, reply         string
		sent, out, failed string
	}{
		"a URL": {documentFlags{Document: "https://notes.example/openapi.json"}, "", read,
			`{"document_url":"https://notes.example/openapi.json","kind":"http","name":"Test"}`,
			"SIGN-IN  NAME   OPERATIONS\napi_key  X-Key  2\nNotes 2 has 3 operations. Server: https://notes.example/v2\n", ""},
		"a text": {documentFlags{Document: "-", Address: "https://notes.example"}, "openapi: 3.1.0", read,
			`{"document":"openapi: 3.1.0","kind":"http","name":"Test","url":"https://notes.example"}`, "", ""},
		"a failure": {documentFlags{Document: "https://notes.example"}, "", `{"ok": false, "tools": [], "api": null, "error": {"code": "timeout", "message": "It took too long."}}`,
			"", "", "It took too long."},
		"no address": {documentFlags{Document: "-"}, "", read, "", "", "needs --address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = r.Method + " " + r.URL.Path + " " + strings.TrimSpace(string(body))
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, tc.reply)
			}))
			t.Cleanup(api.Close)
			var out bytes.Buffer
			s := &session{flags: Flags{URL: api.URL}, world: World{In: strings.NewReader(tc.in), Out: &out, Env: func(string) string { return "key" }}}
			err := connectorTestAPI{tc.document}.Run(t.Context(), s)
			if (err == nil) != (tc.failed == "") || err != nil && !strings.Contains(err.Error(), tc.failed) || tc.out != "" && out.String() != tc.out {
				t.Errorf("%q, error %v", out.String(), err)
			}
			if tc.sent != "" && got != "POST /api/v1/connectors/test "+tc.sent {
				t.Errorf("the API got %s", got)
			}
		})
	}
}
