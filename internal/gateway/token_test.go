package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/testclient"
)

// answer is an HTTP response.
type answer struct {
	status int
	header http.Header
	body   string
}

// post sends one message as a modern client, with more headers as pairs of name and value.
func post(t testing.TB, address, message string, header ...string) answer {
	t.Helper()
	var said struct {
		Method string
		Params struct{ Name, URI string }
	}
	if err := json.Unmarshal([]byte(message), &said); err != nil {
		t.Fatal(err)
	}
	all := []string{
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream",
		"Mcp-Protocol-Version", string(modern), "Mcp-Method", said.Method,
	}
	if name := said.Params.Name + said.Params.URI; name != "" {
		all = append(all, "Mcp-Name", name)
	}
	return request(t, http.MethodPost, address, message, append(all, header...)...)
}

func request(t testing.TB, method, address, body string, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := testclient.New(t)
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(raw)}
}

func bearerHeader(token secret.Text) string { return "Bearer " + token.Reveal() }

// modernMeta is the _meta of each modern request.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// tasksMeta is that of a client with the extension of tasks.
var tasksMeta = strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 1)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`

func TestUnauthenticated_GetsResourceMetadataURL(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, off := b.newAutoAgent(t), b.newAutoAgent(t, func(a *connectors.Agent) { a.Enabled = false })
	past := time.Now().Add(-time.Minute)
	key := "pb_key_" + strings.TrimPrefix(b.Token(t, agent.ID).Reveal(), "pb_agent_")
	for name, authorization := range map[string]string{
		"none":              "",
		"another scheme":    "Basic " + b.Token(t, agent.ID).Reveal(),
		"none of ours":      "Bearer abc",
		"cut":               bearerHeader(b.Token(t, agent.ID)[:40]),
		"an API key":        "Bearer " + key,
		"one that expired":  bearerHeader(b.Token(t, agent.ID, func(n *store.NewAgentToken) { n.ExpiresAt = &past })),
		"of a disabled one": bearerHeader(b.Token(t, off.ID)),
	} {
		for path, metadata := range map[string]string{"/mcp": "/mcp", "/mcp/anything": "/mcp/anything", "/mcp/": "/mcp"} {
			got := post(t, b.url+path, listTools, "Authorization", authorization)
			want := `Bearer resource_metadata="` + b.url + `/.well-known/oauth-protected-resource` + metadata + `"`
			if authorization != "" {
				want += `, error="invalid_token"`
			}
			if got.status != http.StatusUnauthorized || got.header.Get("Www-Authenticate") != want {
				t.Errorf("%s at %s: %d %s\nwant %s", name, path, got.status, got.header.Get("Www-Authenticate"), want)
			}
			if strings.Contains(got.body, "pb_agent_0") || !strings.Contains(got.body, `"detail"`) {
				t.Errorf("%s: %s", name, got.body)
			}
		}
	}
}

func TestResourceMetadata_IsPublic(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	for path, resource := range map[string]string{"": "/mcp", "/mcp": "/mcp", "/mcp/": "/mcp", "/mcp/linear": "/mcp/linear"} {
		got := request(t, http.MethodGet, b.url+"/.well-known/oauth-protected-resource"+path, "")
		var doc struct {
			Resource string   `json:"resource"`
			Methods  []string `json:"bearer_methods_supported"`
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal([]byte(got.body), &doc); err != nil || got.status != http.StatusOK {
			t.Fatalf("%d %s: %v", got.status, got.body, err)
		}
		if len(doc.Servers) != 1 || doc.Servers[0] != b.url {
			t.Errorf("%s: tokens come from %q", path, doc.Servers)
		}
		if doc.Resource != b.url+resource || len(doc.Methods) != 1 || doc.Methods[0] != "header" {
			t.Errorf("%s: %+v", path, doc)
		}
	}
	admin := request(t, http.MethodGet, b.url+"/.well-known/oauth-protected-resource/mcp/admin", "")
	var doc struct {
		Resource string   `json:"resource"`
		Scopes   []string `json:"scopes_supported"`
	}
	if err := json.Unmarshal([]byte(admin.body), &doc); err != nil || doc.Resource != b.url+"/mcp/admin" || strings.Join(doc.Scopes, " ") != "admin:read admin" {
		t.Errorf("where programs act as members: %s, %v", admin.body, err)
	}
	if got := request(t, http.MethodPost, b.url+"/.well-known/oauth-protected-resource/mcp", "{}"); got.status != http.StatusMethodNotAllowed {
		t.Errorf("a POST was answered %d", got.status)
	}
	if got := request(t, http.MethodGet, b.url+"/.well-known/oauth-protected-resource/mcp/A%2Fb", ""); got.status != http.StatusNotFound {
		t.Errorf("what is no address was answered %d", got.status)
	}
}

func TestUngrantedConnector_LooksUnknown(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a")
	b.newConnector(t, "secret", up.url)
	b.Grant(t, agent.ID, b.newConnector(t, "off", up.url, func(d *connectors.Draft) { d.Enabled = true }).ID)
	draft := func(d *connectors.Draft) { d.Slug, d.Enabled = "disabled", false }
	b.Grant(t, agent.ID, b.Connector(t, draft).ID)
	token := bearerHeader(b.Token(t, agent.ID))
	unknown := post(t, b.url+"/mcp/nothing", listTools, "Authorization", token)
	if unknown.status != http.StatusNotFound {
		t.Errorf("an unknown one: %d", unknown.status)
	}
	if page := b.url + "/access/request?agent=" + agent.ID.String() + `\u0026connector=nothing"`; !strings.Contains(unknown.body, page) {
		t.Errorf("%s doesn't name %s", unknown.body, page)
	}
	for _, slug := range []string{"secret", "disabled"} {
		got := post(t, b.url+"/mcp/"+slug, listTools, "Authorization", token)
		if got.status != unknown.status || strings.ReplaceAll(got.body, slug, "nothing") != unknown.body {
			t.Errorf("%s: %d %s", slug, got.status, got.body)
		}
	}
	for _, slug := range []string{"UPPER", "a/b"} { // no connector has such a slug
		if got := post(t, b.url+"/mcp/"+slug, listTools, "Authorization", token); got.status != unknown.status || strings.Contains(got.body, "/access/") {
			t.Errorf("%s: %d %s", slug, got.status, got.body)
		}
	}
	if got := post(t, b.url+"/mcp/off", listTools, "Authorization", token); got.status != http.StatusOK {
		t.Errorf("a granted one: %d %s", got.status, got.body)
	}
}

func TestCrossOrigin_IsRefused(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	token := bearerHeader(b.Token(t, b.newAutoAgent(t).ID))
	_, port, _ := strings.Cut(strings.TrimPrefix(b.url, "http://"), ":")
	for origin, want := range map[string]int{
		b.url:                            http.StatusOK,
		"https://evil.example":           http.StatusForbidden,
		"null":                           http.StatusForbidden,
		"http://127.0.0.1.evil.example":  http.StatusForbidden,
		"http://127.0.0.1:1":             http.StatusForbidden,
		"http://localhost:" + port:       http.StatusForbidden, // differs from the Host
		"http://evil.example:" + port:    http.StatusForbidden,
		"http://a@127.0.0.1:1/" + "%zz%": http.StatusForbidden,
	} {
		if got := post(t, b.url+"/mcp", listTools, "Authorization", token, "Origin", origin); got.status != want {
			t.Errorf("%s: %d, want %d", origin, got.status, want)
		}
	}
	got := post(t, b.url+"/mcp", listTools, "Authorization", token)
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Content-Type": "application/json"} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %s", name, got.header.Get(name))
		}
	}
}

// eventually waits until is returns true, with time for a busy machine.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func TestToken_IsBoundToItsResource(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a")
	b.Grant(t, agent.ID, b.newConnector(t, "linear", up.url).ID)
	b.Grant(t, agent.ID, b.newConnector(t, "github", up.url).ID)
	member := b.Member(t, connectors.RoleMember).UserID
	for _, resource := range []string{"/mcp", "/mcp/linear"} {
		token := bearerHeader(b.AccessToken(t, b.Tenant, b.ProgramIn(t, b.Tenant, agent.ID, member), resource))
		for path, opens := range map[string]string{"/mcp": "/mcp", "/mcp/": "/mcp", "/mcp/linear": "/mcp/linear", "/mcp/github": "/mcp/github", "/mcp/nothing": "/mcp/nothing"} {
			got, want := post(t, b.url+path, listTools, "Authorization", token), http.StatusUnauthorized
			if opens == resource {
				want = http.StatusOK
			}
			if got.status != want || want == http.StatusUnauthorized && !strings.Contains(got.header.Get("Www-Authenticate"), "/.well-known/oauth-protected-resource"+opens+`"`) {
				t.Errorf("a token for %s at %s: %d %v", resource, path, got.status, got.header.Get("Www-Authenticate"))
			}
		}
	}
}

func TestEndedClientAccess_IsRefused(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	program := b.ProgramIn(t, b.Tenant, agent.ID, b.Member(t, connectors.RoleMember).UserID)
	token := bearerHeader(b.AccessToken(t, b.Tenant, program, "/mcp"))
	if got := post(t, b.url+"/mcp", listTools, "Authorization", token); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if err := b.Door().Agents().DeleteClient(t.Context(), program); err != nil { // as another process would
		t.Fatal(err)
	}
	eventually(t, "the token is refused", func() bool {
		return post(t, b.url+"/mcp", listTools, "Authorization", token).status == http.StatusUnauthorized
	})
}
