package connect_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

const baseURL = "https://patchbay.example"

// bundle is a world with a protected MCP server, an admin and a broker in it.
type bundle struct {
	*fixture.World
	as     *oauthtest.Server
	mcp    *oauthtest.Resource
	egress *safehttp.Policy
	logs   *journal
	admin  auth.Actor
	broker *connect.Broker
}

func newBundle(t testing.TB, as oauthtest.Behaviour, resource oauthtest.ResourceBehaviour) *bundle {
	t.Helper()
	b := &bundle{World: fixture.New(t), as: oauthtest.Start(t, as), logs: &journal{}}
	if resource.Next == nil {
		resource.Next = mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(3)})
	}
	b.mcp = b.as.Protect(t, resource)
	b.egress = safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(b.egress.Client().CloseIdleConnections)
	b.broker = b.process(b.St, b.egress)
	b.admin = b.person(t, b.Tenant, connectors.RoleAdmin)
	return b
}

// process is the broker of one process.
func (b *bundle) process(st *store.Store, egress *safehttp.Policy) *connect.Broker {
	return connect.New(connect.Options{
		Store: st, OAuth: &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL},
		Dialer: &mcp.Dialer{HTTP: egress.Client(), Version: "test"}, Log: b.logs.logger(), BaseURL: baseURL,
	})
}

// replica is the broker of another process on the same database.
func (b *bundle) replica(t testing.TB) *connect.Broker {
	t.Helper()
	pool, err := db.OpenPool(t.Context(), b.URL, db.PoolOptions{MaxConns: 4})
	must(t, err)
	t.Cleanup(pool.Close)
	st, err := store.Open(t.Context(), pool, b.KEK)
	must(t, err)
	t.Cleanup(st.Close)
	return b.process(st, b.egress)
}

// person is a signed-in member.
func (b *bundle) person(t testing.TB, tenant connectors.TenantID, role connectors.Role) auth.Actor {
	t.Helper()
	m := b.MemberIn(t, tenant, role)
	self, err := b.St.Tenant(tenant).Self(t.Context())
	must(t, err)
	confirmed := time.Now()
	return auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: role, UserID: &m.UserID, Name: m.Name, Email: m.Email, ReauthenticatedAt: &confirmed}
}

func oauth2(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 }

func perAgent(d *connectors.Draft) { d.CredentialMode = connectors.CredentialPerAgent }

// protected makes a connector of the bundle's MCP server.
func (b *bundle) protected(t testing.TB, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	return b.Connector(t, slices.Concat([]func(*connectors.Draft){oauth2, func(d *connectors.Draft) { d.URL = b.mcp.URL }}, opts)...)
}

// now reads the connector anew.
func (b *bundle) now(t testing.TB, c connectors.Connector) connectors.Connector {
	t.Helper()
	c, err := b.Door().Connectors().Get(t.Context(), ref(c.ID))
	must(t, err)
	return c
}

// change changes a connector.
func (b *bundle) change(t testing.TB, c connectors.Connector, change func(*connectors.Draft)) {
	t.Helper()
	d := connectors.DraftOf(c)
	change(&d)
	_, err := b.Door().Connectors().Update(t.Context(), c.ID, 0, d)
	must(t, err)
}

func ref(id connectors.ConnectorID) connectors.Ref { return connectors.Ref(id.String()) }

func agentRef(a connectors.Agent) *connectors.Ref {
	r := connectors.Ref(a.Slug)
	return &r
}

const session = secret.Text("session:of the admin")

// order is what the admin's button asks for.
func order(c connectors.Connector, agent *connectors.Ref) connect.StartRequest {
	return connect.StartRequest{Connector: ref(c.ID), Agent: agent, ReturnTo: "/connectors/" + c.Slug, Browser: session}
}

// browser is the admin's.
func (b *bundle) browser() connect.BrowserBindings {
	return connect.BrowserBindings{Session: session, Person: &b.admin}
}

// start begins a connection in the admin's browser.
func (b *bundle) start(t testing.TB, c connectors.Connector, agent *connectors.Ref) connect.Authorization {
	t.Helper()
	s, err := b.broker.Start(t.Context(), b.admin, order(c, agent))
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	return s
}

// agree opens an authorization URL as a browser does, and returns what it brings back.
func (b *bundle) agree(t testing.TB, s connect.Authorization) url.Values {
	t.Helper()
	resp, err := b.egress.Client().Get(s.AuthorizeURL)
	must(t, err)
	must(t, resp.Body.Close())
	back, err := resp.Location()
	if err != nil {
		t.Fatalf("the authorization server answered %d", resp.StatusCode)
	}
	if got := back.Scheme + "://" + back.Host + back.Path; got != b.broker.RedirectURI() {
		t.Fatalf("sent back to %s", got)
	}
	return back.Query()
}

// connect goes all the way.
func (b *bundle) connect(t testing.TB, c connectors.Connector, agent *connectors.Ref) connect.Connection {
	t.Helper()
	done, err := b.broker.Finish(t.Context(), b.agree(t, b.start(t, c, agent)), b.browser())
	if err != nil {
		t.Fatalf("finish: %v", err)
	}
	return done
}

func (b *bundle) grant(t testing.TB, c connectors.Connector, agent *connectors.AgentID) store.Grant {
	t.Helper()
	g, err := b.St.Vault(b.Tenant).Grant(t.Context(), c.ID, agent)
	if err != nil {
		t.Fatalf("no grant: %v", err)
	}
	return g
}

// wantNothing checks that a finish came to nothing: no token request, no credential.
func (b *bundle) wantNothing(t testing.TB, c connectors.Connector) {
	t.Helper()
	if n := b.as.Count(oauthtest.Exchange); n != 0 {
		t.Errorf("%d token requests were sent", n)
	}
	list, err := b.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("stored: %+v, %v", list.Items, err)
	}
}

func wantFault(t testing.TB, err error, kind fault.Kind, code string) {
	t.Helper()
	_ = faultOf(t, err, kind, code)
}

// faultOf is what an error tells, which is of a kind and has a code.
func faultOf(t testing.TB, err error, kind fault.Kind, code string) *fault.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s %q", kind, code)
	}
	f := fault.As(err)
	if f.Kind != kind || f.Code != code {
		t.Fatalf("error is %s %q (%v), want %s %q", f.Kind, f.Code, err, kind, code)
	}
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// journal keeps everything that is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// owner is a connection that sees every row.
func (b *bundle) owner(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), b.URL)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// event is the newest event of an action: its actor and detail.
func (b *bundle) event(t testing.TB, action string) (actor string, detail map[string]any) {
	t.Helper()
	b.AsSystem(t, `
		select actor_type || ' ' || actor_name, detail - '{before,after}'::text[]
		from audit_events where action = $1 order by id desc limit 1`, []any{action}, &actor, &detail)
	return actor, detail
}

// count is how many rows a table has.
func (b *bundle) count(t testing.TB, table string) (n int) {
	t.Helper()
	b.AsSystem(t, "select count(*) from "+pgx.Identifier{table}.Sanitize(), nil, &n)
	return n
}
