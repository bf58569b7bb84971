package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// createOwnAgent creates a member's own agent with a grant of a per-agent connector.
func (w *world) createOwnAgent(t *testing.T, m connectors.Member, opts ...func(*connectors.Draft)) (connectors.Agent, connectors.Connector) {
	t.Helper()
	c := w.Connector(t, append([]func(*connectors.Draft){perAgent}, opts...)...)
	return w.createAgentOf(t, m, c), c
}

func (w *world) createAgentOf(t *testing.T, m connectors.Member, c connectors.Connector) connectors.Agent {
	t.Helper()
	a := w.Agent(t)
	w.Grant(t, a.ID, c.ID)
	if err := w.Door().Agents().MakePersonal(t.Context(), m.UserID, a.ID); err != nil {
		t.Fatal(err)
	}
	return a
}

func basicAuth(d *connectors.Draft) { d.Auth.Type = connectors.AuthBasic }

func TestAMembersAgentSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, _ := w.createOwnAgent(t, ada)
	tenants := w.Agent(t)
	viewer, admin := w.createKey(t, connectors.RoleViewer), w.createKey(t, connectors.RoleAdmin)
	want := map[string]any{
		mine.Slug:    map[string]any{"id": ada.UserID.String(), "name": ada.DisplayName()},
		tenants.Slug: nil,
	}
	got := map[string]any{}
	for _, item := range w.call(t, viewer, http.MethodGet, "/api/v1/agents", nil).want(http.StatusOK)["items"].([]any) {
		a := item.(map[string]any)
		got[a["slug"].(string)] = a["member"]
		path := "/api/v1/agents/" + a["slug"].(string)
		for name, one := range map[string]reply{
			"read":    w.call(t, viewer, http.MethodGet, path, nil),
			"changed": w.call(t, admin, http.MethodPatch, path, `{"description": "Changed"}`),
		} {
			if diff := cmp.Diff(a["member"], one.want(http.StatusOK)["member"]); diff != "" {
				t.Errorf("%s, %s: %s", path, name, diff)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAgentAccounts_MemberManagesOwnAgentsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, c := w.createOwnAgent(t, ada, basicAuth)
	bobs := w.createAgentOf(t, w.Member(t, connectors.RoleMember), c)
	tenants := w.Agent(t)
	w.Grant(t, tenants.ID, c.ID)
	her := w.signIn(t, ada.UserID)
	accounts := "/api/v1/agents/" + mine.Slug + "/accounts"
	at := func(a connectors.Agent) string {
		return "/api/v1/connectors/" + c.Slug + "/agents/" + a.Slug + "/credential"
	}
	const secret = `{"username": "ada@provider.example", "password": "p-1"}`

	row := map[string]any{
		"connector_id": c.ID.String(), "connector": c.Slug, "name": c.Name, "enabled": true, "auth_type": "basic", "state": "missing",
		"account": "", "identity": nil, "since": nil, "error": nil, "upstream": nil, "url": baseURL + "/account/connections/" + mine.ID.String() + "/" + c.ID.String(),
	}
	read := func(actor reply) {
		t.Helper()
		got := actor.want(http.StatusOK)
		for _, item := range got["items"].([]any) {
			if since := item.(map[string]any)["since"]; row["state"] != "missing" && isTime(since) {
				item.(map[string]any)["since"] = nil
			}
		}
		if diff := cmp.Diff(map[string]any{"items": []any{row}, "next_cursor": nil}, got); diff != "" {
			t.Error(diff)
		}
	}
	read(w.callInSession(t, her, http.MethodGet, accounts, nil))
	w.callInSession(t, her, http.MethodPut, at(mine), `{"username": ""}`).problem(http.StatusUnprocessableEntity, "invalid")
	if got := w.callInSession(t, her, http.MethodPut, at(mine), secret); got.status != http.StatusNoContent {
		t.Fatalf("%d %s", got.status, got.body)
	}
	row["state"], row["account"] = "active", "ada@provider.example"
	read(w.callInSession(t, her, http.MethodGet, accounts, nil))
	read(w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodGet, accounts, nil))

	before := w.Rows(t)
	for name, a := range map[string]connectors.Agent{"another member's": bobs, "the tenant's": tenants} {
		for _, got := range []reply{
			w.callInSession(t, her, http.MethodGet, "/api/v1/agents/"+a.Slug+"/accounts", nil),
			w.callInSession(t, her, http.MethodPut, at(a), secret),
			w.callInSession(t, her, http.MethodPut, at(a), `{`),
			w.callInSession(t, her, http.MethodDelete, at(a), nil),
		} {
			if got.problem(http.StatusForbidden, "denied"); t.Failed() {
				t.Fatal(name)
			}
		}
	}
	w.callInSession(t, her, http.MethodPut, "/api/v1/connectors/"+c.Slug+"/credential", secret).problem(http.StatusForbidden, "denied")
	w.callInSession(t, her, http.MethodGet, "/api/v1/agents/nobody/accounts", nil).problem(http.StatusForbidden, "denied")
	w.wantUnchanged(t, before)

	if got := w.callInSession(t, her, http.MethodDelete, at(mine), nil); got.status != http.StatusNoContent {
		t.Fatalf("%d %s", got.status, got.body)
	}
	row["state"], row["account"] = "missing", ""
	read(w.callInSession(t, her, http.MethodGet, accounts, nil))
}

func TestAgentAccounts_OthersAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, c := w.createOwnAgent(t, w.Member(t, connectors.RoleMember), basicAuth)
	accounts := "/api/v1/agents/" + mine.ID.String() + "/accounts"
	credential := "/api/v1/connectors/" + c.ID.String() + "/agents/" + mine.ID.String() + "/credential"
	connect := "/api/v1/connectors/" + c.ID.String() + "/connect"
	for _, role := range connectors.Roles {
		if role.May(connectors.PermManage) {
			continue
		}
		for _, asks := range []func(method, path, body string) reply{
			func(method, path, body string) reply { return w.call(t, w.createKey(t, role), method, path, body) },
			func(method, path, body string) reply {
				return w.callInSession(t, w.signIn(t, w.Member(t, role).UserID), method, path, body)
			},
		} {
			asks(http.MethodGet, accounts, "").problem(http.StatusForbidden, "denied")
			asks(http.MethodPut, credential, `{"username": "a", "password": "b"}`).problem(http.StatusForbidden, "denied")
			asks(http.MethodDelete, credential, "").problem(http.StatusForbidden, "denied")
			asks(http.MethodPost, connect, `{"agent": "`+mine.Slug+`"}`).problem(http.StatusForbidden, "denied")
		}
	}
	other := w.createKeyIn(t, w.Other, connectors.RoleOwner)
	theirs := w.signIn(t, w.MemberIn(t, w.Other, connectors.RoleMember).UserID)
	w.call(t, other, http.MethodGet, accounts, nil).problem(http.StatusNotFound, "not-found")
	w.callInSession(t, theirs, http.MethodGet, accounts, nil).problem(http.StatusForbidden, "denied")
	w.callInSession(t, theirs, http.MethodPut, credential, `{"username": "a", "password": "b"}`).problem(http.StatusForbidden, "denied")
	if list, err := w.Door().Accounts().AgentAccounts(t.Context(), mine.ID); err != nil || len(list) != 1 || list[0].IsStored() {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAgentAccounts_MemberConnectsOwnAgents(t *testing.T) {
	t.Parallel()
	a := newAccount(t, perAgent)
	ada, bob := a.Member(t, connectors.RoleMember), a.Member(t, connectors.RoleMember)
	mine, tenants := a.createAgentOf(t, ada, a.connector), a.Agent(t)
	her, his := a.signIn(t, ada.UserID), a.signIn(t, bob.UserID)
	body := map[string]any{"agent": mine.Slug}
	for name, got := range map[string]reply{
		"another member":                  a.callInSession(t, his, http.MethodPost, a.path+"/connect", body),
		"the tenant's agent":              a.callInSession(t, her, http.MethodPost, a.path+"/connect", map[string]any{"agent": tenants.Slug}),
		"no agent":                        a.callInSession(t, her, http.MethodPost, a.path+"/connect", nil),
		"an agent in another spelling":    a.callInSession(t, her, http.MethodPost, a.path+"/connect", `{"Agent": "`+mine.Slug+`"}`),
		"what is no document":             a.callInSession(t, her, http.MethodPost, a.path+"/connect", `{`),
		"a key of the member's own role":  a.call(t, a.createKey(t, connectors.RoleMember), http.MethodPost, a.path+"/connect", body),
		"a second agent after one's own":  a.callInSession(t, her, http.MethodPost, a.path+"/connect", `{"agent": "`+mine.Slug+`", "agent": "`+tenants.Slug+`"}`),
		"a viewer, who looks after none":  a.callInSession(t, a.signIn(t, a.Member(t, connectors.RoleViewer).UserID), http.MethodPost, a.path+"/connect", body),
		"one who is of another tenant":    a.callInSession(t, a.signIn(t, a.MemberIn(t, a.Other, connectors.RoleMember).UserID), http.MethodPost, a.path+"/connect", body),
		"an auditor, who only looks upon": a.callInSession(t, a.signIn(t, a.Member(t, connectors.RoleAuditor).UserID), http.MethodPost, a.path+"/connect", body),
	} {
		if got.problem(http.StatusForbidden, "denied"); t.Failed() {
			t.Fatal(name)
		}
	}
	if n := a.as.Count(); n != 0 {
		t.Errorf("the authorization server was asked %d times for those who may not", n)
	}
	a.callInSession(t, her, http.MethodPost, a.path+"/connect", map[string]any{"agent": mine.Slug, "return_to": "https://elsewhere.example"}).
		problem(http.StatusUnprocessableEntity, "invalid")
	started := a.callInSession(t, her, http.MethodPost, a.path+"/connect", body).want(http.StatusOK)
	done, err := a.finishConnect(t, started["authorize_url"].(string), ada, her.Value)
	if err != nil || done.Agent == nil || done.Agent.ID != mine.ID {
		t.Fatalf("%+v, %v", done, err)
	}
	state := func() any {
		got := a.callInSession(t, her, http.MethodGet, "/api/v1/agents/"+mine.Slug+"/accounts", nil).want(http.StatusOK)
		return got["items"].([]any)[0].(map[string]any)["state"]
	}
	if now := state(); now != "active" {
		t.Errorf("it is %v", now)
	}
	end := a.path + "/agents/" + mine.Slug + "/credential"
	a.callInSession(t, his, http.MethodDelete, end, nil).problem(http.StatusForbidden, "denied")
	if got := a.callInSession(t, her, http.MethodDelete, end, nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	if now := state(); now != "missing" {
		t.Errorf("it is %v", now)
	}
}

func TestAgentAccounts_NameIsForMemberAndManagers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, c := w.createOwnAgent(t, ada, basicAuth)
	tenants := w.Agent(t)
	admin, path := w.createKey(t, connectors.RoleAdmin), "/api/v1/connectors/"+c.Slug
	for a, name := range map[string]string{mine.Slug: "ada@provider.example", tenants.Slug: "robot"} {
		put := w.call(t, admin, http.MethodPut, path+"/agents/"+a+"/credential", map[string]any{"username": name, "password": "p"})
		if put.status != http.StatusNoContent {
			t.Fatalf("%d %s", put.status, put.body)
		}
	}
	names := func(got reply) map[string]string {
		named := map[string]string{}
		for _, item := range got.want(http.StatusOK)["items"].([]any) {
			one := item.(map[string]any)
			named[one["agent_id"].(string)] = one["account"].(string)
		}
		return named
	}
	shown := map[string]string{mine.ID.String(): "ada@provider.example", tenants.ID.String(): "robot"}
	hidden := map[string]string{mine.ID.String(): "", tenants.ID.String(): "robot"}
	list := path + "/credentials"
	if diff := cmp.Diff(shown, names(w.callInSession(t, w.signIn(t, ada.UserID), http.MethodGet, list, nil))); diff != "" {
		t.Errorf("to herself: %s", diff)
	}
	for _, role := range connectors.Roles {
		want := hidden
		if role.May(connectors.PermManage) {
			want = shown
		}
		if diff := cmp.Diff(want, names(w.call(t, w.createKey(t, role), http.MethodGet, list, nil))); diff != "" {
			t.Errorf("to a key, %s: %s", role, diff)
		}
		if diff := cmp.Diff(want, names(w.callInSession(t, w.signIn(t, w.Member(t, role).UserID), http.MethodGet, list, nil))); diff != "" {
			t.Errorf("to a person, %s: %s", role, diff)
		}
	}
}

func TestAgentAccounts_ViewerDisconnectsOwnAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, c := w.createOwnAgent(t, ada, basicAuth)
	bobs := w.createAgentOf(t, w.Member(t, connectors.RoleMember), c)
	hers, anothers := w.ProgramIn(t, w.Tenant, mine.ID, ada.UserID), w.ProgramIn(t, w.Tenant, mine.ID, w.Member(t, connectors.RoleAdmin).UserID)
	for _, a := range []connectors.Agent{mine, bobs} {
		w.Credential(t, c.ID, &a.ID, `{"username":"a","password":"b"}`)
	}
	if err := w.Door().People().SetRole(t.Context(), ada.UserID, connectors.RoleViewer); err != nil {
		t.Fatal(err)
	}
	her, viewer := w.signIn(t, ada.UserID), w.createKey(t, connectors.RoleViewer)
	credential := func(a connectors.Agent) string {
		return "/api/v1/connectors/" + c.Slug + "/agents/" + a.Slug + "/credential"
	}
	clients := "/api/v1/agents/" + mine.Slug + "/clients/"

	before := w.Rows(t)
	w.callInSession(t, her, http.MethodPut, credential(mine), `{"username": "a", "password": "b"}`).problem(http.StatusForbidden, "denied")
	w.callInSession(t, her, http.MethodDelete, credential(bobs), nil).problem(http.StatusForbidden, "denied")
	w.callInSession(t, her, http.MethodDelete, clients+anothers.String(), nil).problem(http.StatusNotFound, "not-found")
	w.call(t, viewer, http.MethodDelete, credential(mine), nil).problem(http.StatusForbidden, "denied")
	w.call(t, viewer, http.MethodDelete, clients+hers.String(), nil).problem(http.StatusForbidden, "denied")
	w.wantUnchanged(t, before)

	for _, path := range []string{credential(mine), clients + hers.String()} {
		if got := w.callInSession(t, her, http.MethodDelete, path, nil); got.status != http.StatusNoContent {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	w.callInSession(t, her, http.MethodDelete, clients+hers.String(), nil).problem(http.StatusNotFound, "not-found")
	if list, err := w.Door().Accounts().AgentAccounts(t.Context(), mine.ID); err != nil || len(list) != 1 || list[0].IsStored() {
		t.Errorf("%+v, %v", list, err)
	}
}
