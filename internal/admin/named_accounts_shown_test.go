package admin_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/htmlcheck"
)

// storeNamedAccount connects an account with a name and a token that cannot be refreshed.
func (d *dashboard) storeNamedAccount(c connectors.Connector, agent *connectors.AgentID, name string, life time.Duration) {
	d.t.Helper()
	err := d.Door().Accounts().SaveGrant(d.t.Context(), store.NewGrant{
		ConnectorID: c.ID, AgentID: agent, Name: name, Origin: connectors.Origin(c.URL),
		GrantTokens: store.GrantTokens{AccessToken: "access", ExpiresAt: new(time.Now().Add(life)), Scopes: []string{"read"}},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// grantNotes creates the agent "support" with a grant of a tool of the connector "notes".
func (d *dashboard) grantNotes(opts ...func(*connectors.Draft)) (connectors.Connector, connectors.Agent) {
	d.t.Helper()
	c := d.Connector(d.t, append(opts, func(c *connectors.Draft) { c.Name, c.Slug = "Notes", "notes" })...)
	d.Synced(d.t, c.ID, "search")
	a := d.Agent(d.t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	d.Grant(d.t, a.ID, c.ID, fixture.Named("search"))
	return c, a
}

// newWords are those of pages about several accounts.
var newWords = regexp.MustCompile(`(?i)\bdefault<|[·(] ?default\b|account default|account name|several accounts|choose an account|account that the agent|used for syncs|use for syncs|rename`)

func TestNamedAccounts_OneAddsNoWords(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	_, a := d.grantNotes(bearerAuth)
	b.post("/connectors/notes/credential", url.Values{"token": {"one"}})
	mail := d.addOAuthConnector(func(c *connectors.Draft) {
		c.Name, c.Slug, c.CredentialMode = "Mail", "mail", connectors.CredentialPerAgent
	})
	d.Synced(t, mail.ID, "send")
	d.Grant(t, a.ID, mail.ID)
	d.storeAccount(mail, &a.ID, time.Hour)
	for _, page := range []string{
		"/", "/notices", "/connectors", "/connectors/notes", "/connectors/notes/access", "/connectors/notes/credentials", "/connectors/mail/credentials", "/agents/support",
		"/agents/support/access", "/agents/support/connectors/notes", "/agents/support/connectors/mail", "/agents/support/tools", "/agents/support/tools/mcp_notes__search", "/audit",
	} {
		p := b.get(page)
		p.want(t, http.StatusOK)
		body := p.Body
		if at := strings.Index(body, `class="another"`); at >= 0 { // the form of a second account
			body = body[:at] + body[at+strings.Index(body[at:], "</form>"):]
		}
		if found := newWords.FindString(body); found != "" {
			t.Errorf("%s says %q", page, found)
		}
	}
}

func TestNamedAccounts_WhyNamesTheAccount(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	c, _ := d.grantNotes(bearerAuth)
	b.post("/connectors/notes/credential", url.Values{"token": {"one"}})
	b.addAccount(c, "work", "home", "two")
	const why = "/agents/support/tools/mcp_notes__search"
	b.get(why).want(t, http.StatusOK, "No account chosen", "shared, none of several chosen", "There are several accounts.")
	b.post("/agents/support/connectors/notes", url.Values{"all": {"true"}, "account": {"home"}})
	p := b.get(why)
	p.want(t, http.StatusOK, "shared · home · stored")
	htmlcheck.Parse(t, p.Body).Sound(t)
	b.get("/agents/support/access").want(t, http.StatusOK, "Account home")
	b.post("/connectors/notes/credential/delete", url.Values{"account": {"home"}})
	b.get(why).want(t, http.StatusOK, "shared · home, not set", "is not connected. Connect it")
}

func TestNamedAccounts_AgentOverviewTellsThemApart(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	_, a := d.grantNotes(bearerAuth, func(c *connectors.Draft) { c.CredentialMode = connectors.CredentialPerAgent })
	path := "/connectors/notes/agents/" + a.Slug + "/credential"
	b.post(path, url.Values{"token": {"one"}})
	b.post(path, url.Values{"add": {"true"}, "former": {"work"}, "account": {"home"}, "token": {"two"}})
	p := b.get("/agents/support")
	for _, name := range []string{"work", "home"} {
		id := "credential-support." + name
		p.want(t, http.StatusOK, `href="/connectors/notes/credentials#`+id+`"`, ">"+name+"<")
		b.get("/connectors/notes/credentials").want(t, http.StatusOK, `id="`+id+`"`, `id="credential-support"`, "2 accounts")
	}
	htmlcheck.Parse(t, p.Body).Sound(t)
}

func TestNamedAccounts_ReconnectLeadsToTheRightOne(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	c := d.addOAuthConnector(func(c *connectors.Draft) { c.Name, c.Slug = "Notes", "notes" })
	d.storeNamedAccount(c, nil, "home", 5*time.Hour)
	d.storeNamedAccount(c, nil, "work", 200*time.Hour)
	const link = `href="/connectors/notes/credentials#credential-shared.home"`
	p := b.get("/connectors")
	p.want(t, http.StatusOK, "1 account to reconnect", link, ">home<")
	b.get("/").want(t, http.StatusOK, "Expiring accounts", link, "Shared account · home")
	if n, err := d.St.System().NoticeLapsing(t.Context(), 72*time.Hour, 10); err != nil || n != 1 {
		t.Fatalf("%d notices, %v", n, err)
	}
	b.get("/notices").want(t, http.StatusOK, "Access to Notes (home) expires soon", "/connectors/notes/credentials#credential-shared.home")
	page := b.get("/connectors/notes/credentials")
	page.want(t, http.StatusOK, `id="credential-shared.home"`, `id="credential-shared.work"`, `aria-label="Reconnect: All agents · home"`)
	htmlcheck.Parse(t, page.Body).Sound(t)
}

func TestNamedAccounts_FileHasTheNameLast(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	c := d.Connector(t, bearerAuth)
	b.post("/connectors/"+c.Slug+"/credential", url.Values{"token": {"one"}})
	b.addAccount(c, "work", "home", "two")
	lines := strings.Split(strings.TrimSpace(b.get("/exports/connectors/"+c.Slug+"/credentials?format=csv").Body), "\n")
	if len(lines) != 3 || !strings.HasSuffix(strings.TrimSpace(lines[0]), ",error,name") ||
		!strings.HasSuffix(strings.TrimSpace(lines[1]), ",home") || !strings.HasSuffix(strings.TrimSpace(lines[2]), ",work") {
		t.Errorf("%q", lines)
	}
}
