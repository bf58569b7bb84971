package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fasthttp/httpserver"
	"patchbay/internal/fasthttp/tcp"
	"patchbay/internal/installation"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// tokenTest is the program behind a listener, with two tenants. Responses name the server: the fast path or
// net/http.
type tokenTest struct {
	*app
	world *fixture.World
	base  string
}

const servedBy = "X-Served-By"

func newDoorsteps(t *testing.T) *tokenTest {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newAppAt(t, listener.Addr())
	by := func(who string) http.Handler {
		handler := h.rootHandler()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(servedBy, who)
			handler.ServeHTTP(w, r)
		})
	}
	log := slog.New(slog.DiscardHandler)
	public := httpserver.New(httpserver.Options{
		Handler: by("httpserver"), Accepts: h.isAgentsPath, Fallback: newStandardServer(by("net/http"), log), WrapListener: serve.Connections,
		ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, StallTimeout: stallTimeout, Log: log,
	})
	ctx, end := context.WithCancel(context.Background())
	stopAgents, served := h.agents.start(ctx, h.database.Store), make(chan error, 1)
	go func() { served <- public.Serve(tcp.WrapListener(listener)) }()
	t.Cleanup(func() {
		_ = public.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		end()
		stopAgents()
	})
	d := &tokenTest{app: h, base: "http://" + listener.Addr().String()}
	st := h.database.Store
	tenant, err := st.System().TenantByRef(t.Context(), installation.FirstTenant)
	if err != nil {
		t.Fatal(err)
	}
	other, err := st.System().CreateTenant(t.Context(), "Globex", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	d.world = &fixture.World{St: st, Pool: h.database.Pool, Tenant: tenant.ID, Other: other.ID, Keyring: st.Keyring(), Instance: h.instance}
	return d
}

// listToolsBothWays lists tools at a path with these headers, by the fast path and by net/http. The responses
// must be equal, but for their ids.
func (d *tokenTest) listToolsBothWays(t *testing.T, path string, as http.Header) (status int, challenge, body string) {
	t.Helper()
	type answer struct {
		Status int
		Header http.Header
		Body   string
	}
	var answers []answer
	for _, way := range []string{"httpserver", "net/http"} {
		const message = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.base+path, strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = as.Clone()
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list",
		} {
			r.Header.Set(name, value)
		}
		if way == "net/http" {
			r.ContentLength = -1 // chunked requests are not plain
		}
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if by := res.Header.Get(servedBy); by != way && path != mcpadmin.Path {
			t.Fatalf("%s is served by %s, and not by %s", path, by, way)
		}
		for _, name := range []string{"Date", "X-Request-Id", servedBy} {
			res.Header.Del(name)
		}
		answers = append(answers, answer{res.StatusCode, res.Header, string(raw)})
	}
	if diff := cmp.Diff(answers[1], answers[0]); diff != "" {
		t.Errorf("%s is answered in two ways (-net/http +httpserver):\n%s", path, diff)
	}
	return answers[0].Status, answers[0].Header.Get("Www-Authenticate"), answers[0].Body
}

// callers are the credentials of callers, by name.
type callers map[string]http.Header

func bearing(token secret.Text) http.Header {
	return http.Header{"Authorization": {"Bearer " + token.Reveal()}}
}

// connectorOf creates a tenant's connector with one tool, granted to an agent.
func (d *tokenTest) connectorOf(t *testing.T, tenant connectors.TenantID, slug, tool string, agent connectors.AgentID) {
	t.Helper()
	c := d.world.ConnectorIn(t, tenant, func(c *connectors.Draft) { c.Slug, c.Name = slug, slug })
	d.world.SyncedIn(t, tenant, c.ID, tool)
	d.world.GrantIn(t, tenant, agent, c.ID)
}

func auto(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto }

// newCallers creates credentials that are valid for some route, or were. ann has the connectors linear and
// notes, bob has github. In the other tenant eve has another linear, and theirs.
func (d *tokenTest) newCallers(t *testing.T) callers {
	t.Helper()
	w := d.world
	ann, bob, eve := w.Agent(t, auto), w.Agent(t, auto), w.AgentIn(t, w.Other, auto)
	d.connectorOf(t, w.Tenant, "linear", "ours", ann.ID)
	d.connectorOf(t, w.Tenant, "notes", "note", ann.ID)
	d.connectorOf(t, w.Tenant, "github", "bobs", bob.ID)
	d.connectorOf(t, w.Other, "linear", "eves", eve.ID)
	d.connectorOf(t, w.Other, "theirs", "secret", eve.ID)
	member, foreign := w.Member(t, connectors.RoleAdmin).UserID, w.MemberIn(t, w.Other, connectors.RoleAdmin).UserID
	signedIn := func(resource string) secret.Text {
		return w.AccessToken(t, w.Tenant, w.ProgramIn(t, w.Tenant, ann.ID, member), resource)
	}
	theirs, _ := w.TokenIn(t, w.Other, eve.ID)
	acts := w.MemberAccessToken(t, w.Tenant, w.ProgramAsIn(t, w.Tenant, member, connectors.ScopeAdmin))
	foreignProgram := func(resource string) http.Header {
		return bearing(w.AccessToken(t, w.Other, w.ProgramIn(t, w.Other, eve.ID, foreign), resource))
	}
	past := time.Now().Add(-time.Minute)
	expired := func(n *store.NewAgentToken) { n.ExpiresAt = &past }
	all := callers{
		"nobody":                 {},
		"ann":                    bearing(w.Token(t, ann.ID)),
		"bob":                    bearing(w.Token(t, bob.ID)),
		"eve":                    bearing(theirs),
		"ann's for /mcp":         bearing(signedIn("/mcp")),
		"ann's for /mcp/linear":  bearing(signedIn("/mcp/linear")),
		"eve's for /mcp":         foreignProgram("/mcp"),
		"eve's for /mcp/theirs":  foreignProgram("/mcp/theirs"),
		"eve's for /mcp/linear":  foreignProgram("/mcp/linear"),
		"one who acts as member": bearing(acts),
		"an expired token":       bearing(w.Token(t, ann.ID, expired)),
		"a revoked token":        bearing(d.revoked(t, ann.ID)),
	}
	all["an access token past its hour"] = bearing(d.pastItsHour(t, ann.ID, member))
	all["a program whose access was ended"] = bearing(d.ended(t, ann.ID, member))
	session := d.sessionOf(t, member)
	all["a session's cookie"] = http.Header{"Cookie": {session.String()}}
	all["a session as a bearer's"] = bearing(secret.Text(session.Value))
	tenant, err := w.St.System().TenantByRef(t.Context(), installation.FirstTenant)
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := d.auth.IssueKey(t.Context(), auth.Operator(tenant), auth.KeyRequest{Name: "test", Role: connectors.RoleOwner})
	if err != nil {
		t.Fatal(err)
	}
	all["an API key"] = bearing(key)
	return all
}

func (d *tokenTest) revoked(t *testing.T, agent connectors.AgentID) secret.Text {
	t.Helper()
	text, token := d.world.TokenIn(t, d.world.Tenant, agent)
	if _, err := d.world.Door().Agents().DeleteToken(t.Context(), agent, token.ID); err != nil {
		t.Fatal(err)
	}
	return text
}

func (d *tokenTest) pastItsHour(t *testing.T, agent connectors.AgentID, member connectors.UserID) secret.Text {
	t.Helper()
	program := d.world.ProgramIn(t, d.world.Tenant, agent, member)
	text := d.world.AccessToken(t, d.world.Tenant, program, "/mcp")
	d.world.AsSystem(t, "update agent_tokens set expires_at = now() - interval '1 second' where agent_client_id = $1", []any{program.UUID})
	return text
}

func (d *tokenTest) ended(t *testing.T, agent connectors.AgentID, member connectors.UserID) secret.Text {
	t.Helper()
	program := d.world.ProgramIn(t, d.world.Tenant, agent, member)
	text := d.world.AccessToken(t, d.world.Tenant, program, "/mcp")
	if err := d.world.Door().Agents().DeleteClient(t.Context(), program); err != nil {
		t.Fatal(err)
	}
	return text
}

// sessionOf is the cookie of a signed-in person.
func (d *tokenTest) sessionOf(t *testing.T, member connectors.UserID) *http.Cookie {
	t.Helper()
	sessions := d.auth.Sessions()
	ctx, err := sessions.Load(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.auth.StartSession(ctx, member, auth.Browser{}); err != nil {
		t.Fatal(err)
	}
	token, _, err := sessions.Commit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Cookie{Name: sessions.Cookie.Name, Value: token}
}

// Each credential is tried at every route, by the fast path and by net/http.
func TestTokens_OpenOnlyTheirOwnRoutes(t *testing.T) {
	t.Parallel()
	d := newDoorsteps(t)
	who := d.newCallers(t)
	const unknown, opens = http.StatusNotFound, http.StatusOK
	for _, test := range []struct {
		name, by, path string
		want           int
		lists, not     string // tools
	}{
		{"an agent at a connector of its own", "ann", "/mcp/linear", opens, `"ours"`, "eves"},
		{"an agent at all of its connectors", "ann", "/mcp", opens, "mcp_linear__ours", "github"},
		{"another tenant's agent at a connector of the same name has its own", "eve", "/mcp/linear", opens, `"eves"`, "ours"},
		{"another tenant's agent at all of its connectors", "eve", "/mcp", opens, "mcp_theirs__secret", "ours"},
		{"a program at the address that it signed in for", "ann's for /mcp/linear", "/mcp/linear", opens, `"ours"`, "eves"},
		{"another tenant's program at the address that both have", "eve's for /mcp", "/mcp", opens, "mcp_theirs__secret", "ours"},
		{"another tenant's program at an address that both have", "eve's for /mcp/linear", "/mcp/linear", opens, `"eves"`, "ours"},

		{"one tenant's agent at the other's connector", "ann", "/mcp/theirs", unknown, "", ""},
		{"the other's agent at one's connector", "eve", "/mcp/notes", unknown, "", ""},
		{"an agent at another one's connector", "ann", "/mcp/github", unknown, "", ""},
		{"an agent at another one's, the other way round", "bob", "/mcp/linear", unknown, "", ""},

		{"a program of one tenant at the other's connector", "ann's for /mcp", "/mcp/theirs", 401, "", ""},
		{"the other tenant's, of its connector, at what both have", "eve's for /mcp/theirs", "/mcp", 401, "", ""},
		{"the other tenant's, of its connector, at one's", "eve's for /mcp/theirs", "/mcp/notes", 401, "", ""},
		{"a token for one connector at another one", "ann's for /mcp/linear", "/mcp/notes", 401, "", ""},
		{"a token for one connector at all", "ann's for /mcp/linear", "/mcp", 401, "", ""},
		{"a token for one connector where programs act as members", "ann's for /mcp/linear", "/mcp/admin", 401, "", ""},
		{"a token for all at one connector", "ann's for /mcp", "/mcp/linear", 401, "", ""},
		{"a token for all where programs act as members", "ann's for /mcp", "/mcp/admin", 401, "", ""},
		{"an agent's token where programs act as members", "ann", "/mcp/admin", 401, "", ""},
		{"a member's program at all connectors", "one who acts as member", "/mcp", 401, "", ""},
		{"a member's program at one connector", "one who acts as member", "/mcp/linear", 401, "", ""},
		{"a member's program where it belongs", "one who acts as member", "/mcp/admin", opens, "list_connectors", "mcp_linear"},

		{"an API key at all connectors", "an API key", "/mcp", 401, "", ""},
		{"an API key at one connector", "an API key", "/mcp/linear", 401, "", ""},
		{"a session's cookie at all connectors", "a session's cookie", "/mcp", 401, "", ""},
		{"a session's cookie at one connector", "a session's cookie", "/mcp/linear", 401, "", ""},
		{"a session's cookie where programs act as members", "a session's cookie", "/mcp/admin", 401, "", ""},
		{"a session in place of a token", "a session as a bearer's", "/mcp", 401, "", ""},
		{"a session in place of a member's token", "a session as a bearer's", "/mcp/admin", 401, "", ""},
		{"nobody", "nobody", "/mcp", 401, "", ""},
		{"nobody at one connector", "nobody", "/mcp/linear", 401, "", ""},
		{"nobody where programs act as members", "nobody", "/mcp/admin", 401, "", ""},
		{"a token that has expired", "an expired token", "/mcp", 401, "", ""},
		{"a token that was revoked", "a revoked token", "/mcp", 401, "", ""},
		{"an access token past its hour", "an access token past its hour", "/mcp", 401, "", ""},
		{"a program whose access was ended", "a program whose access was ended", "/mcp", 401, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			as, ok := who[test.by]
			if !ok {
				t.Fatalf("there is no %q", test.by)
			}
			status, challenge, body := d.listToolsBothWays(t, test.path, as)
			want := ""
			if test.want == http.StatusUnauthorized {
				want = `Bearer resource_metadata="` + d.base + `/.well-known/oauth-protected-resource` + test.path + `"`
				if as.Get("Authorization") != "" {
					want += `, error="invalid_token"`
				}
			}
			if status != test.want || challenge != want {
				t.Errorf("%d %q, want %d %q: %s", status, challenge, test.want, want, body)
			}
			if !strings.Contains(body, test.lists) || test.not != "" && strings.Contains(body, test.not) {
				t.Errorf("it lists %.2000s", body)
			}
			sentName := "connector=" + strings.TrimPrefix(test.path, "/mcp/") // in the address of the page to ask
			for _, tool := range []string{"ours", "note", "bobs", "eves", "secret"} {
				if test.want != opens && strings.Contains(strings.ReplaceAll(body, sentName, ""), tool) {
					t.Errorf("whoever is not let in reads %s", body)
				}
			}
		})
	}
}

// A connector of another tenant, or of another agent, gets the same response as an unknown one, byte for byte but for the name that
// was sent.
func TestForeignConnector_AnsweredAsUnknown(t *testing.T) {
	t.Parallel()
	d := newDoorsteps(t)
	ann := d.newCallers(t)["ann"]
	_, _, nothing := d.listToolsBothWays(t, "/mcp/nothing", ann)
	for _, path := range []string{"/mcp/theirs", "/mcp/github"} {
		if status, challenge, body := d.listToolsBothWays(t, path, ann); status != http.StatusNotFound || challenge != "" ||
			strings.ReplaceAll(body, strings.TrimPrefix(path, "/mcp/"), "nothing") != nothing {
			t.Errorf("%s: %d %q %s, and of what there is not: %s", path, status, challenge, body, nothing)
		}
	}
}

// A cached token is refused at once when it is revoked, in both modes.
func TestRevokedToken_RefusedInBothModes(t *testing.T) {
	t.Parallel()
	d := newDoorsteps(t)
	d.newCallers(t)
	agent := d.world.Agent(t, auto)
	text, token := d.world.TokenIn(t, d.world.Tenant, agent.ID)
	if status, _, body := d.listToolsBothWays(t, "/mcp", bearing(text)); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if _, err := d.world.Door().Agents().DeleteToken(t.Context(), agent.ID, token.ID); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(starveTimeout)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		view, _, err := d.agents.views.ByToken(t.Context(), text)
		if err != nil {
			break
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the token is still that of %s", view.Agent.Slug)
		}
	}
	if status, challenge, _ := d.listToolsBothWays(t, "/mcp", bearing(text)); status != http.StatusUnauthorized || !strings.HasSuffix(challenge, `, error="invalid_token"`) {
		t.Errorf("%d %q", status, challenge)
	}
}
