package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/htmlcheck"
)

// addAccount sends the form of another account of a connector's agents.
func (b *browser) addAccount(c connectors.Connector, former, account, token string) page {
	b.t.Helper()
	return b.post("/connectors/"+c.Slug+"/credential", url.Values{"add": {"true"}, "former": {former}, "account": {account}, "token": {token}})
}

func TestNamedAccounts_OneLooksAsBefore(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, bearerAuth)
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug
	if p := b.get(path + "/credentials"); p.says("Add another account") {
		t.Error("an account can be added beside none")
	}
	b.post(path+"/credential", url.Values{"token": {"one"}})
	p := b.get(path + "/credentials")
	p.want(t, http.StatusOK, "Add another account", "Name of the current account")
	for _, word := range []string{"Used for syncs", "Use for syncs", "Rename"} {
		if p.says(word) {
			t.Errorf("the page of one account says %q", word)
		}
	}
	htmlcheck.Parse(t, p.Body).Sound(t)
}

func TestNamedAccounts_AreAddedRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, bearerAuth)
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug
	b.post(path+"/credential", url.Values{"token": {"one"}})
	b.addAccount(c, "", "home", "two").want(t, http.StatusUnprocessableEntity, "Enter a name.")
	b.addAccount(c, "work", "", "two").want(t, http.StatusUnprocessableEntity, "Enter a name.")
	b.addAccount(c, "work", "work", "two").want(t, http.StatusUnprocessableEntity, "This account name is taken.")
	b.addAccount(c, "work", "Not A Name", "two").want(t, http.StatusUnprocessableEntity, "lowercase")
	if p := b.addAccount(c, "work", "home", "two"); p.Status != http.StatusSeeOther {
		t.Fatalf("%d: %s", p.Status, plainText(p.Body))
	}
	p := b.get(path + "/credentials")
	p.want(t, http.StatusOK, "Account “home” added.", "work", "home", "Used for syncs", "Use for syncs", "Rename", "Name of the new account")
	if p.says("Name of the current account") {
		t.Error("the page asks for a name that the account has")
	}
	htmlcheck.Parse(t, p.Body).Sound(t)
	b.addAccount(c, "", "home", "three").want(t, http.StatusUnprocessableEntity, "This account name is taken.")
	b.addAccount(c, "", "default", "three").want(t, http.StatusConflict, "Other accounts have names. Give this one a name too.")
	b.post(path+"/account/rename", url.Values{"account": {"home"}, "name": {"work"}}).want(t, http.StatusConflict, "This account name is taken.")
	b.post(path+"/account/rename", url.Values{"account": {"home"}, "name": {""}}).want(t, http.StatusUnprocessableEntity, "Enter a name.")
	b.submit(path+"/account/rename", url.Values{"account": {"home"}, "name": {"private"}}).want(t, http.StatusOK, "Account renamed.", "private")
	b.submit(path+"/account/syncs", url.Values{"account": {"private"}}).want(t, http.StatusOK, "use this account.")
	if p := b.get(path + "/credentials"); strings.Index(plainText(p.Body), "Used for syncs") < strings.Index(plainText(p.Body), "private") {
		t.Error("the other account is marked")
	}
	b.submit(path+"/credential/delete", url.Values{"account": {"work"}}).want(t, http.StatusOK, "Credential deleted.", "private")
	if names := d.accountNames(c); len(names) != 1 || names[0] != "private" {
		t.Errorf("accounts %v", names)
	}
}

// accountNames returns the names of the shared accounts of a connector.
func (d *dashboard) accountNames(c connectors.Connector) []string {
	d.t.Helper()
	names, err := d.Door().Accounts().Names(d.t.Context(), c.ID, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return names
}

func TestNamedAccounts_OfAMemberHaveTheirPages(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	_, c, path := d.createOwnAgent(ada, bearerAuth)
	b := d.browser()
	b.signIn(ada.Email)
	b.post(path+"/credential", url.Values{"token": {"one"}})
	b.get(path).want(t, http.StatusOK, "Add another account", "Name of the current account")
	b.post(path+"/credential", url.Values{"add": {"true"}, "former": {""}, "account": {"home"}, "token": {"two"}}).
		want(t, http.StatusUnprocessableEntity, "Enter a name.")
	p := b.post(path+"/credential", url.Values{"add": {"true"}, "former": {"work"}, "account": {"home"}, "token": {"two"}})
	if p.Status != http.StatusSeeOther || p.Location != path+"?account=home" {
		t.Fatalf("%d to %q\n%s", p.Status, p.Location, plainText(p.Body))
	}
	if p := b.get(path); p.Location != "/account/connections" {
		t.Errorf("the page of one of several accounts leads to %q", p.Location)
	}
	b.get(path+"?account=work").want(t, http.StatusOK, c.Name+" is connected", "Account name", "work")
	list := b.get("/account/connections")
	list.want(t, http.StatusOK, "work", "home")
	htmlcheck.Parse(t, list.Body).Sound(t)
	if p := b.post(path+"/account/rename", url.Values{"account": {"home"}, "name": {"private"}}); p.Location != path+"?account=private" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	b.post(path+"/disconnect", url.Values{"account": {"private"}})
	if p := b.get("/account/connections"); p.says("private") || !p.says("work") {
		t.Error("another account was disconnected")
	}
}

func TestNamedAccounts_AGrantChoosesOne(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c, a := d.Connector(t, bearerAuth), d.Agent(t)
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug
	b.post(path+"/credential", url.Values{"token": {"one"}})
	grant := "/agents/" + a.Slug + path
	if p := b.get(grant); p.says("Accounts that the agent uses") {
		t.Error("the form asks for the only account")
	}
	b.addAccount(c, "work", "home", "two")
	p := b.get(grant)
	p.want(t, http.StatusOK, "Accounts that the agent uses")
	htmlcheck.Parse(t, p.Body).Sound(t)
	form := func(accounts ...string) url.Values {
		return url.Values{"all": {"false"}, "account": append([]string{""}, accounts...)}
	}
	b.post(grant, form()).want(t, http.StatusUnprocessableEntity, "Choose an account.")
	b.submit(grant, form("home")).want(t, http.StatusOK, "Account home")
	b.get(grant).want(t, http.StatusOK, `name="account" value="home" checked>`, `name="account" value="work">`)
	b.post(path+"/credential/delete", url.Values{"account": {"home"}})
	b.get(grant).want(t, http.StatusOK, "This grant uses the account “home”, which doesn't exist any more.")
	b.submit(grant, form("work")).want(t, http.StatusOK, "Account work")
	b.addAccount(c, "", "night", "three")
	b.submit(grant, form("work", "night")).want(t, http.StatusOK, "Accounts night, work")
	b.get(grant).want(t, http.StatusOK, `name="account" value="night" checked>`, `name="account" value="work" checked>`)
	b.submit(grant, form("work", "elsewhere")).want(t, http.StatusOK, "Accounts elsewhere, work")
	b.get(grant).want(t, http.StatusOK, "This grant uses the account “elsewhere”")
}

func TestNamedAccounts_ALinkSaysWhich(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addOAuthConnector()
	b := d.signInAsRole(connectors.RoleAdmin)
	link := findAddress(t, b.post("/connectors/"+c.Slug+"/connect-link", url.Values{"account": {"work"}}), d.server.URL+"/connect/")
	d.browser().get(strings.TrimPrefix(link, d.server.URL)).want(t, http.StatusOK, "Account name", "work")
}
