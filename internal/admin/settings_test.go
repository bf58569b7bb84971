package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/admin"
	"patchbay/internal/connectors"
)

func TestSettings_ShowHistoryRetention(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	owner.get("/settings").want(t, http.StatusOK, "30 to 90; empty: 90, the default.", "Oldest entry", "No history yet")
	d.OldCalls(t, d.Connector(t), "search", 40, 1)
	form := func(days string) url.Values { return url.Values{"name": {"Acme"}, "history_days": {days}} }
	for _, wrong := range []string{"7", "91", "x"} {
		owner.post("/settings", form(wrong)).want(t, http.StatusUnprocessableEntity, "Must be 30–90 days, or the installation's default.")
	}
	owner.submit("/settings", form("45")).want(t, http.StatusOK, "Settings saved.", `value="45"`, time.Now().UTC().AddDate(0, 0, -40).Format("2 Jan 2006"))
	owner.submit("/settings", form("")).want(t, http.StatusOK, "Settings saved.", `value=""`)
	self, err := d.Door().Self(t.Context())
	if err != nil || self.HistoryDays != 0 {
		t.Errorf("%+v, %v", self, err)
	}
}

// defaultsForm is a form with defaults other than the documented ones.
func defaultsForm() url.Values {
	return url.Values{
		"name": {"Acme"}, "defaults.approval": {"trusted_only"}, "defaults.sync_interval_s": {"3600"}, "defaults.max_definition_age_s": {"0"},
		"defaults.tool_changes": {"hold_all"}, "defaults.listen": {"off"},
	}
}

func TestSettings_DefaultsApplyToNewThings(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	old := d.Connector(t)
	owner.get("/settings").want(t, http.StatusOK, "existing ones keep their settings", `<option value="900" selected>15 minutes</option>`, `<option value="hold_risky" selected>`)
	owner.submit("/settings", defaultsForm()).want(t, http.StatusOK, "Settings saved.",
		`<option value="3600" selected>1 hour</option>`, `<option value="trusted_only" selected>`, `<option value="hold_all" selected>`, `<option value="off" selected>`)

	owner.get("/connectors/new").want(t, http.StatusOK, `value="3600"`, `<option value="hold_all" selected>`, `<option value="off" selected>`)
	owner.get("/agents/new").want(t, http.StatusOK, `<option value="trusted_only" selected>`)
	owner.submit("/agents", url.Values{"name": {"Support"}}).want(t, http.StatusOK)
	owner.post("/connectors", url.Values{"name": {"Linear"}, "url": {"https://mcp.example.com/mcp"}, "auth.type": {"none"}})
	owner.post("/catalog/stripe/add", nil)
	want := connectors.Defaults{
		Approval: connectors.ApprovalTrustedOnly, SyncInterval: time.Hour, ToolChanges: connectors.ToolChangesHoldAll, Listen: connectors.ListenOff,
	}
	for ref, want := range map[connectors.Ref]connectors.Defaults{"linear": want, "stripe": want, connectors.Ref(old.Slug): connectors.ContractDefaults()} {
		c, err := d.Door().Connectors().Get(t.Context(), ref)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		got := connectors.Defaults{Approval: want.Approval, SyncInterval: c.SyncInterval, DefinitionAge: c.DefinitionAge, ToolChanges: c.ToolChanges, Listen: c.Listen}
		if got != want {
			t.Errorf("%s begins with %+v, want %+v", ref, got, want)
		}
	}
	agent, err := d.Door().Agents().Get(t.Context(), "support")
	if err != nil || agent.Approval != connectors.ApprovalTrustedOnly {
		t.Errorf("%+v, %v", agent, err)
	}
	owner.get("/audit?action=tenant.set_defaults").want(t, http.StatusOK, "tenant.set_defaults", "trusted_only")
}

func TestSettings_DownAfterIsSavedAndChecked(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	owner.get("/settings").want(t, http.StatusOK, "Down after failed syncs", `name="down_after_failures"`, `name="down_after_minutes"`)
	owner.submit("/settings", url.Values{"name": {"Acme"}, "down_after_failures": {"5"}, "down_after_minutes": {"45"}}).want(t, http.StatusOK, "Settings saved.")
	owner.submit("/settings", url.Values{"name": {"Acme"}}) // a form without the fields changes nothing
	self, err := d.Door().Self(t.Context())
	if want := (connectors.DownAfter{Failures: 5, Minutes: 45}); err != nil || self.DownAfter != want {
		t.Errorf("%+v, %v", self.DownAfter, err)
	}
	owner.post("/settings", url.Values{"name": {"Acme"}, "down_after_failures": {"0"}, "down_after_minutes": {"99999"}}).
		want(t, http.StatusUnprocessableEntity, "Must be 1–100 failed syncs.", "Must be 1–10080 minutes.")
}

func TestSettings_TokenExchangeIsSaved(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	for _, value := range []string{"true", "false"} {
		owner.submit("/settings", url.Values{"name": {"Acme"}, "token_exchange": {value}}).want(t, http.StatusOK, "Settings saved.", `value="`+value+`" selected`)
		owner.submit("/settings", url.Values{"name": {"Acme"}}) // a form without the field changes nothing
		if self, err := d.Door().Self(t.Context()); err != nil || self.TokenExchange != (value == "true") {
			t.Errorf("%+v, %v", self, err)
		}
	}
}

// An admin saves the form of a connector with token exchange, but changes nothing of where members are named.
func TestSettings_TokenExchangeIsAnOwners(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	if err := d.Door().Accounts().SetTokenExchange(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	c := d.Connector(t, func(c *connectors.Draft) {
		c.URL, c.Auth.Type, c.CredentialMode = "https://mcp.example.com/mcp", connectors.AuthOAuth2, connectors.CredentialPerAgent
		c.OAuth = connectors.OAuthSettings{ClientID: "patchbay", Issuer: "https://login.example.com", TokenExchange: connectors.ExchangeActClaim}
	})
	form := url.Values{
		"url": {c.URL}, "name": {c.Name}, "transport": {"streamable_http"}, "description": {"Of an admin."}, "auth.type": {"oauth2"}, "credential_mode": {"per_agent"},
		"auth.client_id": {"patchbay"}, "auth.scopes": {""}, "auth.issuer": {"https://login.example.com"}, "auth.token_exchange": {"act_claim"},
		"auth.authorization_endpoint": {""}, "auth.token_endpoint": {""}, "auth.resource": {""}, "auth.token_endpoint_auth_method": {""},
	}
	admin, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug
	admin.submit(path, form).want(t, http.StatusOK, "Settings saved.")
	form.Set("url", "https://mcp.example.com/other")
	admin.post(path, form).want(t, http.StatusForbidden, "Only an owner sets up token exchange")
}

func TestSettings_RefuseInvalidResultsIsSaved(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	owner.get("/settings").want(t, http.StatusOK, "Results that don't match their schema", `value="record" selected`)
	owner.submit("/settings", url.Values{"name": {"Acme"}, "invalid_results": {"refuse"}}).want(t, http.StatusOK, "Settings saved.", `value="refuse" selected`)
	owner.submit("/settings", url.Values{"name": {"Acme"}}) // a form without the field changes nothing
	if self, err := d.Door().Self(t.Context()); err != nil || !self.RefuseInvalidResults {
		t.Errorf("%+v, %v", self, err)
	}
	owner.submit("/settings", url.Values{"name": {"Acme"}, "invalid_results": {"record"}}).want(t, http.StatusOK, "Settings saved.")
	if self, err := d.Door().Self(t.Context()); err != nil || self.RefuseInvalidResults {
		t.Errorf("%+v, %v", self, err)
	}
}

func TestSettings_CardsSaveAloneAndDurationsAreExact(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	custom := func(number, unit string) url.Values {
		return url.Values{"card": {"call-settings"}, "approval_timeout_s": {"custom"}, "approval_timeout_s_number": {number}, "approval_timeout_s_unit": {unit}}
	}
	before, err := d.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	owner.submit("/settings", custom("95", "1")).want(t, http.StatusOK, "Settings saved.", `<option value="95" selected>95 seconds</option>`)
	owner.submit("/settings", custom("7", "60")).want(t, http.StatusOK, `<option value="420" selected>7 minutes</option>`)
	self, err := d.Door().Self(t.Context())
	if err != nil || self.ApprovalTimeout != 7*time.Minute || self.Name != before.Name {
		t.Errorf("%+v, %v", self, err)
	}
	wrong := owner.post("/settings", custom("x", "60"))
	wrong.want(t, http.StatusUnprocessableEntity, "Enter a whole number.", `<option value="custom" selected>`, `value="`+before.Name+`"`, `<option value="900" selected>`)
}

func TestSettings_WrongDefaultsAreFieldErrors(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	for field, wrong := range map[string][2]string{
		"defaults.sync_interval_s":      {"59", "Must be 0 (never), or 1 minute to 365 days."},
		"defaults.max_definition_age_s": {"x", "Enter a whole number."},
		"defaults.approval":             {"sometimes", "Choose"},
		"defaults.listen":               {"always", "Choose"},
	} {
		form := defaultsForm()
		form.Set(field, wrong[0])
		owner.post("/settings", form).want(t, http.StatusUnprocessableEntity, wrong[1])
	}
	self, err := d.Door().Self(t.Context())
	if err != nil || self.Defaults != connectors.ContractDefaults() {
		t.Errorf("%+v, %v", self.Defaults, err)
	}
	d.signInAsRole(connectors.RoleAdmin).post("/settings", defaultsForm()).want(t, http.StatusForbidden)
}

func TestSettings_ShowKeysAndInstallation(t *testing.T) {
	t.Parallel()
	d := newDashboard(t, func(o *admin.Options) { o.Version = "v1.2.3-test" })
	d.Credential(t, d.Connector(t).ID, nil, "s3cret")
	own, err := d.Door().SealingKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := d.signInAsRole(connectors.RoleOwner).get("/settings")
	p.want(t, http.StatusOK, own.Primary.String(), "yours alone", "Encrypts new data", "Last rotated", "v1.2.3-test",
		d.base+"/oauth/callback", d.base+"/mcp", `href="/webhooks"`, `href="#security"`)
	if strings.Contains(p.Body, "s3cret") {
		t.Error("the page has a secret")
	}
}
