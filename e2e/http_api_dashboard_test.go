//go:build e2e

package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"patchbay/internal/connectors"
)

const notesDocument = `{"openapi":"3.1.0","info":{"title":"Notes","version":"2"},"servers":[{"url":"/v2"}],
	"components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer"}}},"security":[{"token":[]}],"paths":{
	"/notes":{"get":{"operationId":"listNotes","tags":["read"],"summary":"List notes","responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}},
		"post":{"operationId":"addNote","tags":["write"],"summary":"Add a note","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"text":{"type":"string"}}}}}},
		"responses":{"201":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}},
	"/notes/{id}":{"get":{"operationId":"getNote","tags":["read"],"summary":"Get a note","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
		"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}},
		"delete":{"operationId":"deleteNote","tags":["write"],"deprecated":true,"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"204":{"description":""}}}}}}`

// notesAPI is an HTTP API with a document that may change. It says what it was asked.
type notesAPI struct {
	url           string
	document      atomic.Pointer[string]
	authorization atomic.Pointer[string] // of the last call
}

func startNotesAPI(t *testing.T) *notesAPI {
	t.Helper()
	api := &notesAPI{}
	api.document.Store(new(notesDocument))
	api.url = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.json" {
			_, _ = io.WriteString(w, *api.document.Load())
			return
		}
		api.authorization.Store(new(r.Header.Get("Authorization")))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"asked":%q,"with":%q}`, r.Method+" "+r.URL.Path, r.Header.Get("Authorization"))
	}))
	return api
}

// TestAnHTTPAPI_BecomesToolsInTheBrowser goes from a document's URL to tools that a person and an agent call; then the document
// changes, and a curl command becomes a tool.
func TestAnHTTPAPI_BecomesToolsInTheBrowser(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	look := newLooker(t, tab)
	api := startNotesAPI(t)

	tab.Go(s.base + "/connectors/new")
	tab.Fill("[name=url]", api.url+"/openapi.json")
	tab.Press(kb.Tab)
	tab.WaitText("#test-result", "This is an HTTP API: Notes 2 with 4 operations.")
	look.at("api-found")
	tab.Click("#test-result a.btn")
	tab.WaitText("main", "Document URL")
	tab.Click("button[data-test]")
	tab.WaitText("#test-result", "Notes 2 has 4 operations.")
	look.at("api-new")
	tab.Click("#test-result [data-use-auth=bearer]")
	tab.Fill("[name='auth.token']", "hush-hush")
	tab.Click("main form button[type=submit]:not([formaction])")
	tab.WaitPath("/connectors/notes/operations")

	tab.WaitText("#operations-total", "0 of 4 picked")
	for n, key := range []string{"GET /notes", "POST /notes", "GET /notes/{id}"} {
		tab.Click(`input[name=pick][value="` + key + `"]`)
		tab.WaitText("#operations-total", fmt.Sprintf("%d of 4 picked", n+1))
	}
	tab.Choose("[name=method]", "DELETE")
	tab.WaitText("#operations .count", "1 operation")
	tab.WaitText("#operations-total", "3 of 4 picked")
	tab.Choose("[name=method]", "")
	tab.WaitText("#operations .count", "4 operations")
	look.at("api-operations")
	tab.Click(".operations .actions button[type=submit]")
	tab.WaitText(".start-tools", "getNote")
	tab.Fill("[name=name]", "Notes agent")
	tab.Choose("[name=approval]", "auto")
	tab.Click(".panel form[action='/start/agent'] button")
	tab.WaitText("main", "Notes agent is ready")
	token := tab.Text(".new-key pre")

	tab.Go(s.base + "/connectors/notes/tools/getNote")
	tab.WaitText("main", "GET "+api.url+"/v2/notes/{id}")
	tab.Fill("#try [name='arg.0']", "7")
	tab.Click("#try button[type=submit]:not([name])")
	tab.WaitText("#tool", "GET /v2/notes/7")
	tab.WaitText("#tool", "Bearer [redacted]")
	look.at("api-tool")
	(<-agent{t: t, base: s.base, token: token}.ask(connectors.ExposedName("notes", "getNote"), `{"id":"8"}`)).wants(t, "GET /v2/notes/8")
	tab.Fill("#answer [name=filter]", ".asked")
	tab.Click("#answer button[value=test]")
	tab.WaitText("#tool", "Filtered response")
	look.at("api-filter")

	other := startNotesAPI(t)
	api.document.Store(new(strings.Replace(strings.Replace(notesDocument, `"url":"/v2"`, `"url":"`+other.url+`/v3"`, 1), `"paths":{`, `"paths":{"/tags":{"get":{"operationId":"listTags","responses":{"200":{"description":""}}}},`, 1)))
	c.must(http.StatusOK, http.MethodPost, "/connectors/notes/sync_tools", nil)
	tab.Go(s.base + "/connectors/notes/tools/getNote/changes")
	tab.WaitText("main", "High risk: calls go to another host")
	tab.WaitText("main", strings.TrimPrefix(other.url, "http://"))
	look.at("api-change")
	tab.Go(s.base + "/connectors/notes/operations?state=new")
	tab.WaitText("#operations", "/tags")
	tab.Go(s.base + "/connectors/notes")
	tab.WaitText("main", "Show operations")
	look.at("api-overview")

	tab.Go(s.base + "/connectors/notes/endpoint")
	tab.Fill("[name=curl]", "curl -X POST '"+api.url+"/v2/notes/17' -H 'Content-Type: application/json' -d '{\"text\":\"milk\"}'")
	tab.Click("button[value=fill]")
	tab.WaitText("main", "tokens")
	if name := tab.Value("[name=name]"); name != "post_v2_notes" {
		t.Errorf("the tool is called %q", name)
	}
	if arguments := tab.Value("[name=arguments]"); arguments != `{"note_id":"17","text":"milk"}` {
		t.Errorf("the arguments are %s", arguments)
	}
	look.at("api-endpoint")
	tab.Fill("[name=description]", "Change a note")
	tab.Click("button[value=test]")
	tab.WaitText("main", "POST /v2/notes/17")
	look.at("api-endpoint-tested")
	tab.Click(".actions button[value=save]")
	tab.WaitPath("/connectors/notes/operations")
	tab.WaitText("#endpoints", "post_v2_notes")
	eventually(t, func() error { // a sync that began with the save may still run
		if status, answer := c.call(http.MethodPost, "/connectors/notes/sync_tools", nil); status != http.StatusOK {
			return fmt.Errorf("%d %v", status, answer)
		}
		return nil
	})
	tab.Go(s.base + "/connectors/notes/tools")
	tab.WaitText(".tools", "post_v2_notes")
}
