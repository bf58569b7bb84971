package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// mine makes a member's own agent that was granted a connector with an account for each agent.
func (w *world) mine(t *testing.T, m connectors.Member, opts ...func(*connectors.Draft)) (connectors.Agent, connectors.Connector) {
	t.Helper()
	c := w.Connector(t, append([]func(*connectors.Draft){eachItsOwn}, opts...)...)
	return w.owned(t, m, c), c
}

func (w *world) owned(t *testing.T, m connectors.Member, c connectors.Connector) connectors.Agent {
	t.Helper()
	a := w.Agent(t)
	w.Grant(t, a.ID, c.ID)
	if err := w.Door().MakePersonal(t.Context(), m.UserID, a.ID); err != nil {
		t.Fatal(err)
	}
	return a
}

func byPassword(d *connectors.Draft) { d.Auth.Type = connectors.AuthBasic }

func TestAMembersAgentSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, _ := w.mine(t, ada)
	tenants := w.Agent(t)
	viewer, admin := w.key(t, connectors.RoleViewer), w.key(t, connectors.RoleAdmin)
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

func TestAMemberLooksAfterTheAccountsOfTheirOwnAgentAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, c := w.mine(t, ada, byPassword)
	bobs := w.owned(t, w.Member(t, connectors.RoleMember), c)
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
		"account": "", "since": nil, "error": nil, "url": baseURL + "/account/connections/" + mine.ID.String() + "/" + c.ID.String(),
	}
	read := func(who reply) {
		t.Helper()
		got := who.want(http.StatusOK)
		for _, item := range got["items"].([]any) {
			if since := item.(map[string]any)["since"]; row["state"] != "missing" && isTime(since) {
				item.(map[string]any)["since"] = nil
			}
		}
		if diff := cmp.Diff(map[string]any{"items": []any{row}, "next_cursor": nil}, got); diff != "" {
			t.Error(diff)
		}
	}
	read(w.inSession(t, her, http.MethodGet, accounts, nil))
	w.inSession(t, her, http.MethodPut, at(mine), `{"username": ""}`).problem(http.StatusUnprocessableEntity, "invalid")
	if got := w.inSession(t, her, http.MethodPut, at(mine), secret); got.status != http.StatusNoContent {
		t.Fatalf("%d %s", got.status, got.body)
	}
	row["state"], row["account"] = "active", "ada@provider.example"
	read(w.inSession(t, her, http.MethodGet, accounts, nil))
	read(w.call(t, w.key(t, connectors.RoleAdmin), http.MethodGet, accounts, nil))

	before := w.Rows(t)
	for name, a := range map[string]connectors.Agent{"another member's": bobs, "the tenant's": tenants} {
		for _, got := range []reply{
			w.inSession(t, her, http.MethodGet, "/api/v1/agents/"+a.Slug+"/accounts", nil),
			w.inSession(t, her, http.MethodPut, at(a), secret),
			w.inSession(t, her, http.MethodPut, at(a), `{`),
			w.inSession(t, her, http.MethodDelete, at(a), nil),
		} {
			if got.problem(http.StatusForbidden, "denied"); t.Failed() {
				t.Fatal(name)
			}
		}
	}
	w.inSession(t, her, http.MethodPut, "/api/v1/connectors/"+c.Slug+"/credential", secret).problem(http.StatusForbidden, "denied")
	w.inSession(t, her, http.MethodGet, "/api/v1/agents/nobody/accounts", nil).problem(http.StatusForbidden, "denied")
	w.unchanged(t, before)

	if got := w.inSession(t, her, http.MethodDelete, at(mine), nil); got.status != http.StatusNoContent {
		t.Fatalf("%d %s", got.status, got.body)
	}
	row["state"], row["account"] = "missing", ""
	read(w.inSession(t, her, http.MethodGet, accounts, nil))
}

func TestNobodyElseOfARoleGetsToAMembersAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, c := w.mine(t, w.Member(t, connectors.RoleMember), byPassword)
	accounts := "/api/v1/agents/" + mine.ID.String() + "/accounts"
	credential := "/api/v1/connectors/" + c.ID.String() + "/agents/" + mine.ID.String() + "/credential"
	connect := "/api/v1/connectors/" + c.ID.String() + "/connect"
	for _, role := range connectors.Roles {
		if role.May(connectors.PermManage) {
			continue
		}
		for _, asks := range []func(method, path, body string) reply{
			func(method, path, body string) reply { return w.call(t, w.key(t, role), method, path, body) },
			func(method, path, body string) reply {
				return w.inSession(t, w.signIn(t, w.Member(t, role).UserID), method, path, body)
			},
		} {
			asks(http.MethodGet, accounts, "").problem(http.StatusForbidden, "denied")
			asks(http.MethodPut, credential, `{"username": "a", "password": "b"}`).problem(http.StatusForbidden, "denied")
			asks(http.MethodDelete, credential, "").problem(http.StatusForbidden, "denied")
			asks(http.MethodPost, connect, `{"agent": "`+mine.Slug+`"}`).problem(http.StatusForbidden, "denied")
		}
	}
	other := w.keyIn(t, w.Other, connectors.RoleOwner)
	theirs := w.signIn(t, w.MemberIn(t, w.Other, connectors.RoleMember).UserID)
	w.call(t, other, http.MethodGet, accounts, nil).problem(http.StatusNotFound, "not-found")
	w.inSession(t, theirs, http.MethodGet, accounts, nil).problem(http.StatusForbidden, "denied")
	w.inSession(t, theirs, http.MethodPut, credential, `{"username": "a", "password": "b"}`).problem(http.StatusForbidden, "denied")
	if list, err := w.Door().AgentAccounts(t.Context(), mine.ID); err != nil || len(list) != 1 || list[0].Stored() {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAMemberConnectsTheirOwnAgentsAccountAtTheAPI(t *testing.T) {
	t.Parallel()
	a := newAccount(t, eachItsOwn)
	ada, bob := a.Member(t, connectors.RoleMember), a.Member(t, connectors.RoleMember)
	mine, tenants := a.owned(t, ada, a.connector), a.Agent(t)
	her, his := a.signIn(t, ada.UserID), a.signIn(t, bob.UserID)
	body := map[string]any{"agent": mine.Slug}
	for name, got := range map[string]reply{
		"another member":                  a.inSession(t, his, http.MethodPost, a.path+"/connect", body),
		"the tenant's agent":              a.inSession(t, her, http.MethodPost, a.path+"/connect", map[string]any{"agent": tenants.Slug}),
		"no agent":                        a.inSession(t, her, http.MethodPost, a.path+"/connect", nil),
		"an agent in another spelling":    a.inSession(t, her, http.MethodPost, a.path+"/connect", `{"Agent": "`+mine.Slug+`"}`),
		"what is no document":             a.inSession(t, her, http.MethodPost, a.path+"/connect", `{`),
		"a key of the member's own role":  a.call(t, a.key(t, connectors.RoleMember), http.MethodPost, a.path+"/connect", body),
		"a second agent after one's own":  a.inSession(t, her, http.MethodPost, a.path+"/connect", `{"agent": "`+mine.Slug+`", "agent": "`+tenants.Slug+`"}`),
		"a viewer, who looks after none":  a.inSession(t, a.signIn(t, a.Member(t, connectors.RoleViewer).UserID), http.MethodPost, a.path+"/connect", body),
		"one who is of another tenant":    a.inSession(t, a.signIn(t, a.MemberIn(t, a.Other, connectors.RoleMember).UserID), http.MethodPost, a.path+"/connect", body),
		"an auditor, who only looks upon": a.inSession(t, a.signIn(t, a.Member(t, connectors.RoleAuditor).UserID), http.MethodPost, a.path+"/connect", body),
	} {
		if got.problem(http.StatusForbidden, "denied"); t.Failed() {
			t.Fatal(name)
		}
	}
	if n := a.as.Count(); n != 0 {
		t.Errorf("the authorization server was asked %d times for those who may not", n)
	}
	a.inSession(t, her, http.MethodPost, a.path+"/connect", map[string]any{"agent": mine.Slug, "return_to": "https://elsewhere.example"}).
		problem(http.StatusUnprocessableEntity, "invalid")
	started := a.inSession(t, her, http.MethodPost, a.path+"/connect", body).want(http.StatusOK)
	done, err := a.finish(t, started["authorize_url"].(string), ada, her.Value)
	if err != nil || done.Agent == nil || done.Agent.ID != mine.ID {
		t.Fatalf("%+v, %v", done, err)
	}
	state := func() any {
		got := a.inSession(t, her, http.MethodGet, "/api/v1/agents/"+mine.Slug+"/accounts", nil).want(http.StatusOK)
		return got["items"].([]any)[0].(map[string]any)["state"]
	}
	if now := state(); now != "active" {
		t.Errorf("it is %v", now)
	}
	end := a.path + "/agents/" + mine.Slug + "/credential"
	a.inSession(t, his, http.MethodDelete, end, nil).problem(http.StatusForbidden, "denied")
	if got := a.inSession(t, her, http.MethodDelete, end, nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	if now := state(); now != "missing" {
		t.Errorf("it is %v", now)
	}
}

func TestTheNameOfAMembersAccountIsForThemAndForWhoManages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, c := w.mine(t, ada, byPassword)
	tenants := w.Agent(t)
	admin, path := w.key(t, connectors.RoleAdmin), "/api/v1/connectors/"+c.Slug
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
	if diff := cmp.Diff(shown, names(w.inSession(t, w.signIn(t, ada.UserID), http.MethodGet, list, nil))); diff != "" {
		t.Errorf("to herself: %s", diff)
	}
	for _, role := range connectors.Roles {
		want := hidden
		if role.May(connectors.PermManage) {
			want = shown
		}
		if diff := cmp.Diff(want, names(w.call(t, w.key(t, role), http.MethodGet, list, nil))); diff != "" {
			t.Errorf("to a key, %s: %s", role, diff)
		}
		if diff := cmp.Diff(want, names(w.inSession(t, w.signIn(t, w.Member(t, role).UserID), http.MethodGet, list, nil))); diff != "" {
			t.Errorf("to a person, %s: %s", role, diff)
		}
	}
}

func TestWhoOnlyReadsByNowEndsWhatTheirOwnAgentHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, c := w.mine(t, ada, byPassword)
	bobs := w.owned(t, w.Member(t, connectors.RoleMember), c)
	hers, anothers := w.ProgramIn(t, w.Tenant, mine.ID, ada.UserID), w.ProgramIn(t, w.Tenant, mine.ID, w.Member(t, connectors.RoleAdmin).UserID)
	for _, a := range []connectors.Agent{mine, bobs} {
		w.Credential(t, c.ID, &a.ID, `{"username":"a","password":"b"}`)
	}
	if err := w.Door().SetMemberRole(t.Context(), ada.UserID, connectors.RoleViewer); err != nil {
		t.Fatal(err)
	}
	her, viewer := w.signIn(t, ada.UserID), w.key(t, connectors.RoleViewer)
	credential := func(a connectors.Agent) string {
		return "/api/v1/connectors/" + c.Slug + "/agents/" + a.Slug + "/credential"
	}
	clients := "/api/v1/agents/" + mine.Slug + "/clients/"

	before := w.Rows(t)
	w.inSession(t, her, http.MethodPut, credential(mine), `{"username": "a", "password": "b"}`).problem(http.StatusForbidden, "denied")
	w.inSession(t, her, http.MethodDelete, credential(bobs), nil).problem(http.StatusForbidden, "denied")
	w.inSession(t, her, http.MethodDelete, clients+anothers.String(), nil).problem(http.StatusNotFound, "not-found")
	w.call(t, viewer, http.MethodDelete, credential(mine), nil).problem(http.StatusForbidden, "denied")
	w.call(t, viewer, http.MethodDelete, clients+hers.String(), nil).problem(http.StatusForbidden, "denied")
	w.unchanged(t, before)

	for _, path := range []string{credential(mine), clients + hers.String()} {
		if got := w.inSession(t, her, http.MethodDelete, path, nil); got.status != http.StatusNoContent {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	w.inSession(t, her, http.MethodDelete, clients+hers.String(), nil).problem(http.StatusNotFound, "not-found")
	if list, err := w.Door().AgentAccounts(t.Context(), mine.ID); err != nil || len(list) != 1 || list[0].Stored() {
		t.Errorf("%+v, %v", list, err)
	}
}
