package admin_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

// connectorForm is the form of a new connector as sent without script: with the fields of every auth type.
func connectorForm(name, address string, more ...string) url.Values {
	form := url.Values{
		"name": {name}, "url": {address}, "slug": {""}, "description": {""}, "transport": {"streamable_http"},
		"credential_mode": {"shared"}, "headers": {""}, "timeout_ms": {"5000"}, "retry_attempts": {"0"},
		"sync_interval_s": {"900"}, "enabled": {"true"},
		"auth.type": {"none"}, "auth.token": {""}, "auth.key": {""}, "auth.header": {""}, "auth.username": {""}, "auth.password": {""},
	}
	for i := 0; i+1 < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

func TestConnectorIsAddedFromItsForm(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/connectors/new").want(t, http.StatusOK, "Test connection")
	p := b.post("/connectors", connectorForm("Linear Issues", "https://mcp.example.com/mcp",
		"auth.type", "bearer", "auth.token", "tok-1234567890", "auth.password", "filled in by the browser", "headers", "X-Team: eu\n\nX-Area:  7 \r\n"))
	if p.Status != http.StatusSeeOther || p.Location != "/connectors/linear-issues/start" {
		t.Fatalf("%d to %q\n%s", p.Status, p.Location, plainText(p.Body))
	}
	b.get(p.Location).want(t, http.StatusOK, "Added “Linear Issues”.", "Sync failed")
	b.get("/connectors/linear-issues").want(t, http.StatusOK, "Bearer · shared", "X-Area, X-Team")
	c, err := d.Door().Connectors().Get(t.Context(), "linear-issues")
	if err != nil || c.Headers["X-Team"] != "eu" || c.Headers["X-Area"] != "7" || c.SyncInterval.Seconds() != 900 {
		t.Errorf("stored %+v, %v", c, err)
	}
	b.get("/connectors/linear-issues/credentials").want(t, http.StatusOK, "All agents", "Stored")
}

func TestWrongFieldsAreToldBesideThem(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	form := connectorForm("", "ftp://example.com", "timeout_ms", "soon", "auth.type", "bearer", "auth.token", "s3cret-token-value")
	p := b.post("/connectors", form)
	p.want(t, http.StatusUnprocessableEntity, "Enter a whole number.", "ftp://example.com")
	form.Set("timeout_ms", "1000")
	p = b.post("/connectors", form)
	p.want(t, http.StatusUnprocessableEntity, "Enter a name.", "Enter an http:// or https:// URL with a host.")
	if p.says("s3cret-token-value") {
		t.Error("the page repeats the secret")
	}
	d.Connector(t, func(c *connectors.Draft) { c.Name = "Linear" })
	b.post("/connectors", connectorForm("Linear", "https://mcp.example.com/mcp")).want(t, http.StatusConflict, "Linear")
	b.post("/connectors", connectorForm("Odd", "https://mcp.example.com/mcp", "headers", "no colon")).
		want(t, http.StatusUnprocessableEntity, "One header per line, like X-Team: eu, no duplicates.")
}

func TestConnectionIsTestedBeforeSaving(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{
		Bearer: "the-right-token",
		Tools:  []string{mcptest.Tool("create_issue"), mcptest.Tool("search"), `{"name":7}`},
	})
	b := d.signInAsRole(connectors.RoleAdmin)
	form := connectorForm("Linear", up.URL, "auth.type", "bearer", "auth.token", "the-right-token")
	p := b.post("/connectors/test", form)
	p.want(t, http.StatusOK, "Linear answered with 2 tools.", "create_issue", "mcptest", up.URL)
	if p.says("the-right-token") {
		t.Error("the page repeats the secret")
	}
	form.Del("name")
	b.post("/connectors/test", form).want(t, http.StatusOK, "The server answered with 2 tools.")
	form.Set("name", "Linear")
	form.Set("auth.token", "another-token")
	b.post("/connectors/test", form).want(t, http.StatusOK, "No connection", "unauthorized", "401 Unauthorized")

	b.header.Set("HX-Request", "true")
	p = b.post("/connectors/test", form)
	p.want(t, http.StatusOK, "No connection")
	if strings.Contains(p.Body, "<html") || !strings.Contains(p.Body, `id="test-result"`) {
		t.Error("a script gets more than the panel")
	}
	form.Set("url", "ftp://nonsense")
	b.post("/connectors/test", form).want(t, http.StatusUnprocessableEntity, `data-field="url"`, "Enter an http:// or https:// URL with a host.")
	list, err := d.Door().Connectors().List(t.Context(), store.ConnectorFilter{})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("stored: %d, %v", len(list.Items), err)
	}
}

func TestConnectorTest_UsesStoredSecret(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Bearer: "the-right-token", Tools: []string{mcptest.Tool("search")}})
	elsewhere := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("harvest")}})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.post("/connectors", connectorForm("Linear", up.URL, "auth.type", "bearer", "auth.token", "the-right-token"))
	c, err := d.Door().Connectors().Get(t.Context(), "linear")
	if err != nil {
		t.Fatal(err)
	}
	form := connectorForm("Linear", up.URL, "auth.type", "bearer", "id", c.ID.String(), "version", "1", "slug", "linear")
	b.post("/connectors/test", form).want(t, http.StatusOK, "Linear answered with 1 tool.")
	form.Set("url", elsewhere.URL)
	b.post("/connectors/test", form)
	for _, call := range elsewhere.Calls() {
		if strings.Contains(call.Header.Get("Authorization"), "the-right-token") {
			t.Fatal("the stored secret went to another origin")
		}
	}
}

func TestConnectorSettings_EmptySecretIsKept(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.post("/connectors", connectorForm("Linear", "https://mcp.example.com/mcp", "auth.type", "bearer", "auth.token", "stored-token-1"))
	p := b.get("/connectors/linear/settings")
	p.want(t, http.StatusOK, "https://mcp.example.com/mcp", "Leave empty to keep the stored secret.", "sync runs")
	if p.says("stored-token-1") {
		t.Error("the page shows the secret")
	}
	edit := connectorForm("Linear", "https://mcp.example.com/mcp", "auth.type", "bearer", "slug", "linear", "version", "1", "timeout_ms", "7000")
	b.submit("/connectors/linear", edit).want(t, http.StatusOK, "Settings saved.", `value="7000"`)
	b.get("/connectors/linear/credentials").want(t, http.StatusOK, "Stored")

	edit.Set("timeout_ms", "8000") // still version 1, while the stored one is newer
	b.post("/connectors/linear", edit).want(t, http.StatusConflict, `value="8000"`)

	edit.Set("version", "2")
	edit.Set("url", "https://elsewhere.example.com/mcp")
	edit.Set("name", "Typed meanwhile")
	b.post("/connectors/linear", edit).want(t, http.StatusConflict, "Move to another origin?", "Deletes the stored secret.",
		"https://elsewhere.example.com/mcp", "Typed meanwhile", "Move and delete credentials")
	b.get("/connectors/linear/credentials").want(t, http.StatusOK, "Stored", "https://mcp.example.com")
	edit.Set("name", "Linear")
	edit.Set("confirm", "true")
	b.submit("/connectors/linear", edit).
		want(t, http.StatusOK, "Stored secret deleted, because the URL moved to another origin. Set it again.")
	b.get("/connectors/linear/credentials").want(t, http.StatusOK, "Not set")
}

func TestConnectorIsDisabledEnabledAndDeleted(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	path := "/connectors/" + c.Slug
	b.submit(path+"/enabled", url.Values{"enabled": {"false"}}).want(t, http.StatusOK, "Disabled “"+c.Name+"”.", "Disabled")
	b.submit(path+"/enabled", url.Values{"enabled": {"true"}}).want(t, http.StatusOK, "Enabled “"+c.Name+"”.", "Never synced")
	b.submit(path+"/delete", nil).want(t, http.StatusOK, "Deleted “"+c.Name+"”.", "Add your first connector")
	b.get(path).want(t, http.StatusNotFound)
}

// Field names are not translated.
func TestConnectorIsEnabledInEveryLanguage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.header.Set("Accept-Language", "de")
	for _, want := range []bool{false, true} {
		b.submit("/connectors/"+c.Slug+"/enabled", url.Values{"enabled": {strconv.FormatBool(want)}}).want(t, http.StatusOK)
		if now, err := d.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug)); err != nil || now.Enabled != want {
			t.Errorf("enabled %t, want %t; %v", now.Enabled, want, err)
		}
	}
}

func TestAgentsHaveCredentialsOfTheirOwn(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/agents", url.Values{"name": {"Support"}}).want(t, http.StatusOK, "Added “Support”.")
	p := b.post("/connectors", connectorForm("Linear", "https://mcp.example.com/mcp", "auth.type", "api_key", "credential_mode", "per_agent"))
	if p.Location != "/connectors/linear/credentials" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	path := "/connectors/linear/agents/support/credential"
	b.post(path, url.Values{"key": {""}}).want(t, http.StatusUnprocessableEntity, "Enter the key.")
	p = b.submit(path, url.Values{"key": {"key-of-support"}})
	p.want(t, http.StatusOK, "Credential saved. Sync to use it.", "Support", "Stored")
	if p.says("key-of-support") {
		t.Error("the page shows the secret")
	}
	b.get("/agents/support").want(t, http.StatusOK, "Linear", "Stored")
	b.submit(path+"/delete", nil).want(t, http.StatusOK, "Credential deleted.", "Not set")
	b.get("/agents/support").want(t, http.StatusOK, "Linear", "Not set")
	b.post("/connectors/linear/credential", url.Values{"key": {"x"}}).want(t, http.StatusConflict)
	b.submit("/agents/support", url.Values{"name": {"Helpdesk"}, "slug": {"support"}}).want(t, http.StatusOK, "Helpdesk", "Agent saved.")
	b.post("/agents/support", url.Values{"name": {""}}).want(t, http.StatusUnprocessableEntity, "Enter a name.")
	b.submit("/agents/support/delete", nil).want(t, http.StatusOK, "Deleted “Helpdesk”.")
}

// Durations are chosen as people say them. One that the list has not, set by a program, is kept.
func TestConnectorForm_DurationsAreWordsAndAreKept(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/connectors/new").want(t, http.StatusOK, `<option value="30000" selected>30 seconds</option>`, `<option value="900" selected>15 minutes</option>`,
		`<option value="250" selected>250 ms</option>`, `<option value="0">Never</option>`)
	c := d.Connector(t, func(n *connectors.Draft) {
		n.Name, n.Slug, n.Timeout, n.SyncInterval, n.RetryBackoff, n.DefinitionAge = "Linear", "linear", 12345*time.Millisecond, 7*time.Minute, 333*time.Millisecond, 95*time.Second
	})
	page := b.get("/connectors/linear/settings")
	page.want(t, http.StatusOK, `<option value="12345" selected>12345 ms</option>`, `<option value="420" selected>7 minutes</option>`,
		`<option value="333" selected>333 ms</option>`, `<option value="95" selected>95 seconds</option>`)
	form := connectorForm(c.Name, c.URL, "slug", "linear", "version", "1", "timeout_ms", "12345", "sync_interval_s", "420", "retry_backoff_ms", "333", "max_definition_age_s", "95")
	b.submit("/connectors/linear", form).want(t, http.StatusOK, "Settings saved.")
	if now, err := d.Door().Connectors().Get(t.Context(), "linear"); err != nil || now.Timeout != c.Timeout || now.SyncInterval != c.SyncInterval || now.RetryBackoff != c.RetryBackoff || now.DefinitionAge != c.DefinitionAge {
		t.Errorf("%+v, %v", now.Settings, err)
	}
	custom := connectorForm(c.Name, c.URL, "slug", "linear", "version", "2", "timeout_ms", "custom", "timeout_ms_number", "2", "timeout_ms_unit", "60000", "sync_interval_s", "custom", "sync_interval_s_number", "3", "sync_interval_s_unit", "3600")
	b.submit("/connectors/linear", custom).want(t, http.StatusOK, `<option value="120000" selected>2 minutes</option>`, `<option value="10800" selected>3 hours</option>`)
	custom.Set("version", "3")
	custom.Set("timeout_ms_number", "half")
	b.post("/connectors/linear", custom).want(t, http.StatusUnprocessableEntity, "Enter a whole number.", `<option value="custom" selected>`, `value="half"`)
	custom.Set("timeout_ms_number", "10")
	b.post("/connectors/linear", custom).want(t, http.StatusUnprocessableEntity, "Must be 1 second to 5 minutes.", `<option value="600000" selected>10 minutes</option>`)
}
