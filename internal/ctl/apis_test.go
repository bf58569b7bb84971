package ctl

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
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

func TestConnectorAddAPI_SendsTheCredential(t *testing.T) {
	t.Parallel()
	const url = "https://notes.example/openapi.json"
	for name, tc := range map[string]struct {
		args   []string
		auth   string // as it is sent
		failed string
	}{
		"none":               {nil, `{"type":"none"}`, ""},
		"bearer":             {[]string{"--auth", "bearer", "--secret", "-"}, `{"token":"hush","type":"bearer"}`, ""},
		"basic":              {[]string{"--auth", "basic", "--username", "ada", "--secret", "-"}, `{"password":"hush","type":"basic","username":"ada"}`, ""},
		"key in a header":    {[]string{"--auth", "api_key", "--header", "X-Key", "--secret", "-"}, `{"header":"X-Key","key":"hush","type":"api_key"}`, ""},
		"key in a query":     {[]string{"--auth", "api_key", "--in", "query", "--header", "key", "--secret", "-"}, `{"header":"key","in":"query","key":"hush","type":"api_key"}`, ""},
		"key in a cookie":    {[]string{"--auth", "api_key", "--in", "cookie", "--header", "sid", "--secret", "-"}, `{"header":"sid","in":"cookie","key":"hush","type":"api_key"}`, ""},
		"client_credentials": {[]string{"--auth", "client_credentials", "--client-id", "ci", "--token-endpoint", "https://as.example/token", "--scope", "read", "--scope", "write", "--secret", "-"}, `{"client_id":"ci","client_secret":"hush","scopes":["read","write"],"token_endpoint":"https://as.example/token","type":"client_credentials"}`, ""},
		"workload token":     {[]string{"--auth", "client_credentials", "--client-id", "ci", "--workload-token", "billing"}, `{"client_id":"ci","type":"client_credentials","workload_token":"billing"}`, ""},
		"oauth2 by hand":     {[]string{"--auth", "oauth2", "--client-id", "ci", "--issuer", "https://as.example", "--secret", "-"}, `{"client_id":"ci","client_secret":"hush","issuer":"https://as.example","type":"oauth2"}`, ""},
		"oauth2":             {[]string{"--auth", "oauth2", "--secret", "-"}, "", "--auth oauth2 takes no secret"},
		"a secret in sight":  {[]string{"--auth", "basic", "--secret", "hush"}, "", "pass the secret as @FILE"},
		"in without a key":   {[]string{"--auth", "basic", "--in", "query"}, "", "--in is for --auth api_key"},
		"another place":      {[]string{"--auth", "api_key", "--in", "body"}, "", "--in must be one of"},
		"another auth":       {[]string{"--auth", "digest"}, "", "--auth must be one of"},
	} {
		s, _, request := newAPI(t, `{"slug":"notes"}`)
		s.world.In = strings.NewReader("hush\n")
		var c connectorAddAPI
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = parser.Parse(append([]string{"Notes", url}, tc.args...)); err == nil {
			err = c.Run(t.Context(), s)
		}
		if (err == nil) != (tc.failed == "") || err != nil && !strings.Contains(err.Error(), tc.failed) {
			t.Errorf("%s: %v", name, err)
		}
		want := `POST /api/v1/connectors {"auth":` + tc.auth + `,"document_url":"` + url + `","kind":"http","name":"Notes"}`
		if tc.failed == "" && *request != want {
			t.Errorf("%s: the API got %s", name, *request)
		}
	}
}

func TestConnectorOperations_SendsItsFilters(t *testing.T) {
	t.Parallel()
	s, out, request := newAPI(t, `{"items":[{"key":"GET /notes","name":"listNotes","picked":false,"new":true,"tokens":90,"tags":["read"],"title":"List"}]}`)
	c := connectorOperations{Query: "no", Tag: "read", Method: "get", Path: "/notes", Picked: true, New: true}
	c.Connector = "notes"
	if err := c.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if want := "GET /api/v1/connectors/notes/operations?limit=200&method=get&new=true&path=%2Fnotes&picked=true&q=no&tag=read"; *request != want {
		t.Errorf("the API got %s", *request)
	}
	if want := "OPERATION   TOOL       PICKED  NEW  TOKENS  TAGS  TITLE\nGET /notes  listNotes  no      yes  90      read  List\n"; out.String() != want {
		t.Errorf("printed %q", out)
	}
	if err := (connectorOperations{AddAll: true}).Run(t.Context(), s); err == nil || err.Error() != "--pick needs a filter" {
		t.Errorf("all operations are picked: %v", err)
	}
}
