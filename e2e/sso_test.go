//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/testing/browser"
	"patchbay/internal/testing/pgtest"
)

// known is what an organisation's provider says of a person.
type known struct {
	Name     string   `json:"name"`
	Verified bool     `json:"verified"`
	Groups   []string `json:"groups"`
}

// organisation is an installation with people known to a provider: npm's oidc-provider,
// peers/openid-provider.mjs.
type organisation struct {
	*home
	c        client
	base     string
	provider *authorizationServer
}

const providerSecret = "the client's secret at the provider"

func newOrganisation(t *testing.T, people map[string]known) *organisation {
	t.Helper()
	h := newHome(t, "DATABASE_URL="+pgtest.URL(t), "PATCHBAY_PASSWORD="+ownerPassword)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"))
	s := h.serve()
	s.setUp(newPerson(t))
	o := &organisation{home: h, base: s.base, provider: &authorizationServer{t: t}}
	o.c = client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	list, err := json.Marshal(people)
	if err != nil {
		t.Fatal(err)
	}
	line := startPeer(t, []string{
		"CLIENT_ID=patchbay", "CLIENT_SECRET=" + providerSecret, "REDIRECT_URI=" + s.base + "/login/sso/callback", "PEOPLE=" + string(list),
	}, "openid-provider.mjs").line(`{"issuer":`)
	if err := json.Unmarshal([]byte(line), o.provider); err != nil {
		t.Fatal(err)
	}
	return o
}

// arrives goes to the sign-in page in a browser of its own, and signs in at the provider.
func (o *organisation) arrives(email string) *browser.Tab {
	o.t.Helper()
	tab := browser.Open(o.t)
	tab.Go(o.base + "/login")
	tab.Fill("[name=email]", email)
	tab.Click("[formaction='/login/sso']")
	o.provider.agree(tab, email)
	return tab
}

// roles are those of the members, by address.
func (o *organisation) roles() map[string]string {
	o.t.Helper()
	roles := map[string]string{}
	items, _ := o.c.must(http.StatusOK, http.MethodGet, "/api/v1/members", nil)["items"].([]any)
	for _, item := range items {
		m, _ := item.(object)
		email, _ := m["email"].(string)
		roles[email], _ = m["role"].(string)
	}
	return roles
}

func (o *organisation) wantRoles(want map[string]string) {
	o.t.Helper()
	got := o.roles()
	for email, role := range want {
		if got[email] != role {
			o.t.Errorf("%s is %q, want %q", email, got[email], role)
		}
	}
	if len(got) != len(want) {
		o.t.Errorf("the members are %v, want %v", got, want)
	}
}

// TestAnOrganisationsPeopleSignInAtItsProvider sets SSO up in the browser. A new person, a member, and some
// that may not sign in. In the end SSO is enforced.
func TestAnOrganisationsPeopleSignInAtItsProvider(t *testing.T) {
	t.Parallel()
	const ada, grace = "ada@acme.example", "grace@acme.example"
	o := newOrganisation(t, map[string]known{
		ada:                     {Name: "Ada Lovelace", Verified: true, Groups: []string{"staff", "engineers"}},
		grace:                   {Name: "Grace Hopper", Verified: true, Groups: []string{"engineers"}},
		"eve@acme.example":      {Verified: true, Groups: []string{"visitors"}},
		"mallory@acme.example":  {Verified: false, Groups: []string{"engineers"}},
		"bob@elsewhere.example": {Verified: true, Groups: []string{"engineers"}},
	})
	o.run("user", "create", "--tenant", "default", "--email", grace, "--role", "viewer", "--name", "Grace")
	byPassword := newPerson(t)
	signIn := url.Values{"email": {grace}, "password": {ownerPassword}}
	if in := byPassword.post(o.base+"/login", signIn); in.status != http.StatusSeeOther {
		t.Fatalf("a member's password: %d", in.status)
	}

	owner := browser.Open(t)
	look := newLooker(t, owner)
	signInTab(owner, o.base)
	o.setUp(owner, look)
	o.wantRoles(map[string]string{ownerEmail: "owner", grace: "viewer"})

	tab := o.arrives(ada)
	tab.WaitPath("/")
	tab.WaitText("h1", "Welcome to Patchbay")
	o.wantRoles(map[string]string{ownerEmail: "owner", grace: "viewer", ada: "admin"})
	tab.Go(o.base + "/account")
	tab.WaitText("main", ada)
	tab.WaitText("main", "Ada Lovelace")
	tab.Go(o.base + "/connectors/new") // for admins
	tab.WaitText("h1", "connector")

	for email, why := range map[string]string{
		"eve@acme.example":     "None of your provider groups has access here.",
		"mallory@acme.example": "The provider hasn't verified your email address",
	} {
		tab := o.arrives(email)
		tab.WaitText("main", why)
		tab.Forgive("403")
	}
	o.refusesAnotherDomain("bob@elsewhere.example")
	o.wantRoles(map[string]string{ownerEmail: "owner", grace: "viewer", ada: "admin"})

	o.enforce(owner)
	if at := byPassword.get(o.base + "/account"); at.status != http.StatusSeeOther || !strings.HasPrefix(at.location, "/login") {
		t.Errorf("a session by a password, from before: %d %s", at.status, at.location)
	}
	if in := newPerson(t).post(o.base+"/login", signIn); in.status != http.StatusForbidden || !strings.Contains(in.body, "continue with single sign-on: your organisation requires it.") {
		t.Errorf("the right password of a member: %d", in.status)
	}
	signInTab(browser.Open(t), o.base) // the owner that may still use a password
	tab = o.arrives(grace)
	tab.WaitPath("/")
	o.wantRoles(map[string]string{ownerEmail: "owner", grace: "admin", ada: "admin"})
}

// setUp writes the provider into the dashboard's form, has the domain verified from the command line, tries it and turns it on.
func (o *organisation) setUp(tab *browser.Tab, look looker) {
	o.t.Helper()
	save := "form[action='/settings/sso'] > .actions button"
	tab.Go(o.base + "/settings")
	tab.Click("a[href='/settings/sso']")
	tab.WaitPath("/settings/sso")
	tab.Fill("[name=issuer]", o.provider.Issuer)
	tab.Fill("[name=client_id]", "patchbay")
	tab.Fill("[name=client_secret]", providerSecret)
	tab.Click("[name=groups]") // a text area that is empty cannot be emptied by Fill
	tab.Press("engineers = admin")
	tab.Click("[name=joins]")
	tab.Click(save)
	tab.WaitText("body", "Settings saved.")
	tab.WaitText("main", "Test the connection first.")
	if said := o.run("sso", "verify-domain", "--tenant", "default", "acme.example"); said != "acme.example is verified for default." {
		o.t.Errorf("the command says %q", said)
	}
	if said := o.run("sso", "release-domain", "--tenant", "default", "acme.example"); said != "Removed acme.example from default." {
		o.t.Errorf("the command says %q", said)
	}
	if again := o.try("sso", "release-domain", "--tenant", "default", "acme.example"); again.code != 1 || !strings.Contains(again.stderr, "No such domain.") {
		o.t.Errorf("once more: %+v", again)
	}
	o.run("sso", "verify-domain", "--tenant", "default", "acme.example")
	tab.Click("form[action='/settings/sso/test'] button")
	o.provider.agree(tab, "ada@acme.example")
	tab.WaitPath("/settings/sso")
	tab.WaitText("body", "Connection works: signed in as ada@acme.example. Groups: staff, engineers. Role: Admin.")
	tab.WaitText("main", "Verified by operator")
	tab.Click("[name=enabled]")
	tab.Click(save)
	tab.WaitText("body", "Settings saved.")
	tab.WaitText("main header", "On")
	look.at("sso-on")
}

// enforce makes single sign-on the only way, but for the owner.
func (o *organisation) enforce(owner *browser.Tab) {
	o.t.Helper()
	owner.Go(o.base + "/settings/sso")
	owner.Click("[name=enforced]")
	owner.Choose("[name=break_glass]", o.memberID(ownerEmail))
	owner.Click("form[action='/settings/sso'] > .actions button")
	owner.WaitText("main", "On, required")
}

// refusesAnotherDomain begins with an address of the organisation, and signs in at its provider as a person of
// another domain.
func (o *organisation) refusesAnotherDomain(email string) {
	o.t.Helper()
	tab := browser.Open(o.t)
	tab.Go(o.base + "/login")
	tab.Fill("[name=email]", email)
	tab.Click("[formaction='/login/sso']")
	tab.WaitText("main", "This address has no single sign-on.")
	tab.Forgive("422")
	tab.Fill("[name=email]", "anybody@acme.example")
	tab.Click("[formaction='/login/sso']")
	o.provider.agree(tab, email)
	tab.WaitText("main", "Your email domain isn't one of this organisation's.")
	tab.Forgive("403")
}

func (o *organisation) memberID(email string) string {
	o.t.Helper()
	items, _ := o.c.must(http.StatusOK, http.MethodGet, "/api/v1/members", nil)["items"].([]any)
	for _, item := range items {
		if m, _ := item.(object); m["email"] == email {
			id, _ := m["id"].(string)
			return id
		}
	}
	o.t.Fatalf("no member %s", email)
	return ""
}
