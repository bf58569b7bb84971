package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// createOwnAgent creates a person's own agent with a grant of a connector with per-agent accounts.
func (d *dashboard) createOwnAgent(m connectors.Member, opts ...func(*connectors.Draft)) (a connectors.Agent, c connectors.Connector, path string) {
	d.t.Helper()
	perAgent := func(c *connectors.Draft) { c.CredentialMode = connectors.CredentialPerAgent }
	c = d.Connector(d.t, append([]func(*connectors.Draft){perAgent}, opts...)...)
	a = d.Agent(d.t)
	d.Grant(d.t, a.ID, c.ID)
	if err := d.Door().Agents().MakePersonal(d.t.Context(), m.UserID, a.ID); err != nil {
		d.t.Fatal(err)
	}
	return a, c, "/account/connections/" + a.ID.String() + "/" + c.ID.String()
}

func bearerAuth(c *connectors.Draft) { c.Auth.Type = connectors.AuthBearer }

func TestOwnAccount_SecretIsForOwnAgentAlone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	_, c, path := d.createOwnAgent(ada, bearerAuth)
	b := d.browser()
	b.signIn(ada.Email)
	b.get("/account").want(t, http.StatusOK, `href="/account/connections"`)
	b.get("/account/connections").want(t, http.StatusOK, c.Name, "Not set", `href="`+path+`"`)
	b.get(path).want(t, http.StatusOK, "Connect "+c.Name, ada.Email, `name="token"`)
	b.post(path+"/credential", url.Values{"token": {""}}).want(t, http.StatusUnprocessableEntity)
	p := b.post(path+"/credential", url.Values{"token": {"s3cret of ada"}})
	if p.Status != http.StatusSeeOther || p.Location != path {
		t.Fatalf("%d to %q\n%s", p.Status, p.Location, plainText(p.Body))
	}
	p = b.get(path)
	if p.want(t, http.StatusOK, c.Name+" is connected", "You can close this page.", "Since"); p.says("s3cret of ada") {
		t.Error("the page shows the secret")
	}
	b.post("/connectors/"+c.Slug+"/agents/"+"any"+"/credential", url.Values{"token": {"x"}}).want(t, http.StatusForbidden)
	if p = b.post(path+"/disconnect", nil); p.Location != path {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	b.get("/account/connections").want(t, http.StatusOK, "Not set")
}

// Higher roles are refused too: they would connect their own account to another member's agent, as the sender
// of the link may intend.
func TestOwnAccount_LinkIsRefusedToOthers(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.Member(t, connectors.RoleMember, d.withPassword(), func(m *store.NewMember) { m.Name = "Ada Lovelace" })
	_, c, path := d.createOwnAgent(ada, bearerAuth)
	for _, role := range connectors.Roles {
		other := d.signInAsRole(role)
		other.get(path).want(t, http.StatusForbidden, "Only Ada Lovelace can connect accounts to this agent.")
		for _, act := range []string{"/connect", "/credential", "/disconnect"} {
			other.post(path+act, url.Values{"token": {"of somebody else"}}).want(t, http.StatusForbidden)
		}
		if p := other.get("/account/connections"); p.Status != http.StatusOK || p.says(c.Name) {
			t.Errorf("%s sees another's accounts: %d", role, p.Status)
		}
	}
	if list, err := d.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{}); err != nil || len(list.Items) != 0 {
		t.Errorf("%v, %v", list.Items, err)
	}
	stranger := d.browser().get(path)
	if to, _ := url.Parse(stranger.Location); stranger.Status != http.StatusSeeOther || to.Path != "/login" || to.Query().Get("return_to") != path {
		t.Errorf("whoever is not signed in is sent to %q", stranger.Location)
	}
	tenants := d.browser()
	tenants.signIn(d.MemberIn(t, d.Other, connectors.RoleOwner, d.withPassword()).Email)
	tenants.get(path).want(t, http.StatusNotFound)
	tenants.post(path+"/credential", url.Values{"token": {"of another organisation"}}).want(t, http.StatusNotFound)
}

func TestOwnAccount_AgentActsForItsMemberAlone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	a, c, _ := d.createOwnAgent(ada, bearerAuth)
	d.Synced(t, c.ID, "search")
	d.Credential(t, c.ID, &a.ID, `{"token":"of ada"}`)
	form := url.Values{"agent": {a.Slug}, "as": {"json"}, "json": {"{}"}}
	try := "/connectors/" + c.Slug + "/tools/search/try"
	d.signInAsRole(connectors.RoleMember).post(try, form).want(t, http.StatusForbidden, "and admins can use this agent's accounts.")
	own := d.browser()
	own.signIn(ada.Email)
	for who, b := range map[string]*browser{"the member": own, "an admin": d.signInAsRole(connectors.RoleAdmin)} {
		if p := b.post(try, form); p.Status == http.StatusForbidden {
			t.Errorf("%s is refused: %s", who, plainText(p.Body))
		}
	}
	d.signInAsRole(connectors.RoleViewer).get("/agents/"+a.Slug).want(t, http.StatusOK, "Belongs to", ada.DisplayName())
}

func TestOwnAccount_NameIsShownToMemberAndManagers(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	_, c, path := d.createOwnAgent(ada, func(c *connectors.Draft) { c.Auth.Type = connectors.AuthBasic })
	own := d.browser()
	own.signIn(ada.Email)
	own.post(path+"/credential", url.Values{"username": {"ada@provider.example"}, "password": {"of ada"}}).want(t, http.StatusSeeOther)
	list := "/connectors/" + c.Slug + "/credentials"
	own.get(list).want(t, http.StatusOK, "ada@provider.example")
	for _, role := range connectors.Roles {
		p := d.signInAsRole(role).get(list)
		p.want(t, http.StatusOK, "Last used")
		if p.says("ada@provider.example") != role.May(connectors.PermManage) {
			t.Errorf("to %s: %s", role, plainText(p.Body))
		}
	}
}

func TestOwnAccount_FailureIsExplained(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	_, c, path := d.createOwnAgent(ada, func(c *connectors.Draft) { c.URL, c.Auth.Type = "http://127.0.0.1:1/mcp", connectors.AuthOAuth2 })
	b := d.browser()
	b.signIn(ada.Email)
	p := b.post(path+"/connect", nil)
	if p.Status < 400 || p.Status >= 500 && p.Status != http.StatusBadGateway || !strings.Contains(p.Body, `role="alert"`) || !p.says("Connect "+c.Name) {
		t.Errorf("%d: %s", p.Status, plainText(p.Body))
	}
}

func TestOwnAccount_OtherMemberCannotSyncOrLink(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	a, c, page := d.createOwnAgent(ada, func(c *connectors.Draft) { c.Auth.Type = connectors.AuthOAuth2 })
	sync, link := "/connectors/"+c.Slug+"/sync_tools", "/connectors/"+c.Slug+"/agents/"+a.Slug+"/connect-link"
	d.signInAsRole(connectors.RoleMember).submit(sync, url.Values{"agent": {a.Slug}}).want(t, http.StatusOK, "Sync failed: Only "+ada.DisplayName()+" and admins can use this agent's accounts.")
	if p := d.signInAsRole(connectors.RoleAdmin).post(link, nil); p.says("/connect/") || !p.says(page) {
		t.Errorf("a link for a member's agent: %d %s", p.Status, plainText(p.Body))
	}
	list, err := d.Door().Syncs().List(t.Context(), c.ID, store.Page{})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("synced: %v, %v", list.Items, err)
	}
}

func TestOwnAccount_ViewerDisconnectsButConnectsNone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	a, c, path := d.createOwnAgent(ada, bearerAuth)
	d.Credential(t, c.ID, &a.ID, `{"token":"of ada"}`)
	program := d.ProgramIn(t, d.Tenant, a.ID, ada.UserID)
	if err := d.Door().People().SetRole(t.Context(), ada.UserID, connectors.RoleViewer); err != nil {
		t.Fatal(err)
	}
	b := d.browser()
	b.signIn(ada.Email)
	for _, page := range []string{path, "/account/connections"} {
		if p := b.get(page); p.Status != http.StatusOK || !strings.Contains(p.Body, path+"/disconnect") || strings.Contains(p.Body, `name="token"`) {
			t.Errorf("%s: %d %s", page, p.Status, plainText(p.Body))
		}
	}
	b.post(path+"/credential", url.Values{"token": {"another"}}).want(t, http.StatusForbidden)
	d.signInAsRole(connectors.RoleViewer).post(path+"/disconnect", nil).want(t, http.StatusForbidden)
	if p := b.post(path+"/disconnect", nil); p.Location != path {
		t.Errorf("%d to %q: %s", p.Status, p.Location, plainText(p.Body))
	}
	if list, err := d.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{}); err != nil || len(list.Items) != 0 {
		t.Errorf("%v, %v", list.Items, err)
	}
	b.post("/account/programs/"+program.String()+"/revoke", nil).want(t, http.StatusSeeOther)
	if list, err := d.Door().Agents().Clients(t.Context(), store.AgentClientFilter{Agent: &a.ID}, store.Page{}); err != nil || len(list.Items) != 0 {
		t.Errorf("%v, %v", list.Items, err)
	}
}

// The host is that of the server which gets the credential, not that of the document that describes it.
func TestOwnAccount_NamesTheServerOfAnAPI(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleAdmin)
	_, c, path := d.createOwnAgent(ada, bearerAuth, func(c *connectors.Draft) {
		c.Transport, c.URL, c.ServerURL = connectors.TransportAPI, "https://documents.example.com/openapi.json", "https://api.example.org/v1"
	})
	b := d.browser()
	b.signIn(ada.Email)
	for _, path := range []string{"/account/connections", path, "/connectors", "/connectors/" + c.Slug + "/operations"} {
		p := b.get(path)
		if p.want(t, http.StatusOK, "api.example.org"); p.says("documents.example.com") {
			t.Errorf("%s names the document's host", path)
		}
	}
}
