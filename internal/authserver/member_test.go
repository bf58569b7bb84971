package authserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const adminResource = baseURL + "/mcp/admin"

// actsAs is the code of a program that a person lets act as them.
func (w *town) actsAs(who auth.Actor, client string, scope connectors.ClientScope) string {
	w.t.Helper()
	asked, err := w.programs.Request(w.t.Context(), asks(client, "resource", adminResource))
	if err != nil {
		w.t.Fatal(err)
	}
	to, err := w.programs.Allow(w.t.Context(), who, asked, authserver.Choice{Scope: scope})
	if err != nil {
		w.t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		w.t.Fatal(err)
	}
	return u.Query().Get("code")
}

// acting are the tokens of a program that acts as Ada.
func (w *town) acting(client string, scope connectors.ClientScope) reply {
	w.t.Helper()
	r := w.token(exchanges(client, w.actsAs(w.ada, client, scope), "resource", adminResource))
	if r.Status != http.StatusOK {
		w.t.Fatalf("exchange: %+v", r)
	}
	return r
}

// who is the actor of a token where clients of members are admitted.
func (w *town) who(token string) (auth.Actor, error) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, adminResource, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	ctx, _, err := w.auth.IdentifyBearer(r)
	if err != nil {
		return auth.Actor{}, err
	}
	a, _ := auth.ActorFrom(ctx)
	return a, nil
}

func TestAProgramActsAsThePersonWhoLetItIn(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, key := w.registers(callback), w.key(w.Tenant, connectors.RoleAdmin)
	first := w.acting(client, connectors.ScopeAdmin)
	if first.text("scope") != "admin" || !strings.HasPrefix(first.text("access_token"), "pb_member_") {
		t.Fatalf("%+v", first)
	}
	if a, err := w.who(first.text("access_token")); err != nil || *a.UserID != *w.ada.UserID || a.Role != connectors.RoleAdmin || a.Program.Name != "Inspector" {
		t.Errorf("it acts as %+v, %v", a, err)
	}
	is := w.post("/oauth/introspect", url.Values{"token": {first.text("access_token")}}, "Authorization", "Bearer "+key)
	if is.JSON["active"] != true || is.text("aud") != adminResource || is.text("sub") != w.ada.UserID.String() || is.text("scope") != "admin" || is.text("client_id") != client {
		t.Errorf("an operator is told %+v", is)
	}
	if w.opens(w.key(w.Other, connectors.RoleOwner), first.text("access_token")) {
		t.Error("another tenant is told of a token")
	}
	second := w.refresh(client, first.text("refresh_token"))
	if _, err := w.who(second.text("access_token")); err != nil || second.text("scope") != "admin" {
		t.Errorf("renewed: %+v, %v", second, err)
	}
	if r := w.post("/oauth/revoke", url.Values{"token": {second.text("access_token")}, "client_id": {"another"}}); r.text("error") != "invalid_client" {
		t.Errorf("revoked by another client: %+v", r)
	}
	if r := w.post("/oauth/revoke", url.Values{"token": {second.text("access_token")}, "client_id": {client}}); r.Status != http.StatusOK {
		t.Errorf("revoke: %+v", r)
	}
	if _, err := w.who(second.text("access_token")); !fault.Is(err, fault.Unauthenticated) || w.opens(key, second.text("access_token")) {
		t.Errorf("a revoked access token: %v", err)
	}
	if r := w.post("/oauth/revoke", url.Values{"token": {second.text("refresh_token")}, "client_id": {client}}); r.Status != http.StatusOK {
		t.Errorf("revoke: %+v", r)
	}
	if _, err := w.who(first.text("access_token")); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("after it signed out: %v", err)
	}
	list, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Action: "member_client"})
	if err != nil || len(list.Items) != 2 || list.Items[0].Action != "member_client.end" || list.Items[1].ActorName != w.ada.Name || list.Items[1].Target != w.ada.Email {
		t.Errorf("on record: %+v, %v", list.Items, err)
	}
}

// A token, a code and a refresh token of the one resource are none of the other's, whatever the program says.
func TestATokenOfTheOtherResourceOpensNothing(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	agents, members := w.signedIn(client), w.acting(client, connectors.ScopeAdmin)
	if a, err := w.who(agents.text("access_token")); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("an agent's token acts as %+v, %v", a, err)
	}
	if _, err := w.St.System().Sessions().AgentToken(t.Context(), agentTokenID(t, members.text("access_token"))); !fault.Is(err, fault.NotFound) {
		t.Errorf("the gateway finds the token of a member's program: %v", err)
	}
	for name, form := range map[string]url.Values{
		"an agent's refresh token":        with(refreshes(client, agents.text("refresh_token")), "resource", adminResource),
		"a member's program's":            with(refreshes(client, members.text("refresh_token")), "resource", baseURL+"/mcp"),
		"a member's program's, elsewhere": with(refreshes(client, members.text("refresh_token")), "resource", baseURL+"/mcp/linear"),
	} {
		if r := w.token(form); r.text("error") != "invalid_target" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for name, form := range map[string]url.Values{
		"an agent's code":           exchanges(client, w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code"), "resource", adminResource),
		"a member's program's code": exchanges(client, w.actsAs(w.ada, client, connectors.ScopeAdmin)),
	} {
		if r := w.token(form); r.text("error") != "invalid_grant" || r.text("access_token") != "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// What a person chose for one resource allows nothing at the other, and a program gets no more than it asked for.
func TestAllow_ConsentIsPerResource(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	shared, whole := authserver.Choice{Agent: connectors.Ref(w.agent.Slug)}, authserver.Choice{Scope: connectors.ScopeAdmin}
	key := w.ada
	key.UserID, key.Kind = nil, auth.KindKey
	program := w.ada
	program.Program = &store.ActingClient{Name: "another"}
	for name, c := range map[string]struct {
		who    auth.Actor
		q      url.Values
		choice authserver.Choice
	}{
		"an agent, for what acts as a person": {w.ada, asks(client, "resource", adminResource), shared},
		"both":                                {w.ada, asks(client, "resource", adminResource), authserver.Choice{Agent: shared.Agent, Scope: whole.Scope}},
		"nothing":                             {w.ada, asks(client, "resource", adminResource), authserver.Choice{}},
		"a scope that there is not":           {w.ada, asks(client, "resource", adminResource), authserver.Choice{Scope: "owner"}},
		"to act as the person, for what is an agent": {w.ada, asks(client), whole},
		"more than the program asked for":            {w.ada, asks(client, "resource", adminResource, "scope", "admin:read"), whole},
		"by a key":                                   {key, asks(client, "resource", adminResource), whole},
		"by another program":                         {program, asks(client, "resource", adminResource), whole},
	} {
		asked, err := w.programs.Request(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		if to, err := w.programs.Allow(t.Context(), c.who, asked, c.choice); !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %q, %v", name, to, err)
		}
	}
	if n := w.Count(t, "agent_clients"); n != 0 {
		t.Errorf("%d programs were let in", n)
	}
	asked, err := w.programs.Request(t.Context(), asks(client, "resource", adminResource))
	if err != nil || !asked.AsMember() || len(asked.Scopes) != 2 || asked.Scopes[0] != connectors.ScopeAdminRead {
		t.Errorf("asked %+v, %v", asked, err)
	}
	if _, err := w.programs.Allow(t.Context(), w.person(w.Tenant, connectors.RoleViewer), asked, whole); err != nil {
		t.Errorf("a viewer lets a program be a viewer: %v", err)
	}
}

func TestAProgramLosesTheRoleWithItsPerson(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	w.person(w.Tenant, connectors.RoleOwner) // a tenant keeps one
	tokens := w.acting(client, connectors.ScopeAdmin)
	if err := w.Door().People().SetRole(t.Context(), *w.ada.UserID, connectors.RoleViewer); err != nil {
		t.Fatal(err)
	}
	if a, err := w.who(tokens.text("access_token")); err != nil || a.Role != connectors.RoleViewer {
		t.Errorf("the role fell, and the program is %s, %v", a.Role, err)
	}
	if r := w.refresh(client, tokens.text("refresh_token")); r.Status != http.StatusOK {
		t.Errorf("a viewer's program: %+v", r)
	}
}

func TestAProgramOfWhoIsNoMemberActsAsNobody(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	w.person(w.Tenant, connectors.RoleOwner)
	tokens := w.acting(client, connectors.ScopeAdmin)
	if _, err := w.Door().People().RemoveMember(t.Context(), *w.ada.UserID); err != nil {
		t.Fatal(err)
	}
	if a, err := w.who(tokens.text("access_token")); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("it acts as %+v, %v", a, err)
	}
	if r := w.refresh(client, tokens.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("it renews its token: %+v", r)
	}
}

// Signing out everywhere ends what acts as the person; an agent's programs are not the person, and go on.
func TestSignOutEverywhere_EndsMemberClients(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	agents, members := w.signedIn(client), w.acting(client, connectors.ScopeAdminRead)
	self, err := w.St.Tenant(w.Tenant).Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.auth.SignOutMember(t.Context(), auth.Operator(self), *w.ada.UserID); err != nil {
		t.Fatal(err)
	}
	if list, err := w.programs.PersonClients(t.Context(), w.ada, store.Page{}); err != nil || len(list.Items) != 1 || list.Items[0].Scope != "" {
		t.Errorf("listed: %+v, %v", list.Items, err)
	}
	if r := w.refresh(client, members.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("%+v", r)
	}
	if got := w.endsOf("member_client.end"); len(got) != 1 || !strings.Contains(got[0], "signed out everywhere") {
		t.Errorf("on record: %q", got)
	}
	if r := w.refresh(client, agents.text("refresh_token")); r.Status != http.StatusOK {
		t.Errorf("an agent's program: %+v", r)
	}
}

// With enforced single sign-on, people are disabled at the provider: other authorizations end, and these end
// without a recent sign-in there.
func TestWhoMaySignInNoMoreKeepsNoProgram(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	before := []reply{w.signedIn(client), w.acting(client, connectors.ScopeAdmin)}
	breakGlass := w.person(w.Tenant, connectors.RoleOwner)
	sso := connectors.SSO{Issuer: "https://login.example.com", ClientID: "p", GroupsClaim: "groups", TestedAt: new(time.Now()), Enabled: true, Enforced: true, BreakGlass: breakGlass.UserID}
	if err := w.Door().SSO().Save(t.Context(), sso, "secret"); err != nil {
		t.Fatal(err)
	}
	for _, r := range before {
		if r := w.refresh(client, r.text("refresh_token")); r.text("error") != "invalid_grant" {
			t.Errorf("let in by a password: %+v", r)
		}
	}
	w.ada.BySSO = true
	if err := w.Door().SSO().BindSSOSubject(t.Context(), store.SSOSubject{Issuer: sso.Issuer, ID: "ada"}, *w.ada.UserID, w.ada.Email); err != nil {
		t.Fatal(err)
	}
	agents, members := w.signedIn(client), w.acting(client, connectors.ScopeAdmin)
	w.passes(auth.SessionLifetime + time.Hour)
	if r := w.refresh(client, members.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("a week after its person last signed in: %+v", r)
	}
	renewed := w.refresh(client, agents.text("refresh_token"))
	if renewed.Status != http.StatusOK {
		t.Fatalf("an agent's program, after a week: %+v", renewed)
	}
	w.passes(24 * 24 * time.Hour) // less than 30 days since it was renewed, and more since its person signed in
	if r := w.refresh(client, renewed.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("an agent's program, after a month: %+v", r)
	}
}

func TestEnd_OwnersEndMemberClients(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	tokens := w.acting(client, connectors.ScopeAdmin)
	owner := w.person(w.Tenant, connectors.RoleOwner)
	list, err := w.programs.MemberClients(t.Context(), owner, nil, store.Page{})
	if err != nil || len(list.Items) != 1 || list.Items[0].UserID != *w.ada.UserID {
		t.Fatalf("%+v, %v", list.Items, err)
	}
	id := list.Items[0].ID
	for name, try := range map[string]func() error{
		"another admin":     func() error { return w.programs.End(t.Context(), w.person(w.Tenant, connectors.RoleAdmin), id) },
		"another tenant's":  func() error { return w.programs.End(t.Context(), w.person(w.Other, connectors.RoleOwner), id) },
		"as an agent's":     func() error { return w.programs.EndAsAgent(t.Context(), owner, connectors.Ref(w.agent.Slug), id) },
		"as another member": func() error { return w.programs.EndAsMember(t.Context(), owner, *owner.UserID, id) },
		"a program of hers that only reads": func() error {
			reads := w.ada
			reads.Role, reads.Program = connectors.RoleViewer, &store.ActingClient{Name: "Reader"}
			return w.programs.End(t.Context(), reads, id)
		},
	} {
		if err := try(); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.programs.MemberClients(t.Context(), w.ada, nil, store.Page{}); !fault.Is(err, fault.Denied) {
		t.Errorf("an admin is told as whom programs act: %v", err)
	}
	if _, err := w.who(tokens.text("access_token")); err != nil {
		t.Fatalf("it has ended: %v", err)
	}
	if err := w.programs.EndAsMember(t.Context(), owner, *w.ada.UserID, id); err != nil {
		t.Error(err)
	}
	if _, err := w.who(tokens.text("access_token")); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("it goes on: %v", err)
	}
	w.acting(client, connectors.ScopeAdminRead)
	own, err := w.programs.PersonClients(t.Context(), w.ada, store.Page{})
	if err != nil || len(own.Items) != 1 {
		t.Fatalf("%+v, %v", own.Items, err)
	}
	if err := w.programs.End(t.Context(), w.ada, own.Items[0].ID); err != nil {
		t.Errorf("their own: %v", err)
	}
}

// agentTokenID is the id in a token's text, as the gateway would look it up.
func agentTokenID(t *testing.T, token string) connectors.AgentTokenID {
	t.Helper()
	b, ok := secret.ParseBearer(secret.MemberBearer, secret.Text(token))
	if !ok {
		t.Fatalf("%.10s… is no token", token)
	}
	return connectors.AgentTokenID{UUID: b.ID}
}
