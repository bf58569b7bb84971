package publicregistry_test

import (
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/publicregistry"
	"patchbay/internal/store"
)

func TestServe_EntriesConformAndNameOnlyPatchbay(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	long := w.Connector(t, func(d *connectors.Draft) {
		d.Slug, d.URL, d.Description = "long", "https://upstream.internal.example/s3cret", strings.Repeat("é", 500)
	})
	w.Synced(t, long.ID, "search")
	w.connector(t, "bare")
	_, path := w.publish(t, connectors.Registry{EveryConnector: true})
	all := w.list(t, path+"/v0.1/servers")
	if all.names() != "all_connectors bare long" || all.Metadata.Count != 3 || all.Metadata.NextCursor != "" {
		t.Fatalf("listed: %s, %+v", all.names(), all.Metadata)
	}
	for i, want := range []string{"/mcp", "/mcp/bare", "/mcp/long"} {
		e := all.Servers[i]
		if r := e.Server.Remotes; len(r) != 1 || r[0].Type != "streamable-http" || r[0].URL != baseURL+want {
			t.Errorf("%s: remotes %+v", e.Server.Name, r)
		}
		if m := e.Meta["io.modelcontextprotocol.registry/official"]; m.Status != "active" || !m.IsLatest || m.UpdatedAt.IsZero() {
			t.Errorf("%s: %+v", e.Server.Name, m)
		}
	}
	res := w.send(t, http.MethodGet, path+"/v0.1/servers")
	if body := readBody(t, res); strings.Contains(body, "upstream.internal") || strings.Contains(body, "s3cret") {
		t.Errorf("the list names the server behind a connector: %s", body)
	}
	one := read[entry](t, w, path+"/v0.1/servers/"+url.PathEscape(namespace+"long")+"/versions/latest", "ServerResponse")
	versions := w.list(t, path+"/v0.1/servers/"+url.PathEscape(namespace+"long")+"/versions")
	exact := read[entry](t, w, path+"/v0.1/servers/"+url.PathEscape(namespace+"long")+"/versions/"+one.Server.Version, "ServerResponse")
	if len(versions.Servers) != 1 || versions.Servers[0].Server.Version != one.Server.Version || exact.Server.Name != one.Server.Name {
		t.Errorf("one %+v, versions %+v, exact %+v", one, versions, exact)
	}
}

func readBody(t *testing.T, res *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// The requests are those of the gallery of VS Code 1.124: src/vs/platform/mcp/common/mcpGalleryManifestService.ts and
// mcpGalleryService.ts. It sends the cursor unescaped and without the search.
func TestServe_RequestsOfVSCode(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	for _, slug := range []string{"alpha", "alpine", "beta"} {
		w.connector(t, slug, "search")
	}
	_, path := w.publish(t, connectors.Registry{EveryConnector: true})
	origin := []string{"Origin", "vscode-file://vscode-app"}
	probe := w.send(t, http.MethodGet, path+"/v0.1/servers?limit=1", origin...)
	if probe.StatusCode != http.StatusOK || probe.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Fatalf("the version probe: %d, %v", probe.StatusCode, probe.Header)
	}
	if old := w.send(t, http.MethodGet, path+"/v0/servers?limit=1", origin...); old.StatusCode != http.StatusNotFound {
		t.Errorf("v0: %d", old.StatusCode)
	}
	if all := w.list(t, path+"/v0.1/servers?limit=50&version=latest", origin...); all.names() != "all_connectors alpha alpine beta" {
		t.Errorf("gallery: %s", all.names())
	}
	first := w.list(t, path+"/v0.1/servers?limit=2&version=latest", origin...)
	second := w.list(t, path+"/v0.1/servers?limit=2&version=latest&cursor="+first.Metadata.NextCursor, origin...)
	if first.names() != "all_connectors alpha" || second.names() != "alpine beta" || second.Metadata.NextCursor != "" {
		t.Errorf("pages: %s, %s", first.names(), second.names())
	}
	found := w.list(t, path+"/v0.1/servers?limit=1&version=latest&search="+url.QueryEscape("THE ALP"), origin...)
	rest := w.list(t, path+"/v0.1/servers?limit=50&version=latest&cursor="+found.Metadata.NextCursor, origin...)
	if found.names() != "alpha" || rest.names() != "alpine" {
		t.Errorf("search: %s, then %s", found.names(), rest.names())
	}
	one := read[entry](t, w, path+"/v0.1/servers/com.example.patchbay%2Fbeta/versions/latest", "ServerResponse", origin...)
	if one.Server.Title != "The beta" || one.Server.Description != "Reads beta." || one.Server.Remotes[0].URL != baseURL+"/mcp/beta" {
		t.Errorf("one: %+v", one)
	}
}

// The requests are those that github/copilot-cli#3772 and #4949 have from its log, and what GitHub's documentation demands of a registry:
// the endpoints, and CORS fields on each answer.
func TestServe_RequestsOfCopilotCLI(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	w.connector(t, "alpha", "search")
	_, path := w.publish(t, connectors.Registry{EveryConnector: true})
	accept := []string{"Accept", "application/json"}
	if all := w.list(t, path+"/v0.1/servers?limit=30", accept...); all.names() != "all_connectors alpha" {
		t.Errorf("/mcp search: %s", all.names())
	}
	for _, name := range []string{"com.example.patchbay%2Falpha", "com.example.patchbay/alpha"} {
		if one := read[entry](t, w, path+"/v0.1/servers/"+name+"/versions/latest", "ServerResponse", accept...); one.Server.Name != namespace+"alpha" {
			t.Errorf("%s: %+v", name, one)
		}
	}
	// 404 blocks a server; any other error blocks all.
	for _, name := range []string{"com.example.patchbay%2Fnone", "com.github%2Falpha", "alpha"} {
		if res := w.send(t, http.MethodGet, path+"/v0.1/servers/"+name+"/versions/latest", accept...); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
	for _, target := range []string{path + "/v0.1/servers", path + "/v0.1/servers/com.example.patchbay%2Falpha/versions/latest", "/registry/none/v0.1/servers"} {
		for _, method := range []string{http.MethodOptions, http.MethodGet, http.MethodHead} {
			h := w.send(t, method, target, "Origin", "https://github.com").Header
			if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Methods") != "GET, OPTIONS" ||
				!strings.HasPrefix(h.Get("Access-Control-Allow-Headers"), "Authorization, Content-Type") {
				t.Errorf("%s %s: %v", method, target, h)
			}
		}
	}
	if res := w.send(t, http.MethodOptions, path+"/v0.1/servers", "Access-Control-Request-Method", "GET"); res.StatusCode != http.StatusNoContent {
		t.Errorf("preflight: %d", res.StatusCode)
	}
}

func TestServe_EntityTagChangesWithTheList(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	c := w.connector(t, "alpha", "search")
	_, path := w.publish(t, connectors.Registry{EveryConnector: true})
	res := w.send(t, http.MethodGet, path+"/v0.1/servers")
	tag := res.Header.Get("ETag")
	if tag == "" || res.Header.Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("%v", res.Header)
	}
	for _, tags := range []string{tag, `"a", ` + tag, strings.TrimPrefix(tag, "W/"), "*"} {
		if same := w.send(t, http.MethodGet, path+"/v0.1/servers", "If-None-Match", tags); same.StatusCode != http.StatusNotModified || readBody(t, same) != "" {
			t.Errorf("If-None-Match: %s: %d", tags, same.StatusCode)
		}
	}
	version := w.list(t, path+"/v0.1/servers").Servers[1].Server.Version
	w.Synced(t, c.ID, "search") // the same again
	if again := w.list(t, path+"/v0.1/servers").Servers[1].Server.Version; again != version {
		t.Errorf("a sync without changes: version %s, then %s", version, again)
	}
	w.Synced(t, c.ID, "search", "fetch")
	changed := w.send(t, http.MethodGet, path+"/v0.1/servers", "If-None-Match", tag)
	if now := w.list(t, path+"/v0.1/servers").Servers[1].Server.Version; now == version || changed.StatusCode != http.StatusOK {
		t.Errorf("another tool: version %s, then %s, status %d", version, now, changed.StatusCode)
	}
}

func TestServe_FiltersAndBadParameters(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	w.connector(t, "alpha", "search")
	w.connector(t, "beta", "fetch")
	_, path := w.publish(t, connectors.Registry{EveryConnector: true})
	version := w.list(t, path+"/v0.1/servers").Servers[1].Server.Version
	soon := url.QueryEscape(time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	for query, want := range map[string]string{
		"search=alpha": "alpha", "search=COM.EXAMPLE": "all_connectors alpha beta", "search=%25": "", "search=none": "",
		"version=latest": "all_connectors alpha beta", "version=" + version: "alpha", "version=9.9.9": "",
		"updated_since=2020-01-01T00:00:00Z": "all_connectors alpha beta", "updated_since=" + soon: "",
		"include_deleted=true": "all_connectors alpha beta", "limit=1000": "all_connectors alpha beta", "cursor=zzz": "",
		"cursor=all_connectors": "alpha beta",
	} {
		if got := w.list(t, path+"/v0.1/servers?"+query); got.names() != want {
			t.Errorf("%s: %q, want %q", query, got.names(), want)
		}
	}
	for _, query := range []string{"limit=0", "limit=-1", "limit=x", "updated_since=yesterday", "cursor=a.!", "cursor=" + strings.Repeat("a", 200)} {
		if res := w.send(t, http.MethodGet, path+"/v0.1/servers?"+query); res.StatusCode != http.StatusBadRequest || !strings.HasPrefix(readBody(t, res), `{"error":"`) {
			t.Errorf("%s: %d", query, res.StatusCode)
		}
	}
	for _, rest := range []string{"", "/", "/v0.1", "/v0.1/server", "/v0.1/serversx", "/v0.1/servers/a", "/v0.1/servers/com.example.patchbay%2Falpha", "/v0.1/servers/versions",
		"/v0.1/servers/com.example.patchbay%2Falpha/versions/1.0.0", "/v0.1/servers/com.example.patchbay%2F/versions", "/v0.1/servers/%zz/versions", "/v0.1/publish"} {
		r := strings.ReplaceAll(rest, "%zz", "%25zz") // the server refuses a malformed escape itself
		if res := w.send(t, http.MethodGet, path+r); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", rest, res.StatusCode)
		}
	}
	if res := w.send(t, http.MethodPost, path+"/v0.1/servers"); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", res.StatusCode)
	}
}

func TestServe_OnlyConnectorsOfTheChosenAgents(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	alpha, beta, gamma := w.connector(t, "alpha", "search"), w.connector(t, "beta", "search"), w.connector(t, "gamma", "search")
	one, two, other := w.Agent(t), w.Agent(t), w.Agent(t)
	w.Grant(t, one.ID, alpha.ID)
	w.Grant(t, two.ID, beta.ID)
	w.Grant(t, other.ID, gamma.ID)
	made, path := w.publish(t, connectors.Registry{Agents: []string{one.Slug, two.Slug}})
	wantNames := func(why, want string) {
		t.Helper()
		if got := w.list(t, path+"/v0.1/servers").names(); got != want {
			t.Errorf("%s: %q, want %q", why, got, want)
		}
	}
	wantNames("two agents", "all_connectors alpha beta")
	if res := w.send(t, http.MethodGet, path+"/v0.1/servers/com.example.patchbay%2Fgamma/versions/latest"); res.StatusCode != http.StatusNotFound {
		t.Errorf("a connector of another agent: %d", res.StatusCode)
	}
	if err := w.Door().Agents().DropGrant(t.Context(), two.ID, beta.ID); err != nil {
		t.Fatal(err)
	}
	wantNames("after the only grant of beta", "all_connectors alpha")
	if _, err := w.service.Update(t.Context(), w.admin, made.ID, publicregistry.Change{Agents: &[]string{other.Slug}}); err != nil {
		t.Fatal(err)
	}
	wantNames("another agent", "all_connectors gamma")
	if err := w.Door().Agents().Delete(t.Context(), other.ID); err != nil {
		t.Fatal(err)
	}
	wantNames("after the only agent", "all_connectors")
	every := true
	if _, err := w.service.Update(t.Context(), w.admin, made.ID, publicregistry.Change{EveryConnector: &every}); err != nil {
		t.Fatal(err)
	}
	wantNames("all connectors", "all_connectors alpha beta gamma")
	w.AsSystem(t, "update connectors set enabled = false where id = $1 returning true", []any{alpha.ID}, new(bool))
	wantNames("without the disabled one", "all_connectors beta gamma")
}

func TestServe_DisabledAgentCountsForNothing(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	alpha, agent := w.connector(t, "alpha", "search"), w.Agent(t)
	w.Grant(t, agent.ID, alpha.ID)
	_, path := w.publish(t, connectors.Registry{Agents: []string{agent.Slug}})
	w.AsSystem(t, "update agents set enabled = false where id = $1 returning true", []any{agent.ID}, new(bool))
	if got := w.list(t, path+"/v0.1/servers").names(); got != "all_connectors" {
		t.Errorf("listed: %s", got)
	}
}

func TestServe_EndedGrantCountsForNothing(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	alpha, agent := w.connector(t, "alpha", "search"), w.Agent(t)
	_, path := w.publish(t, connectors.Registry{Agents: []string{agent.Slug}})
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for _, tc := range []struct {
		why    string
		ends   connectors.GrantEnds
		listed bool
	}{
		{"a grant that goes on", connectors.GrantEnds{Until: &future}, true},
		{"a grant that ended", connectors.GrantEnds{Until: &past}, false},
		{"a tool that goes on", connectors.GrantEnds{Until: &past, Tools: map[string]*time.Time{"search": &future}}, true},
		{"a tool without an end", connectors.GrantEnds{Until: &past, Tools: map[string]*time.Time{"search": nil}}, true},
		{"a tool that ended", connectors.GrantEnds{Until: &past, Tools: map[string]*time.Time{"search": &past}}, false},
	} {
		w.Grant(t, agent.ID, alpha.ID, func(g *connectors.Grant) { g.Ends = &tc.ends })
		res := w.send(t, http.MethodGet, path+"/v0.1/servers/com.example.patchbay%2Falpha/versions/latest")
		if got := strings.Contains(w.list(t, path+"/v0.1/servers").names(), "alpha"); got != tc.listed || (res.StatusCode == http.StatusOK) != tc.listed {
			t.Errorf("%s: listed %v, its entry answers %d", tc.why, got, res.StatusCode)
		}
	}
}

func TestServe_TokenNarrowsTheListToItsAgent(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	alpha, beta := w.connector(t, "alpha", "search"), w.connector(t, "beta", "search")
	one, two := w.Agent(t), w.Agent(t)
	w.Grant(t, one.ID, alpha.ID)
	w.Grant(t, two.ID, beta.ID)
	expired := time.Now().Add(-time.Minute)
	stranger := w.AgentIn(t, w.Other)
	strange, _ := w.TokenIn(t, w.Other, stranger.ID)
	tokens := map[string]string{
		"one": w.Token(t, one.ID).Reveal(), "two": w.Token(t, two.ID).Reveal(),
		"expired": w.Token(t, one.ID, func(n *store.NewAgentToken) { n.ExpiresAt = &expired }).Reveal(),
		"other":   strange.Reveal(),
	}
	member := w.Member(t, connectors.RoleMember)
	program := w.ProgramIn(t, w.Tenant, one.ID, member.UserID)
	tokens["program"] = w.AccessToken(t, w.Tenant, program, "/mcp/alpha").Reveal()
	parts := strings.Split(tokens["one"], "_")
	parts[3] = strings.Split(tokens["two"], "_")[3]
	forged := strings.Join(parts[:4], "_")
	tokens["forged"] = fmt.Sprintf("%s_%08x", forged, crc32.ChecksumIEEE([]byte(forged)))
	_, every := w.publish(t, connectors.Registry{EveryConnector: true, TokenRequired: true})
	_, group := w.publish(t, connectors.Registry{Agents: []string{one.Slug}, TokenRequired: true})
	for _, c := range []struct{ path, token, want string }{
		{every, "one", "all_connectors alpha"}, {every, "two", "all_connectors beta"}, {group, "one", "all_connectors alpha"}, {group, "two", "all_connectors"},
	} {
		if got := w.list(t, c.path+"/v0.1/servers", "Authorization", "Bearer "+tokens[c.token]).names(); got != c.want {
			t.Errorf("%s: %q, want %q", c.token, got, c.want)
		}
	}
	for name, header := range map[string]string{
		"none": "", "no bearer": "Basic " + tokens["one"], "cut": "Bearer " + tokens["one"][:40], "another's secret": "Bearer " + tokens["forged"], "expired": "Bearer " + tokens["expired"],
		"other tenant's": "Bearer " + tokens["other"], "for one address": "Bearer " + tokens["program"],
	} {
		res := w.send(t, http.MethodGet, every+"/v0.1/servers", "Authorization", header)
		if res.StatusCode != http.StatusUnauthorized || res.Header.Get("WWW-Authenticate") != "Bearer" || res.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", name, res.StatusCode, res.Header)
		}
	}
}

// An unknown address costs what a malformed one costs, and gets the same answer.
func TestServe_UnknownAddressesAreAlike(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	w.connector(t, "alpha", "search")
	made, path := w.publish(t, connectors.Registry{EveryConnector: true})
	_, text, err := w.service.RotateAddress(t.Context(), w.admin, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	next := pathOf(t, text)
	var first http.Header
	for _, target := range []string{
		path + "/v0.1/servers", strings.ToUpper(next[10:]), "/registry/" + strings.Repeat("0", 40) + "/v0.1/servers", "/registry/x", "/registry/", "/registry/%00%ff/v0.1/servers",
		"/registry/" + strings.Repeat("y", 4000) + "/v0.1/servers?limit=x", next[:len(next)-1] + "/v0.1/servers", next + "0/v0.1/servers", next + "%20/v0.1/servers",
	} {
		if !strings.HasPrefix(target, "/") {
			target = "/registry/" + target + "/v0.1/servers"
		}
		before := w.Queries()
		res := w.send(t, http.MethodGet, target)
		if n := w.Queries() - before; n != 1 {
			t.Errorf("%s: %d statements", target, n)
		}
		if body := readBody(t, res); res.StatusCode != http.StatusNotFound || body != "{\"error\":\"Not found\"}\n" {
			t.Errorf("%s: %d %s", target, res.StatusCode, body)
		}
		res.Header.Del("X-Request-Id")
		if first == nil {
			first = res.Header
		}
		if len(res.Header) != len(first) {
			t.Errorf("%s: %v, want %v", target, res.Header, first)
		}
		for name, values := range first {
			if got := res.Header[name]; strings.Join(got, ",") != strings.Join(values, ",") {
				t.Errorf("%s: %s is %v, want %v", target, name, got, values)
			}
		}
	}
	if got := w.list(t, next+"/v0.1/servers").names(); got != "all_connectors alpha" {
		t.Errorf("at the new address: %s", got)
	}
}

func TestServe_ReadsCostTwoStatements(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	for _, slug := range []string{"alpha", "beta", "gamma"} {
		w.connector(t, slug, "search", "fetch")
	}
	_, path := w.publish(t, connectors.Registry{EveryConnector: true})
	w.list(t, path+"/v0.1/servers") // records the use, once a minute
	for _, target := range []string{"/v0.1/servers", "/v0.1/servers?search=a", "/v0.1/servers/com.example.patchbay%2Fbeta/versions/latest"} {
		before := w.Queries()
		w.send(t, http.MethodGet, path+target)
		if n := w.Queries() - before; n != 2 {
			t.Errorf("%s: %d statements", target, n)
		}
	}
}

func TestServe_NothingOfAnotherTenant(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	theirs := w.ConnectorIn(t, w.Other, func(d *connectors.Draft) { d.Slug, d.Name = "theirs", "Theirs" })
	agent := w.AgentIn(t, w.Other)
	w.GrantIn(t, w.Other, agent.ID, theirs.ID)
	w.connector(t, "mine", "search")
	_, path := w.publish(t, connectors.Registry{EveryConnector: true})
	if got := w.list(t, path+"/v0.1/servers").names(); got != "all_connectors mine" {
		t.Errorf("listed: %s", got)
	}
	if res := w.send(t, http.MethodGet, path+"/v0.1/servers/com.example.patchbay%2Ftheirs/versions/latest"); res.StatusCode != http.StatusNotFound {
		t.Errorf("another tenant's connector: %d", res.StatusCode)
	}
	if _, _, err := w.service.Create(t.Context(), w.admin, connectors.Registry{Name: "A", Agents: []string{agent.Slug}}); err == nil {
		t.Error("a registry takes another tenant's agent")
	}
	if got := w.list(t, path+"/v0.1/servers?search=theirs").names(); got != "" {
		t.Errorf("found: %s", got)
	}
}

func TestServe_LogsHaveNoAddress(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	_, path := w.publish(t, connectors.Registry{EveryConnector: true})
	w.list(t, path+"/v0.1/servers")
	reopen := w.CloseDatabase(t)
	if res := w.send(t, http.MethodGet, path+"/v0.1/servers"); res.StatusCode < http.StatusInternalServerError || !strings.HasPrefix(readBody(t, res), `{"error":"`) {
		t.Errorf("without a database: %d", res.StatusCode)
	}
	reopen()
	if text := w.log.String(); strings.Contains(text, path[10:]) || !strings.Contains(text, `"route":"/registry/*"`) {
		t.Errorf("log: %s", text)
	}
	if rows := w.RowTexts(t); strings.Contains(rows, path[10:]) {
		t.Error("the database has the address")
	}
}
