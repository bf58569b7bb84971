package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// builtinCatalog is the built-in catalog.
func builtinCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCatalog_SearchWithoutScript(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	all := b.get("/catalog")
	all.want(t, http.StatusOK, "Linear", "Stripe", "All categories", "Any sign-in", "Documentation")
	if all.says("/add") || all.says("Import from registry") {
		t.Error("a viewer is offered to add servers")
	}
	some := b.get("/catalog?q=issues&category=projects&auth=oauth2")
	some.want(t, http.StatusOK, "Linear", "1 server")
	if some.says("Stripe") {
		t.Error("the filter lets everything through")
	}
	b.get("/catalog?q=nothing-of-the-kind").want(t, http.StatusOK, "No matching servers", "Show all")
	d.signInAsRole(connectors.RoleAdmin).get("/connectors").want(t, http.StatusOK, `href="/catalog"`)
	d.signInAsRole(connectors.RoleAdmin).get("/connectors/new").want(t, http.StatusOK, `href="/catalog"`)
}

func TestCatalog_ServerIsAddedWithOneClick(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	for slug, next := range map[string][3]string{
		"linear":    {"/connectors/linear/credentials", "Added “Linear”. Connect it.", "Connect"},
		"github":    {"/connectors/github/credentials", "Added “GitHub”. Set its credential.", "Set"},
		"deepwiki":  {"/connectors/deepwiki/start", "Added “DeepWiki”.", "Sync again"},
		"asana":     {"/connectors/asana/settings", "client id", "Client ID"},
		"new-relic": {"/connectors/new-relic/credentials", "Enter a user key.", "Key in the api-key header."},
	} {
		done := b.post("/catalog/"+slug+"/add", nil)
		if done.Status != http.StatusSeeOther || done.Location != next[0] {
			t.Errorf("%s: %d to %q", slug, done.Status, done.Location)
		}
		b.get(next[0]).want(t, http.StatusOK, next[1], next[2])
	}
	b.get("/catalog?q=linear").want(t, http.StatusOK, "Added", `href="/connectors/linear"`)
	b.submit("/catalog/linear/add", nil).want(t, http.StatusOK, `The connector "Linear" already uses this server.`)
	if p := b.post("/catalog/nobody/add", nil); p.Status != http.StatusNotFound {
		t.Errorf("nobody: %d", p.Status)
	}
	if p := d.signInAsRole(connectors.RoleMember).post("/catalog/stripe/add", nil); p.Status != http.StatusForbidden {
		t.Errorf("a member: %d", p.Status)
	}
}

func TestCatalog_IsIsolatedByTenant(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.ConnectorIn(t, d.Other, func(c *connectors.Draft) { c.URL = "https://mcp.linear.app/mcp" })
	b := d.signInAsRole(connectors.RoleAdmin)
	if b.get("/catalog?q=linear").says("Added") {
		t.Error("another tenant's connector counts")
	}
	b.submit("/catalog/linear/add", nil).want(t, http.StatusOK, "Added “Linear”.")
}

func TestCatalog_QueriesDoNotGrow(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/catalog").want(t, http.StatusOK)
	count := func() int64 { return d.countStatements(func() { b.get("/catalog").want(t, http.StatusOK) }) }
	empty := count()
	for range 30 {
		d.Connector(t)
	}
	b.submit("/catalog/linear/add", nil).want(t, http.StatusOK, "Added “Linear”.")
	if full := count(); full > empty {
		t.Errorf("%d statements with connectors, %d without", full, empty)
	}
}

// registryDocument is an MCP registry's list.
func registryDocument(servers ...string) string {
	return `{"servers": [` + strings.Join(servers, ",\n") + `], "metadata": {"count": 1}}`
}

func listedServer(name, remotes string) string {
	return fmt.Sprintf(`{"server": {"name": %q, "description": "<b>Bold</b> & <script>alert(1)</script>", "version": "1", "remotes": [%s]}}`, name, remotes)
}

const weatherRemote = `{"type": "streamable-http", "url": "https://weather.example.com/mcp", "headers": [{"name": "Authorization", "value": "Bearer {token}", "isRequired": true, "isSecret": true}]}`

var boxValue = regexp.MustCompile(`name="(?:chosen|change)" value="([^"]*)"`)

// checkboxValues are the values of the page's server checkboxes.
func (p page) checkboxValues() []string {
	var all []string
	for _, found := range boxValue.FindAllStringSubmatch(p.Body, -1) {
		all = append(all, strings.NewReplacer("&#34;", `"`, "&quot;", `"`, "&lt;", "<", "&gt;", ">", "&#39;", "'", "&amp;", "&").Replace(found[1]))
	}
	return all
}

func TestListing_ServersAreChosenAndAdded(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v0.1/servers" || r.URL.Query().Get("search") != "weather" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(registryDocument(
			listedServer("com.example/weather", weatherRemote),
			listedServer("com.example/open", `{"type": "sse", "url": "https://open.example.com/sse"}`),
			listedServer("com.example/evil", `{"type": "sse", "url": "javascript:alert(1)"}`),
			`{"server": {"name": "com.example/local", "version": "1", "packages": [{"registryType": "npm", "identifier": "x"}]}}`)))
	}))
	defer registry.Close()
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/catalog/registry").want(t, http.StatusOK, "Anyone can publish to an MCP registry.", "Registry")
	before := d.snapshot()
	shown := b.post("/catalog/registry/preview", url.Values{"url": {registry.URL}, "search": {"weather"}})
	shown.want(t, http.StatusOK, "3 servers", "com.example/weather", "Access token", "https://open.example.com/sse", "Can't be added", "1 more left out: programs without a URL.")
	if after := d.snapshot(); after != before {
		t.Errorf("the preview stored something:\n%s\n%s", before, after)
	}
	if strings.Contains(shown.Body, "<script>alert") || strings.Contains(shown.Body, "<b>Bold") || strings.Contains(shown.Body, `href="javascript`) {
		t.Errorf("remote text is markup:\n%s", shown.Body)
	}
	boxes := shown.checkboxValues()
	if len(boxes) != 2 || !json.Valid([]byte(boxes[0])) {
		t.Fatalf("to choose from: %q", boxes)
	}
	b.post("/catalog/registry", url.Values{"chosen": boxes[:1]}).want(t, http.StatusOK, "1 created", "Set it", `href="/connectors/weather/credentials"`)
	c, err := d.Door().Connectors().Get(t.Context(), "weather")
	if err != nil || c.Auth.Type != connectors.AuthBearer || c.URL != "https://weather.example.com/mcp" {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := d.Door().Connectors().Get(t.Context(), "open"); !fault.Is(err, fault.NotFound) {
		t.Errorf("what was not chosen is there: %v", err)
	}
	b.post("/catalog/registry/preview", url.Values{"url": {registry.URL}, "search": {"weather"}}).want(t, http.StatusOK, "Added", `href="/connectors/weather"`)
	b.post("/catalog/registry", nil).want(t, http.StatusUnprocessableEntity, "No server selected. List them again.")
	b.post("/catalog/registry", url.Values{"chosen": {`{"server": `}}).want(t, http.StatusBadRequest)
}

func TestAPastedListIsChosenFrom(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	document := registryDocument(listedServer("com.example/weather", weatherRemote))
	b.post("/catalog/registry/preview", url.Values{"document": {document}}).want(t, http.StatusOK, "1 server", "com.example/weather")
	b.upload("/catalog/registry/preview", "", strings.Replace(document, `"count": 1`, `"nextCursor": "x"`, 1)).want(t, http.StatusOK, "1 server", "More in the registry. Search by name.")
	b.post("/catalog/registry/preview", url.Values{"document": {pasted}}).want(t, http.StatusUnprocessableEntity, "This isn't an MCP registry list. Import client files under Connectors.")
	b.post("/catalog/registry/preview", nil).want(t, http.StatusUnprocessableEntity, "Paste or choose a file.")
	b.upload("/catalog/registry/preview", "", "//"+strings.Repeat("x", 1<<20)).want(t, http.StatusRequestEntityTooLarge)
	b.post("/catalog/registry/preview", url.Values{"url": {"http://127.0.0.1:1"}}).want(t, http.StatusUnprocessableEntity, "Can't reach the registry. Check the URL.", `value="http://127.0.0.1:1"`)
	b.post("/catalog/registry/preview", url.Values{"url": {"javascript:alert(1)"}}).want(t, http.StatusUnprocessableEntity, "Enter a URL like https://mcp.example.com/mcp.")
	b.post("/connectors/import/preview", url.Values{"document": {document}}).want(t, http.StatusOK, "1 to create")
}
