//go:build e2e

package e2e_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// install makes an installation with an owner, an API key, and a connector of the small MCP server, not synced yet.
func install(t *testing.T, env ...string) (*home, *server, *person, client) {
	t.Helper()
	return installIn(t, newHome(t, env...))
}

// installIn is install at a home.
func installIn(t *testing.T, h *home) (*home, *server, *person, client) {
	t.Helper()
	upstream := h.devMCP()
	s := h.serve()
	owner := newPerson(t)
	s.setUp(owner)
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Tools", "url": upstream + "/mcp"})
	return h, s, owner, c
}

// synced is install, and the tools that a sync has found.
func synced(t *testing.T, env ...string) (*home, *server, client, []string) {
	t.Helper()
	h, s, _, c := install(t, env...)
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	return h, s, c, c.tools("tools")
}

func TestNewcomerGetsFromTheSetupLinkToTheTools(t *testing.T) {
	t.Parallel()
	inEachHTTPMode(t, testNewcomerGetsFromTheSetupLinkToTheTools)
}

func testNewcomerGetsFromTheSetupLinkToTheTools(t *testing.T, setting string) {
	h := newHome(t, setting)
	h.empty = true
	_, s, owner, c := installIn(t, h)

	run := c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	names := c.tools("tools")
	if run["status"] != "ok" || run["trigger"] != "api" || len(names) == 0 || run["tools_total"] != float64(len(names)) {
		t.Fatalf("the sync says %v, and the tools are %v", run, names)
	}
	connector := c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/tools", nil)
	if connector["status"] != "ok" || connector["tools_last_synced_at"] == nil {
		t.Errorf("the connector after its sync: %v", connector)
	}
	shown := owner.get(s.base + "/connectors/tools/tools")
	for _, name := range names {
		if !strings.Contains(shown.body, name) {
			t.Errorf("the page of tools (%d) does not show %s", shown.status, name)
		}
	}

	if code := s.terminate(); code != 0 {
		t.Fatalf("the server ended with %d", code)
	}
	s = h.serve()
	c.base = s.base
	if diff := cmp.Diff(names, c.tools("tools")); diff != "" {
		t.Errorf("tools after a restart: %s", diff)
	}
	if list := owner.get(s.base + "/connectors"); list.status != http.StatusOK {
		t.Errorf("the session does not survive a restart: %d", list.status)
	}
	if strings.Contains(s.stdout.text(), "/setup") {
		t.Error("a setup link is printed although there is an owner")
	}
}

func TestFormSyncsAndComesBackWithANotice(t *testing.T) {
	t.Parallel()
	_, s, owner, _ := install(t)
	sent := owner.post(s.base+"/connectors/tools/sync_tools", url.Values{})
	if sent.status != http.StatusSeeOther {
		t.Fatalf("the form answers %d: %s", sent.status, sent.body)
	}
	target, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	target, err = target.Parse(sent.location)
	if err != nil {
		t.Fatal(err)
	}
	shown := owner.get(target.String())
	if !strings.Contains(shown.body, "Discovered ") || !strings.Contains(shown.body, "Tools") {
		t.Errorf("no notice on %s: %s", target, shown.body)
	}
}

func TestSetupLinkServesOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.serve()
	stale := first.setupLink()
	first.terminate()

	s := h.serve() // a start without an owner prints a new link
	if s.setupLink() == stale {
		t.Error("two starts printed the same link")
	}
	s.setUp(newPerson(t))
	if again := newPerson(t).get(s.setupLink()); again.status != http.StatusNotFound {
		t.Errorf("the used link answers %d", again.status)
	}
	old, _ := url.Parse(stale)
	if again := newPerson(t).get(s.base + "/setup?" + old.RawQuery); again.status != http.StatusNotFound {
		t.Errorf("the first start's link answers %d after the owner was made", again.status)
	}
	if in := s.signIn(newPerson(t)); in.status != http.StatusSeeOther {
		t.Errorf("the owner cannot sign in: %d %s", in.status, in.body)
	}
}

func TestStrangersSeeOnlyPublicAddresses(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	stranger := newPerson(t)
	for path, want := range map[string]int{
		"/healthz":                    http.StatusOK,
		"/oauth/client-metadata.json": http.StatusOK,
		"/readyz":                     http.StatusOK,
		"/openapi.json":               http.StatusOK,
		"/login":                      http.StatusOK,
		"/connectors":                 http.StatusSeeOther,
		"/api/v1/connectors":          http.StatusUnauthorized,
		"/metrics":                    http.StatusNotFound,
		"/debug/pprof/":               http.StatusNotFound,
		"/no/such/page":               http.StatusNotFound,
	} {
		if have := stranger.get(s.base + path); have.status != want {
			t.Errorf("%s: %d, want %d", path, have.status, want)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/login"} {
		res, err := stranger.client.Head(s.base + path)
		if shown := stranger.read(res, err); shown.status != http.StatusOK || shown.body != "" {
			t.Errorf("HEAD %s: %d %q", path, shown.status, shown.body)
		}
	}
}

func TestSeedMakesExamplesOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	upstream := h.devMCP()
	first := h.run("seed", "--no-history", "--dev-mcp", upstream)
	if !strings.Contains(first, "owner@acorn.example") || !strings.Contains(first, "password") {
		t.Fatalf("the first seed printed:\n%s", first)
	}
	if second := h.run("seed", "--no-history", "--dev-mcp", upstream); strings.Contains(second, "password") || strings.Contains(second, "http://127.0.0.1:0") {
		t.Errorf("the second seed made something:\n%s", second)
	}
	s := h.serve()
	for tenant, connectors := range map[string][]string{"acorn": {"tools", "streams", "guarded"}, "birch": {"pages", "personal"}} {
		c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", tenant, "--role", "member", "--name", "tests")}
		for _, connector := range connectors {
			c.must(http.StatusOK, http.MethodPost, "/connectors/"+connector+"/sync_tools", nil)
			if names := c.tools(connector); len(names) == 0 || !slices.IsSorted(names) {
				t.Errorf("%s/%s: tools %v", tenant, connector, names)
			}
		}
	}
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "acorn", "--role", "member", "--name", "broken")}
	if status, answer := c.call(http.MethodPost, "/connectors/broken/sync_tools", nil); status != http.StatusBadGateway {
		t.Errorf("the broken one: %d %v", status, answer)
	}
}
