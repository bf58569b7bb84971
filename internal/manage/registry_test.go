package manage_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

type testEnv struct {
	*fixture.World
	reg   *manage.Registry
	admin auth.Actor
}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	w := fixture.New(t)
	b := &testEnv{World: w, reg: manage.New(w.St, safehttp.New(safehttp.Options{Mode: safehttp.Public}))}
	b.admin = b.actor(connectors.RoleAdmin)
	b.admin.UserID = new(w.Member(t, connectors.RoleAdmin).UserID)
	return b
}

func (b *testEnv) actor(role connectors.Role) auth.Actor {
	id := connectors.UserID{UUID: uuid.Must(uuid.NewV7())}
	return auth.Actor{
		Kind: auth.KindPerson, Tenant: connectors.Tenant{ID: b.Tenant}, Role: role, UserID: &id, Name: "Ann",
		RequestID: "req-1", Address: "192.0.2.7",
	}
}

func draft(opts ...func(*connectors.Draft)) connectors.Draft {
	return fixture.Draft(append([]func(*connectors.Draft){func(d *connectors.Draft) { d.URL = "https://one.example.com/mcp" }}, opts...)...)
}

func bearer(d *connectors.Draft)   { d.Auth.Type = connectors.AuthBearer }
func perAgent(d *connectors.Draft) { bearer(d); d.CredentialMode = connectors.CredentialPerAgent }

// create creates a connector through the registry.
func (b *testEnv) create(t *testing.T, s connectors.Secret, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	c, err := b.reg.CreateConnector(t.Context(), b.admin, draft(opts...), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sent returns the Authorization header for the connector, or "".
func (b *testEnv) sent(t *testing.T, c connectors.Connector, agent *connectors.AgentID) string {
	t.Helper()
	now, err := b.Door().Connectors().Get(t.Context(), connectors.Ref(c.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	u, err := credentials.New(b.St).Resolve(t.Context(), b.Tenant, now, credentials.Account{Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	if u == nil {
		return ""
	}
	h := http.Header{}
	credentials.Apply(h, u.Headers)
	return h.Get("Authorization")
}

// audited returns the actions of the audit log, oldest first. It checks the actor and that no secret is
// recorded.
func (b *testEnv) audited(t *testing.T) []string {
	t.Helper()
	var actions []string
	err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		rows, err := tx.Query(t.Context(), `select action, actor_name || ' ' || request_id || ' ' || ip, detail::text
			from audit_events where tenant_id = $1 order by id`, b.Tenant)
		if err != nil {
			return err
		}
		var action, who, detail string
		_, err = pgx.ForEachRow(rows, []any{&action, &who, &detail}, func() error {
			actions = append(actions, action)
			if who != "Ann req-1 192.0.2.7" {
				t.Errorf("%s by %s", action, who)
			}
			if strings.Contains(detail, "s3cret") {
				t.Errorf("%s tells a secret: %s", action, detail)
			}
			return nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

func wantFields(t *testing.T, err error, want ...string) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("error = %v, want Invalid", err)
	}
	var at []string
	for _, f := range fault.As(err).Fields {
		at = append(at, f.Location)
	}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Error(diff)
	}
}

func TestCreateConnector_StoresSecret(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{Token: " s3cret\n"}, bearer)
	if c.Status != connectors.StatusNeverSynced || c.Version != 1 {
		t.Errorf("connector = %+v", c)
	}
	if got := b.sent(t, c, nil); got != "Bearer s3cret" {
		t.Errorf("sent %q", got)
	}
	if diff := cmp.Diff([]string{"connector.create"}, b.audited(t)); diff != "" {
		t.Error(diff)
	}
}

func TestCreateConnector_ReportsAllFields(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	_, err := b.reg.CreateConnector(t.Context(), b.admin, draft(bearer, func(d *connectors.Draft) {
		d.Name, d.URL, d.Headers = "", "http://localhost/mcp", map[string]string{"Cookie": "a"}
	}), connectors.Secret{})
	wantFields(t, err, "name", "headers.Cookie", "auth.token", "url")
	if got := b.audited(t); got != nil {
		t.Errorf("audited %v", got)
	}
}

func TestCreateAgent_NumbersGeneratedSlug(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	name := func(name, slug string) func(*connectors.Draft) {
		return func(d *connectors.Draft) { d.Name, d.Slug = name, slug }
	}
	b.create(t, connectors.Secret{}, name("My server", ""))
	if second := b.create(t, connectors.Secret{}, name("My  server!", "")); second.Slug != "my-server-2" {
		t.Errorf("slug = %q", second.Slug)
	}
	for at, again := range map[string]func(*connectors.Draft){"name": name("My server", ""), "slug": name("Other", "my-server")} {
		_, err := b.reg.CreateConnector(t.Context(), b.admin, draft(again), connectors.Secret{})
		if !fault.Is(err, fault.Conflict) || fault.As(err).Fields[0].Location != at {
			t.Errorf("%s taken: %v", at, err)
		}
	}
}

func TestConnectors_RequireManagePermission(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c, agent := b.create(t, connectors.Secret{Token: "s3cret"}, bearer), b.Agent(t)
	ref, agentRef, ctx := connectors.Ref(c.Slug), connectors.Ref(agent.Slug), t.Context()
	before := b.audited(t)
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleMember, ""} {
		a := b.actor(role)
		_, create := b.reg.CreateConnector(ctx, a, draft(), connectors.Secret{})
		_, _, update := b.reg.UpdateConnector(ctx, a, ref, manage.Change{})
		_, createAgent := b.reg.CreateAgent(ctx, a, connectors.Agent{Name: "x"})
		_, updateAgent := b.reg.UpdateAgent(ctx, a, agent)
		for name, err := range map[string]error{
			"CreateConnector": create, "UpdateConnector": update, "CreateAgent": createAgent, "UpdateAgent": updateAgent,
			"DeleteConnector":  b.reg.DeleteConnector(ctx, a, ref),
			"SetCredential":    b.reg.SetCredential(ctx, a, ref, nil, connectors.Secret{Token: "x"}),
			"DeleteCredential": b.reg.DeleteCredential(ctx, a, ref, nil),
			"DeleteAgent":      b.reg.DeleteAgent(ctx, a, agentRef),
		} {
			if !fault.Is(err, fault.Denied) {
				t.Errorf("%s as %q: %v", name, role, err)
			}
		}
	}
	if diff := cmp.Diff(before, b.audited(t)); diff != "" {
		t.Error(diff)
	}
	if got := b.sent(t, c, nil); got != "Bearer s3cret" {
		t.Errorf("sent %q", got)
	}
}

func TestTenants_AreIsolated(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c, agent, ctx := b.ConnectorIn(t, b.Other), b.AgentIn(t, b.Other), t.Context()
	ref, agentRef := connectors.Ref(c.ID.String()), connectors.Ref(agent.ID.String())
	_, _, update := b.reg.UpdateConnector(ctx, b.admin, ref, manage.Change{})
	_, updateAgent := b.reg.UpdateAgent(ctx, b.admin, agent)
	own := b.create(t, connectors.Secret{}, perAgent)
	for name, err := range map[string]error{
		"UpdateConnector": update, "UpdateAgent": updateAgent,
		"DeleteConnector": b.reg.DeleteConnector(ctx, b.admin, ref),
		"SetCredential":   b.reg.SetCredential(ctx, b.admin, ref, nil, connectors.Secret{Token: "x"}),
		"SetCredential of their agent": b.reg.SetCredential(ctx, b.admin, connectors.Ref(own.Slug), &agentRef,
			connectors.Secret{Token: "x"}),
		"DeleteCredential": b.reg.DeleteCredential(ctx, b.admin, ref, nil),
		"DeleteAgent":      b.reg.DeleteAgent(ctx, b.admin, agentRef),
	} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDeleteConnector(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{Token: "s3cret"}, bearer)
	if err := b.reg.DeleteConnector(t.Context(), b.admin, connectors.Ref(c.Slug)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug)); !fault.Is(err, fault.NotFound) {
		t.Errorf("afterwards: %v", err)
	}
	if diff := cmp.Diff([]string{"connector.create", "connector.delete"}, b.audited(t)); diff != "" {
		t.Error(diff)
	}
}

// The entries of an account that the request did not name, because it is the only one.
func TestSetCredential_EntriesNameTheAccount(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{Token: "s3cret"}, bearer)
	ref := connectors.Ref(c.Slug)
	of := manage.AccountRef{Connector: ref}
	for _, change := range []struct {
		action string
		make   func() error
	}{
		{"credential.set", func() error { return b.reg.ChangeAccount(t.Context(), b.admin, of, manage.AccountChange{Name: "home"}) }},
		{"credential.set", func() error { return b.reg.ChangeAccount(t.Context(), b.admin, of, manage.AccountChange{Syncs: true}) }},
		{"credential.set", func() error { return b.reg.SetAccount(t.Context(), b.admin, of, connectors.Secret{Token: "s3cret-2"}) }},
		{"credential.delete", func() error { return b.reg.DeleteAccount(t.Context(), b.admin, of) }},
	} {
		if err := change.make(); err != nil {
			t.Fatal(err)
		}
		list, err := b.Door().Audit().List(t.Context(), store.AuditFilter{Action: change.action})
		if err != nil {
			t.Fatal(err)
		}
		if detail := string(list.Items[0].Detail); !strings.Contains(detail, `"account": "home"`) {
			t.Errorf("%s names no account: %s", change.action, detail)
		}
	}
}

func TestSetCredential_FollowsCredentialMode(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ctx, agent := t.Context(), b.Agent(t)
	agentRef := connectors.Ref(agent.Slug)
	shared, own := b.create(t, connectors.Secret{Token: "s3cret"}, bearer), b.create(t, connectors.Secret{}, perAgent)
	none := b.create(t, connectors.Secret{})
	token := connectors.Secret{Token: "s3cret-2"}
	set := func(c connectors.Connector, agent *connectors.Ref, s connectors.Secret) error {
		return b.reg.SetCredential(ctx, b.admin, connectors.Ref(c.Slug), agent, s)
	}
	for name, err := range map[string]error{
		"none": set(none, nil, token), "an agent of a shared one": set(shared, &agentRef, token), "no agent of a per-agent one": set(own, nil, token),
	} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantFields(t, set(shared, nil, connectors.Secret{}), "token")
	wantFields(t, set(shared, nil, connectors.Secret{Token: "x", Key: "y"}), "key")

	if err := set(shared, nil, token); err != nil {
		t.Fatal(err)
	}
	if err := set(own, &agentRef, token); err != nil {
		t.Fatal(err)
	}
	for c, who := range map[*connectors.Connector]*connectors.AgentID{&shared: nil, &own: &agent.ID} {
		if got := b.sent(t, *c, who); got != "Bearer s3cret-2" {
			t.Errorf("sent %q", got)
		}
	}
	if err := b.reg.DeleteCredential(ctx, b.admin, connectors.Ref(own.Slug), &agentRef); err != nil {
		t.Fatal(err)
	}
	if got := b.sent(t, own, &agent.ID); got != "" {
		t.Errorf("after the deletion: %q", got)
	}
	want := []string{"connector.create", "connector.create", "connector.create", "credential.set", "credential.set", "credential.delete"}
	if diff := cmp.Diff(want, b.audited(t)); diff != "" {
		t.Error(diff)
	}
}

func TestAgent_CreateUpdateDelete(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ctx := t.Context()
	_, err := b.reg.CreateAgent(ctx, b.admin, connectors.Agent{Name: "", Approval: "never"})
	wantFields(t, err, "name", "approval")
	a, err := b.reg.CreateAgent(ctx, b.admin, connectors.Agent{Name: "Research Bot", Enabled: true})
	if err != nil || a.Slug != "research-bot" || a.Approval != connectors.ApprovalAlwaysAsk {
		t.Fatalf("agent = %+v, %v", a, err)
	}
	twin, err := b.reg.CreateAgent(ctx, b.admin, connectors.Agent{Name: "Research  bot"})
	if err != nil || twin.Slug != "research-bot-2" {
		t.Errorf("twin = %+v, %v", twin, err)
	}
	a.Name, a.Slug, a.Enabled = "Renamed", "", false
	if a, err = b.reg.UpdateAgent(ctx, b.admin, a); err != nil || a.Slug != "research-bot" || a.Name != "Renamed" || a.Enabled {
		t.Errorf("agent = %+v, %v", a, err)
	}
	if err := b.reg.DeleteAgent(ctx, b.admin, connectors.Ref(a.Slug)); err != nil {
		t.Error(err)
	}
	list, err := b.Door().Agents().List(ctx, store.Page{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("agents = %+v, %v", list.Items, err)
	}
	if diff := cmp.Diff([]string{"agent.create", "agent.create", "agent.update", "agent.delete"}, b.audited(t)); diff != "" {
		t.Error(diff)
	}
}
