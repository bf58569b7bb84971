package toolsync_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/apitools"
	"patchbay/internal/connectors"
	"patchbay/internal/openapi"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
)

const notesDocument = `{"openapi":"3.1.0","info":{"title":"Notes","version":"2"},"servers":[{"url":"/v2"}],"paths":{
	"/notes":{"get":{"operationId":"listNotes","summary":"List notes","responses":{"200":{"description":""}}}},
	"/notes/{id}":{"get":{"operationId":"getNote","summary":"Get a note","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
		"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}}}}`

// documentServer serves a document with an ETag.
type documentServer struct {
	*httptest.Server
	document string
	etag     string
	answers  []int
}

func newDocumentServer(t *testing.T) *documentServer {
	t.Helper()
	s := &documentServer{document: notesDocument, etag: `"1"`}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		if s.etag != "" && r.Header.Get("If-None-Match") == s.etag {
			status = http.StatusNotModified
		}
		if r.Header.Get("Authorization") != "" {
			status = http.StatusTeapot // a credential is not for the document
		}
		s.answers = append(s.answers, status)
		w.Header().Set("ETag", s.etag)
		w.WriteHeader(status)
		if status == http.StatusOK {
			_, _ = io.WriteString(w, s.document)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// addAPI creates a connector to the API of a document, with the picked operations.
func (b *bundle) addAPI(t testing.TB, url string, picked ...string) connectors.Connector {
	t.Helper()
	source := apitools.Source{APIs: b.Door().APIs(), Client: safehttp.New(safehttp.Options{Mode: safehttp.Local}).Client()}
	document, err := source.Fetch(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := apitools.Read(document.Body, apitools.Addresses{Document: url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := b.addConnector(t, url, bearer, func(d *connectors.Draft) {
		d.Transport = connectors.TransportAPI
		if address, err := parsed.Address(); err == nil && connectors.Origin(address) != connectors.Origin(url) {
			d.ServerURL = address
		}
	})
	b.storeToken(t, c, nil, "hush")
	if err := source.APIs.SaveDocument(t.Context(), c.ID, *document); err != nil {
		t.Fatal(err)
	}
	b.AsOwner(t, "update api_documents d set read_at = c.created_at from connectors c where c.id = d.connector_id and d.connector_id = '"+c.ID.String()+"'") // one transaction stores both
	tools := make([]connectors.APITool, len(picked))
	for i, key := range picked {
		tools[i].Key = key
	}
	if err := source.APIs.SaveTools(t.Context(), c.ID, tools); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSync_ListsThePickedOperations(t *testing.T) {
	t.Parallel()
	b, api := newBundle(t), newDocumentServer(t)
	c := b.addAPI(t, api.URL+"/openapi.json", "GET /notes/{id}")

	run := b.mustSync(t, c)

	if run.Counts.Total != 1 || run.Counts.Added != 1 {
		t.Errorf("the counts are %+v", run.Counts)
	}
	tool := b.tools(t, c)["getNote"]
	if !strings.Contains(string(tool.Raw), `"`+toolchange.BindingMember+`":{"v":1,"method":"GET","server":"`+api.URL+`/v2","path":"/notes/{id}"`) {
		t.Errorf("the definition is %s", tool.Raw)
	}
	if run = b.mustSync(t, c); run.Counts.Changed != 0 || run.Counts.Total != 1 {
		t.Errorf("the second counts are %+v", run.Counts)
	}
	if !slices.Equal(api.answers, []int{200, 304, 304}) {
		t.Errorf("the document's server answered %v", api.answers)
	}
}

func TestSync_AnAPIOnAnotherServerIsHighRisk(t *testing.T) {
	t.Parallel()
	b, api := newBundle(t), newDocumentServer(t)
	c := b.addAPI(t, api.URL+"/openapi.json", "GET /notes/{id}", "GET /notes")
	b.mustSync(t, c)

	api.document, api.etag = strings.ReplaceAll(notesDocument, `"/v2"`, `"https://elsewhere.example.com"`), `"2"`
	if run := b.mustSync(t, c); run.Counts.Changed != 2 {
		t.Errorf("the counts are %+v", run.Counts)
	}
	changes, err := b.Door().Tools().Changes(t.Context(), store.ChangeFilter{Page: store.Page{Limit: 10}})
	if err != nil {
		t.Fatal(err)
	}
	risky := 0
	for _, change := range changes.Items {
		if slices.Contains(change.Kinds, toolchange.EndpointChanged) && change.Risk == toolchange.High {
			risky++
		}
	}
	if risky != 2 {
		t.Errorf("the changes are %+v", changes.Items)
	}
}

func TestSync_WatchesTheFilesOfADocument(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var schema atomic.Value
	schema.Store(`{"type":"string"}`)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.URL.Path == "/schema.json" {
			_, _ = io.WriteString(w, schema.Load().(string))
			return
		}
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(notesDocument, `{"type":"string"}`, `{"$ref":"schema.json"}`))
	}))
	t.Cleanup(api.Close)
	c := b.addAPI(t, api.URL+"/openapi.json", "GET /notes/{id}")
	for _, step := range []struct {
		schema  string
		changed int
	}{{`{"type":"string"}`, 0}, {`{"type":"string"}`, 0}, {`{"type":"integer"}`, 1}} {
		schema.Store(step.schema)
		if run := b.mustSync(t, c); run.Counts.Total != 1 || run.Counts.Changed != step.changed {
			t.Errorf("%s: the counts are %+v", step.schema, run.Counts)
		}
	}
}

func TestSync_AnUnchangedDocumentIsNotParsed(t *testing.T) {
	t.Parallel()
	b, api := newBundle(t), newDocumentServer(t)
	c := b.addAPI(t, api.URL+"/openapi.json", "GET /notes/{id}", "GET /notes")
	client, cache := safehttp.New(safehttp.Options{Mode: safehttp.Local}).Client(), &apitools.Cache{}
	read := func() []openapi.Tool {
		tools, err := apitools.Source{APIs: b.Door().APIs(), Client: client, Cache: cache}.Tools(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return tools
	}
	first, second := read(), read()
	if len(first) != 2 || &first[0] != &second[0] {
		t.Errorf("the tools of an unchanged document were made anew")
	}
	if err := b.Door().APIs().SaveTools(t.Context(), c.ID, []connectors.APITool{{Key: "GET /notes", Filter: "length"}}); err != nil {
		t.Fatal(err)
	}
	if third := read(); &third[0] == &first[0] || third[0].Binding.Filter != "length" {
		t.Errorf("a changed pick made no other tools: %+v", third)
	}
	api.document, api.etag = strings.ReplaceAll(notesDocument, "Get a note", "Read a note"), "" // without an ETag, the document itself is compared
	if fourth := read(); !strings.Contains(string(fourth[1].Definition), "Read a note") {
		t.Errorf("a changed document made no other tools: %s", fourth[1].Definition)
	}
	fifth, sixth := read(), read()
	if &fifth[0] != &sixth[0] {
		t.Errorf("the tools of an unchanged document without an ETag were made anew")
	}
	if want := []int{200, 304, 304, 304, 200, 200, 200}; !slices.Equal(api.answers, want) {
		t.Errorf("the document's server answered %v, want %v", api.answers, want)
	}
}

// uploadOnFetch stores an uploaded document while one is fetched.
type uploadOnFetch struct {
	http.RoundTripper
	upload func()
}

func (f uploadOnFetch) RoundTrip(r *http.Request) (*http.Response, error) {
	f.upload()
	return f.RoundTripper.RoundTrip(r)
}

func TestSync_KeepsADocumentThatIsUploadedMeanwhile(t *testing.T) {
	t.Parallel()
	b, api := newBundle(t), newDocumentServer(t)
	c := b.addAPI(t, api.URL+"/openapi.json", "GET /notes")
	apis := b.Door().APIs()
	uploaded := strings.ReplaceAll(notesDocument, "listNotes", "uploadedNotes")
	client := safehttp.New(safehttp.Options{Mode: safehttp.Local}).Client()
	client.Transport = uploadOnFetch{client.Transport, func() {
		if err := apis.SaveDocument(t.Context(), c.ID, connectors.APIDocument{Body: []byte(uploaded)}); err != nil {
			t.Error(err)
		}
	}}
	api.document, api.etag = strings.ReplaceAll(notesDocument, "listNotes", "fetchedNotes"), `"2"`
	tools, err := apitools.Source{APIs: apis, Client: client}.Tools(t.Context(), c)
	if err != nil || len(tools) != 1 || tools[0].Name != "uploadedNotes" {
		t.Errorf("made %+v, %v", tools, err)
	}
	stored, err := apis.Document(t.Context(), c.ID)
	if err != nil || stored.IsFetched || string(stored.Body) != uploaded {
		t.Errorf("stored a fetched document: %t, %s, %v", stored.IsFetched, stored.Body, err)
	}
}
