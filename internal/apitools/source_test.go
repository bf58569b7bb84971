package apitools_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/apitools"
	"patchbay/internal/connectors"
	"patchbay/internal/openapi"
	"patchbay/internal/safehttp"
)

// startLocal starts a server on this machine, which the public rules forbid.
func startLocal(t *testing.T, answer http.HandlerFunc) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func TestFetch_FollowsTheEgressRules(t *testing.T) {
	t.Parallel()
	local, requests := startLocal(t, func(http.ResponseWriter, *http.Request) {})
	public := safehttp.New(safehttp.Options{Mode: safehttp.Public}).Client()
	for _, address := range []string{
		local, strings.Replace(local, "127.0.0.1", "localhost", 1), "http://10.0.0.1/x", "http://169.254.169.254/latest/meta-data", "http://[::1]/x", "http://[fd00::1]/x",
		"http://2130706433/x", "http://0x7f.1/x", "http://0/x",
	} {
		_, err := apitools.Source{Client: public}.Fetch(t.Context(), address, "")
		if blocked, ok := errors.AsType[*safehttp.BlockedError](err); !ok && (err == nil || !strings.Contains(err.Error(), "isn't")) {
			t.Errorf("%s: %v", address, err)
		} else if ok && blocked.Why == "" {
			t.Errorf("%s: refused without a sentence", address)
		}
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestFetch_ChecksEachRedirect(t *testing.T) {
	t.Parallel()
	policy := safehttp.New(safehttp.Options{Mode: safehttp.Local}) // loopback is allowed, link-local addresses never are
	var target string
	start, requests := startLocal(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/document" {
			_, _ = io.WriteString(w, "{}")
			return
		}
		http.Redirect(w, r, target, http.StatusFound)
	})
	for to, wantRequests := range map[string]int64{
		"/document": 2, "/again": 5, "http://169.254.169.254/latest/meta-data": 1, "file:///etc/passwd": 1, "ftp://example.com/x": 1, "http://user:pass@%zz/": 1,
	} {
		target = to
		requests.Store(0)
		document, err := apitools.Source{Client: policy.Client()}.Fetch(t.Context(), start, "")
		if (err == nil) != (to == "/document") || err == nil && string(document.Body) != "{}" || requests.Load() != wantRequests {
			t.Errorf("%s: %v, %d requests", to, err, requests.Load())
		}
	}
	secure := httptest.NewTLSServer(http.RedirectHandler(start+"/document", http.StatusFound))
	t.Cleanup(secure.Close)
	client := secure.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	requests.Store(0)
	if _, err := (apitools.Source{Client: client}).Fetch(t.Context(), secure.URL, ""); err == nil || requests.Load() != 0 {
		t.Errorf("https leads to http: %v", err)
	}
}

// Files that a document refers to are asked for as the document is: by the same client, of its origin alone.
func TestFetch_ReadsFilesOfTheSameOrigin(t *testing.T) {
	t.Parallel()
	other, atOther := startLocal(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	const document = `{"openapi":"3.1.0","paths":{"/a":{"$ref":"paths/a.yaml"}}}`
	start, requests := startLocal(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		switch r.URL.Path {
		case "/v1/openapi.json":
			_, _ = io.WriteString(w, document)
		case "/v1/paths/a.yaml":
			_, _ = io.WriteString(w, "get: {parameters: [{$ref: '../moved#/P'}], responses: {}}")
		case "/v1/moved":
			http.Redirect(w, r, "/v2/parts/p.yaml", http.StatusFound)
		case "/v2/parts/p.yaml":
			_, _ = io.WriteString(w, "P: {name: q, in: query, schema: {$ref: s.json}}")
		case "/v2/parts/s.json":
			_, _ = io.WriteString(w, `{"type":"integer"}`)
		case "/alias":
			http.Redirect(w, r, "/v1/openapi.json", http.StatusFound)
		case "/away/openapi.json":
			_, _ = io.WriteString(w, strings.ReplaceAll(document, "paths/a.yaml", "away.yaml"))
		case "/foreign":
			_, _ = io.WriteString(w, strings.ReplaceAll(document, "paths/a.yaml", other+"/a.yaml"))
		case "/away/away.yaml":
			http.Redirect(w, r, other+"/a.yaml", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})
	source := apitools.Source{Client: safehttp.New(safehttp.Options{Mode: safehttp.Local}).Client()}
	for path, wantRequests := range map[string]int64{"/v1/openapi.json": 5, "/alias": 6} {
		requests.Store(0)
		fetched, err := source.Fetch(t.Context(), start+path, "")
		if err != nil || fetched.ETag != "" || requests.Load() != wantRequests || fetched.Size != len(fetched.Body) {
			t.Fatalf("%s: %+v, %v, %d requests", path, fetched, err, requests.Load())
		}
		tools, err := apitools.MakeTools(t.Context(), fetched.Body, apitools.Addresses{Document: start + path}, []connectors.APITool{{Key: "GET /a"}})
		if err != nil || len(tools) != 1 || !strings.Contains(string(tools[0].Definition), `"q":{"type":"integer"}`) {
			t.Errorf("%s: %v, %s", path, err, fetched.Body)
		}
	}
	for path, sentence := range map[string]string{
		"/away/openapi.json": `The reference "away.yaml" can't be followed. The document's URL redirects to one that isn't allowed.`,
		"/foreign":           `The reference "` + other + `/a.yaml" points to another origin.`,
	} {
		if _, err := source.Fetch(t.Context(), start+path, ""); err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if n := atOther.Load(); n != 0 {
		t.Errorf("%d requests left the origin", n)
	}
}

func TestFetch_IsBounded(t *testing.T) {
	t.Parallel()
	large, _ := startLocal(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 17 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})
	_, err := apitools.Source{Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}.Fetch(t.Context(), large, "")
	if err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("17 MiB: %v", err)
	}
}

// A document names other documents and servers. Reading it asks for none of them, and its tools reach none by themselves.
func TestMakeTools_AsksForNothing(t *testing.T) {
	t.Parallel()
	other, requests := startLocal(t, func(http.ResponseWriter, *http.Request) {})
	document := strings.ReplaceAll(`{"openapi":"3.1.0","info":{"title":"T","version":"1"},"servers":[{"url":"http://169.254.169.254/v1"}],"paths":{
		"/a":{"get":{"parameters":[{"name":"q","in":"query","schema":{"$ref":"OTHER/s.json#/S"}}],"responses":{"200":{"description":"","content":{"application/json":{"schema":{"$ref":"file:///etc/passwd"}}}}}}},
		"/b":{"$ref":"OTHER/path.json"},"/c":{"get":{"servers":[{"url":"https://{h}/","variables":{"h":{"default":"evil.example#"}}}],"responses":{}}},
		"/d":{"get":{"servers":[{"url":"https://{unknown}.example.com"}],"responses":{}}}}}`, "OTHER", other)
	tools, err := apitools.MakeTools(t.Context(), []byte(document), apitools.Addresses{Document: "https://api.example.com/openapi.json"}, []connectors.APITool{{Key: "GET /a"}, {Key: "GET /b"}, {Key: "GET /c"}, {Key: "GET /d"}})
	if err != nil || len(tools) != 1 || tools[0].Binding.Server != "http://169.254.169.254/v1" {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	d, err := apitools.Read([]byte(document), apitools.Addresses{Document: "https://api.example.com/openapi.json"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range d.Operations {
		if _, err := d.Tool(o); (err == nil) != (o.Path == "/a") {
			t.Errorf("%s: %v", o.Path, err)
		}
	}
	if len(d.Problems) == 0 || requests.Load() != 0 {
		t.Errorf("%d requests, problems %v", requests.Load(), d.Problems)
	}
}

func TestMakeTools_AsAPersonSet(t *testing.T) {
	t.Parallel()
	document := `{"openapi":"3.1.0","info":{"title":"T","version":"1"},"servers":[{"url":"https://api.example.com"}],"paths":{"/a":{"get":{
		"parameters":[{"name":"page","in":"query","schema":{"type":"integer"}}],
		"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"array","items":{"type":"object"}}}}}}}}}}`
	made := func(p connectors.APITool) openapi.Tool {
		t.Helper()
		p.Key = "GET /a"
		tools, err := apitools.MakeTools(t.Context(), []byte(document), apitools.Addresses{Document: "https://api.example.com/openapi.json"}, []connectors.APITool{p})
		if err != nil || len(tools) != 1 {
			t.Fatalf("%d tools, %v", len(tools), err)
		}
		return tools[0]
	}
	if tool := made(connectors.APITool{}); tool.Binding.Pages != nil || tool.Binding.Result == "" || !strings.Contains(string(tool.Definition), "outputSchema") {
		t.Errorf("the tool is %s with %s", tool.Definition, tool.Binding.JSON())
	}
	if tool := made(connectors.APITool{MaxPages: 3}); tool.Binding.Pages == nil || tool.Binding.Pages.Max != 3 {
		t.Errorf("the pages are %+v", tool.Binding.Pages)
	}
	if tool := made(connectors.APITool{Filter: "length"}); tool.Binding.Filter != "length" || tool.Binding.Result != "" || strings.Contains(string(tool.Definition), "outputSchema") {
		t.Errorf("the filtered tool is %s with %s", tool.Definition, tool.Binding.JSON())
	}
	if tool := made(connectors.APITool{Annotations: map[string]bool{"readOnlyHint": false}}); !strings.Contains(string(tool.Definition), `"readOnlyHint":false`) {
		t.Errorf("the tool is %s", tool.Definition)
	}
}

// roundTripper answers requests without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// closingBody calls a function when it was read.
type closingBody struct {
	io.Reader
	closed func()
}

func (b closingBody) Close() error {
	b.closed()
	return nil
}

func TestFetch_TakesATurnButNotForRequests(t *testing.T) {
	t.Parallel()
	tenant := connectors.TenantID{UUID: uuid.New()}
	stop, requests := errors.New("stop"), 0
	ctx, cancel := context.WithCancelCause(t.Context())
	isFree := false
	closed := func() { cancel(stop) }
	source := apitools.Source{Tenant: tenant, Client: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		requests++
		text := `{"openapi":"3.1.0","paths":{"/a":{"$ref":"a.yaml"}}}`
		if r.URL.Path == "/a.yaml" {
			text = "get: {responses: {}}"
			isFree = apitools.TakeTurn(r.Context(), tenant, func() error { return nil }) == nil
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: closingBody{strings.NewReader(text), closed}, Request: r}, nil
	})}}
	err := apitools.TakeTurn(t.Context(), tenant, func() error {
		_, err := source.Fetch(ctx, "https://api.example.com/openapi.json", "")
		return err
	})
	if err != stop || requests != 1 {
		t.Errorf("without a turn: %v, %d requests", err, requests)
	}
	closed = func() {}
	if _, err := source.Fetch(t.Context(), "https://api.example.com/openapi.json", ""); err != nil || !isFree || requests != 3 {
		t.Errorf("%v, free during the request: %v, %d requests", err, isFree, requests)
	}
}
