package admin_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/htmlcheck"
	"patchbay/internal/toolsync"
)

// notesDocument describes the API of startNotes.
const notesDocument = `{"openapi":"3.1.0","info":{"title":"Notes","version":"2"},"servers":[{"url":"/v2"}],
	"components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer"}}},"security":[{"token":[]}],"paths":{
	"/notes":{"get":{"operationId":"listNotes","tags":["read"],"summary":"List notes","responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"array","items":{"type":"object"}}}}}}},
		"post":{"operationId":"addNote","tags":["write"],"summary":"Add a note","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"text":{"type":"string"}}}}}},
		"responses":{"201":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}},
	"/notes/{id}":{"get":{"operationId":"getNote","tags":["read"],"summary":"Get a note","deprecated":true,"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
		"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}}}}`

// notesAPI is an HTTP API with a document, which may change.
type notesAPI struct {
	*httptest.Server
	document atomic.Pointer[string]
}

func startNotes(t testing.TB) *notesAPI {
	t.Helper()
	notes := &notesAPI{}
	notes.document.Store(new(notesDocument))
	notes.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.json" {
			_, _ = io.WriteString(w, *notes.document.Load())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"path":%q,"authorization":%q,"notes":[{"id":"7","text":"milk"}]}`, r.Method+" "+r.URL.Path, r.Header.Get("Authorization"))
	}))
	t.Cleanup(notes.Close)
	return notes
}

// createAPI adds a connector to an HTTP API with an uploaded document, of which nothing is picked.
func (d *dashboard) createAPI(address, document string) connectors.Connector {
	d.t.Helper()
	c := d.Connector(d.t, func(c *connectors.Draft) { c.Transport, c.URL = connectors.TransportAPI, address })
	if err := d.Door().APIs().SaveDocument(d.t.Context(), c.ID, connectors.APIDocument{Body: []byte(document)}); err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *dashboard) listAPITools(c connectors.Connector) (keys string) {
	d.t.Helper()
	tools, err := d.Door().APIs().Tools(d.t.Context(), c.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, tool := range tools {
		keys += tool.Key + "\n"
	}
	return keys
}

func TestAPIConnector_IsAddedFromItsDocument(t *testing.T) {
	t.Parallel()
	d, notes := newDashboard(t), startNotes(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/connectors/new?kind=http&url="+url.QueryEscape(notes.URL)).want(t, http.StatusOK, "Document URL", "Read document", notes.URL)
	mcp := connectorForm("", notes.URL+"/openapi.json")
	b.post("/connectors/test", mcp).want(t, http.StatusOK, "This is an HTTP API: Notes 2 with 3 operations.", "Add as HTTP API")
	form := connectorForm("", notes.URL+"/openapi.json", "transport", "api")
	tested := b.post("/connectors/test", form)
	tested.want(t, http.StatusOK, "Notes 2 has 3 operations.", "OpenAPI 3.1.0", "Bearer")
	if !strings.Contains(tested.Body, `<option value="bearer" selected`) {
		t.Error("the proposed sign-in isn't chosen")
	}
	form.Set("auth.type", "bearer")
	form.Set("auth.token", "hush")
	if p := b.post("/connectors", form); p.Location != "/connectors/notes/operations" {
		t.Fatalf("%d to %q\n%s", p.Status, p.Location, plainText(p.Body))
	}
	form.Set("url", notes.URL+"/nothing.json")
	notes.document.Store(new("no document"))
	form.Set("url", notes.URL+"/openapi.json")
	b.post("/connectors/test", form).want(t, http.StatusOK, "No document")
	b.post("/connectors", form).want(t, http.StatusUnprocessableEntity)
}

func TestAPIConnector_TestReadsWhatIsStored(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.createAPI("http://127.0.0.1:9/", notesDocument)
	b := d.signInAsRole(connectors.RoleAdmin)
	form := connectorForm("", c.URL, "id", c.ID.String(), "transport", "api")
	p := b.post("/connectors/test", form)
	if p.want(t, http.StatusOK, "Notes 2 has 3 operations."); !strings.Contains(plainText(p.Body), "Serverhttp://127.0.0.1:9/v2") {
		t.Errorf("the server isn't shown:\n%s", plainText(p.Body))
	}
	byHand := d.Connector(t, func(c *connectors.Draft) { c.Transport, c.URL = connectors.TransportAPI, "http://127.0.0.1:9/" })
	b.post("/connectors/test", connectorForm("", byHand.URL, "id", byHand.ID.String(), "transport", "api")).want(t, http.StatusOK, "No document. Add custom endpoints after saving.")
	fetched := connectorForm("", "http://127.0.0.1:9/openapi.json", "transport", "api")
	b.post("/connectors/test", fetched).want(t, http.StatusOK, "No document", "while reading the document", "The document's server can't be reached.", "unreachable")
}

func TestAPIConnector_IsAddedFromACurlCommand(t *testing.T) {
	t.Parallel()
	d, notes := newDashboard(t), startNotes(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	form := connectorForm("", "", "transport", "api", "curl", "curl '"+notes.URL+"/v2/notes/17' -H 'Authorization: Bearer hush-hush'")
	b.post("/connectors/test", form).want(t, http.StatusOK, "The command becomes the tool get_v2_notes.")
	p := b.post("/connectors", form)
	if p.Status != http.StatusSeeOther {
		t.Fatalf("%d to %q\n%s", p.Status, p.Location, plainText(p.Body))
	}
	b.get(p.Location).want(t, http.StatusOK, "get_v2_notes")
}

func TestAPIConnector_DocumentIsReplacedInSettings(t *testing.T) {
	t.Parallel()
	d, notes := newDashboard(t), startNotes(t)
	c := d.createAPI(notes.URL, notesDocument)
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug
	b.get(path+"/settings").want(t, http.StatusOK, "Replace the document")
	form := connectorForm(c.Name, c.URL, "transport", "api", "slug", c.Slug, "document", "no document")
	b.post(path, form).want(t, http.StatusUnprocessableEntity, "no document")
	form.Set("document", strings.Replace(notesDocument, `"Notes"`, `"Memos"`, 1))
	if p := b.post(path, form); p.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", p.Status, plainText(p.Body))
	}
	b.get(path+"/operations").want(t, http.StatusOK, "Memos 2", "uploaded")
	form.Del("document")
	b.post(path, form).want(t, http.StatusSeeOther)
	b.get(path+"/operations").want(t, http.StatusOK, "Memos 2", "uploaded")
}

func TestOperations_ArePickedFilteredAndSaved(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.createAPI("http://127.0.0.1:9/v2", notesDocument)
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug+"/operations"
	b.get(path).want(t, http.StatusOK, "3 operations", "0 of 3 picked · about 0 tokens", "Deprecated", "List notes")
	filtered := b.post(path+"/select", url.Values{"tag": {"read"}, "shown": {"POST /notes"}, "pick": {"POST /notes"}})
	filtered.want(t, http.StatusOK, "2 operations", "1 of 3 picked")
	if kept := inputValues(t, filtered, "add"); len(kept) != 1 || kept[0] != "POST /notes" {
		t.Errorf("the selection outside of the filter is %v", kept)
	}
	all := b.post(path+"/select", url.Values{"tag": {"read"}, "add": {"POST /notes"}, "do": {"all"}})
	all.want(t, http.StatusOK, "3 of 3 picked")
	if keys := d.listAPITools(c); keys != "" {
		t.Errorf("a selection stored %q", keys)
	}
	p := b.post(path, url.Values{"tag": {"read"}, "add": {"POST /notes"}, "shown": {"GET /notes", "GET /notes/{id}"}, "pick": {"GET /notes"}})
	if p.Status != http.StatusSeeOther || d.listAPITools(c) != "GET /notes\nPOST /notes\n" {
		t.Fatalf("%d to %q, stored %q", p.Status, p.Location, d.listAPITools(c))
	}
	b.get(path+"?state=picked").want(t, http.StatusOK, "2 operations")
	b.post(path, url.Values{"add": {"GET /nothing"}}).want(t, http.StatusSeeOther)
	if keys := d.listAPITools(c); keys != "GET /notes\nPOST /notes\n" {
		t.Errorf("an unknown operation changed the tools to %q", keys)
	}
	added := strings.Replace(notesDocument, `"/notes/{id}"`, `"/tags":{"get":{"operationId":"listTags","responses":{"200":{"description":""}}}},"/notes/{id}"`, 1)
	if err := d.Door().APIs().SaveDocument(t.Context(), c.ID, connectors.APIDocument{Body: []byte(added)}); err != nil {
		t.Fatal(err)
	}
	b.get(path+"?state=new").want(t, http.StatusOK, "1 operation", "/tags", "New")
	d.signInAsRole(connectors.RoleViewer).get(path).want(t, http.StatusOK, "4 operations", "List notes")
}

func TestOperations_OfAThousandHavePages(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	var paths strings.Builder
	for n := range 120 {
		_, _ = fmt.Fprintf(&paths, `,"/things%03d":{"get":{"responses":{"200":{"description":""}}}}`, n)
	}
	c := d.createAPI("http://127.0.0.1:9/v2", strings.Replace(notesDocument, `"paths":{`, `"paths":{`+paths.String()[1:]+",", 1))
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug+"/operations"
	first := b.post(path+"/select", url.Values{"do": {"all"}})
	first.want(t, http.StatusOK, "123 operations", "1–50 of 123", "123 of 123 picked")
	if n := len(inputValues(t, first, "add")); n != 73 {
		t.Errorf("%d operations are selected on other pages", n)
	}
	b.get(path+"?page=3&path=/things").want(t, http.StatusOK, "101–120 of 120", "/things119")
}

func TestEndpoint_IsFilledTestedAndSaved(t *testing.T) {
	t.Parallel()
	d, notes := newDashboard(t), startNotes(t)
	c := d.createAPI(notes.URL, notesDocument)
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug+"/endpoint"
	filled := b.post(path, url.Values{"do": {"fill"}, "curl": {"curl -X POST '" + notes.URL + "/v2/notes/17' -H 'X-Api-Key: hush-hush' -d '{\"text\":\"milk\"}' -H 'Content-Type: application/json'"}})
	filled.want(t, http.StatusOK, "The command's credential was left out.", "post_v2_notes", "{note_id}", `{"note_id":"17","text":"milk"}`)
	if filled.says("hush-hush") {
		t.Error("the page repeats the credential")
	}
	form := url.Values{"name": {"read_note"}, "method": {"GET"}, "url": {notes.URL + "/v2/notes/{note}"}, "filter": {".path"}, "arguments": {`{"note":"9"}`}, "do": {"test"}}
	b.post(path, form).want(t, http.StatusOK, "Done", "GET /v2/notes/9", "Open call")
	if keys := d.listAPITools(c); keys != "" {
		t.Errorf("a test stored %q", keys)
	}
	form.Set("filter", ".[")
	b.post(path, form).want(t, http.StatusUnprocessableEntity, "read_note")
	b.post(path, url.Values{"url": {notes.URL}, "method": {"GET"}, "do": {"test"}}).want(t, http.StatusUnprocessableEntity, "A name has up to 64", notes.URL)
	form.Set("filter", ".path")
	form.Set("do", "save")
	if p := b.post(path, form); p.Status != http.StatusSeeOther || d.listAPITools(c) != "read_note\n" {
		t.Fatalf("%d to %q, stored %q\n%s", p.Status, p.Location, d.listAPITools(c), plainText(p.Body))
	}
	p := b.get(path + "?name=read_note")
	p.want(t, http.StatusOK, notes.URL+"/v2/notes/{note}", "Delete endpoint", "token", "Delete “read_note”?", "can't be undone")
	question, _ := htmlcheck.Parse(t, p.Body).ByID("delete")
	if values := inputValues(t, p, "do"); !question.Has("popover") || len(values) != 1 || values[0] != "delete" || strings.Contains(p.Body, `<button type="submit" class="btn" data-variant="destructive" name="do"`) {
		t.Errorf("the deletion doesn't ask; the page has %q", values)
	}
	if strings.Contains(b.get(path).Body, "Delete endpoint") {
		t.Error("a new endpoint can be deleted")
	}
	form.Set("before", "read_note")
	form.Set("name", "get_note")
	b.post(path, form).want(t, http.StatusSeeOther)
	b.post(path, url.Values{"before": {"read_note"}, "do": {"delete"}}).want(t, http.StatusNotFound)
	b.post(path, url.Values{"before": {"get_note"}, "do": {"delete"}}).want(t, http.StatusSeeOther)
	if keys := d.listAPITools(c); keys != "" {
		t.Errorf("after the deletion, %q is stored", keys)
	}
}

func TestAnswerPanel_SavesAFilter(t *testing.T) {
	t.Parallel()
	d, notes := newDashboard(t), startNotes(t)
	c := d.createAPI(notes.URL+"/openapi.json", notesDocument)
	if err := d.Door().APIs().SaveTools(t.Context(), c.ID, []connectors.APITool{{Key: "GET /notes/{id}"}}); err != nil {
		t.Fatal(err)
	}
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug+"/tools/getNote"
	if _, err := d.syncer.Sync(t.Context(), d.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual}); err != nil {
		t.Fatal(err)
	}
	b.get(path).want(t, http.StatusOK, "GET "+notes.URL+"/v2/notes/{id}", "jq filter")
	b.post(path+"/answer", url.Values{"filter": {".["}, "do": {"save"}}).want(t, http.StatusUnprocessableEntity)
	b.post(path+"/answer", url.Values{"filter": {".notes"}, "do": {"test"}}).want(t, http.StatusUnprocessableEntity, "Call the tool once")
	b.post(path+"/answer", url.Values{"filter": {".notes[0].text"}, "do": {"save"}}).want(t, http.StatusSeeOther)
	tools, err := d.Door().APIs().Tools(t.Context(), c.ID)
	if err != nil || len(tools) != 1 || tools[0].Filter != ".notes[0].text" {
		t.Errorf("stored %+v, %v", tools, err)
	}
	b.get("/connectors/"+c.Slug).want(t, http.StatusOK, "HTTP API", "Show operations", "uploaded")
}

func TestAnnotationsPanel_OverridesThoseOfTheMethod(t *testing.T) {
	t.Parallel()
	d, notes := newDashboard(t), startNotes(t)
	c := d.createAPI(notes.URL+"/openapi.json", notesDocument)
	if err := d.Door().APIs().SaveTools(t.Context(), c.ID, []connectors.APITool{{Key: "GET /notes/{id}", Filter: ".notes"}}); err != nil {
		t.Fatal(err)
	}
	sync := func() {
		t.Helper()
		if _, err := d.syncer.Sync(t.Context(), d.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual}); err != nil {
			t.Fatal(err)
		}
	}
	sync()
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug+"/tools/getNote"
	b.post(path+"/answer", url.Values{"annotations.readOnlyHint": {"maybe"}, "do": {"annotate"}}).want(t, http.StatusUnprocessableEntity, "Pick one of the options.")
	b.post(path+"/answer", url.Values{"annotations.readOnlyHint": {"false"}, "annotations.destructiveHint": {"true"}, "annotations.openWorldHint": {""}, "do": {"annotate"}}).want(t, http.StatusSeeOther)
	stored, err := d.Door().APIs().Tools(t.Context(), c.ID)
	if err != nil || !maps.Equal(stored[0].Annotations, map[string]bool{"readOnlyHint": false, "destructiveHint": true}) || stored[0].Filter != ".notes" {
		t.Errorf("stored %+v, %v", stored, err)
	}
	sync()
	tool, err := d.Door().Tools().Get(t.Context(), c.ID, "getNote")
	if err != nil || tool.Review != connectors.ReviewChanged {
		t.Errorf("the riskier annotations don't wait for review: %+v, %v", tool.Review, err)
	}
	d.signInAsRole(connectors.RoleViewer).get(path).want(t, http.StatusOK, "Destructive", "yes")
	d.signInAsRole(connectors.RoleViewer).post(path+"/answer", url.Values{"do": {"annotate"}}).want(t, http.StatusForbidden)

	endpoint := url.Values{"name": {"ping"}, "method": {"POST"}, "url": {notes.URL + "/ping"}, "annotations.readOnlyHint": {"true"}, "do": {"save"}}
	b.post("/connectors/"+c.Slug+"/endpoint", endpoint).want(t, http.StatusSeeOther)
	sync()
	ping, err := d.Door().Tools().Get(t.Context(), c.ID, "ping")
	if hints := connectors.DecodeTool(ping.Raw).Hints; err != nil || hints.ReadOnly == nil || !*hints.ReadOnly {
		t.Errorf("ping has %+v, %v", hints, err)
	}
	b.post("/connectors/"+c.Slug+"/tools/ping/answer", url.Values{"do": {"annotate"}}).want(t, http.StatusSeeOther)
	if stored, err = d.Door().APIs().Tools(t.Context(), c.ID); err != nil || strings.Contains(string(stored[1].Endpoint), "readOnlyHint") {
		t.Errorf("stored %s, %v", stored[1].Endpoint, err)
	}
}

// inputValues are the values of the page's inputs of a name.
func inputValues(t *testing.T, p page, name string) (values []string) {
	t.Helper()
	for _, input := range htmlcheck.Parse(t, p.Body).All("input") {
		if input.Attr("name") == name {
			values = append(values, input.Attr("value"))
		}
	}
	return values
}
