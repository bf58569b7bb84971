package admin_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"patchbay/internal/admin"
	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

// advancePastConfirmation moves the clock past the validity of every confirmation.
func (d *dashboard) advancePastConfirmation() { d.signInAhead.Add(int64(61 * time.Minute)) }

func TestConfirmRules_EveryActHasARow(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	rows, mounted := admin.Dangers(), d.routes()
	for _, route := range mounted {
		if row, ok := rows[route]; !ok && !strings.HasPrefix(route, "GET ") {
			t.Errorf("%s has no row in dangers", route)
		} else if ok && row.Because == "" {
			t.Errorf("%s does not say why", route)
		}
	}
	for _, route := range slices.Sorted(maps.Keys(rows)) {
		if !slices.Contains(mounted, route) {
			t.Errorf("%s has a row and is not mounted", route)
		}
	}
}

// Each dangerous action asks first, changes nothing and shows no secret. Others do not ask.
func TestConfirm_DangerousActsAskFirst(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids, b := d.ownThings(), d.signInAsRole(connectors.RoleOwner)
	d.advancePastConfirmation()
	before := d.snapshot()
	form := url.Values{"name": {"Changed"}, "role": {"viewer"}, "email": {"a@example.com"}, "kind": {"a", "b"}, "sure": {"yes"}}
	for _, secret := range []string{"token", "key", "password", "client_secret", "private_key", "env", "auth.token", "current_password", "new_password"} {
		form[secret] = []string{"s3cret"}
	}
	for route, row := range admin.Dangers() {
		method, pattern, _ := strings.Cut(route, " ")
		if !row.Asks {
			continue
		}
		p := b.do(method, ids.fill(pattern), map[bool]url.Values{true: form}[method == http.MethodPost])
		switch {
		case p.Status == http.StatusSeeOther && strings.HasPrefix(p.Location, "/confirm?return_to=") && method == http.MethodGet:
		case p.Status == http.StatusForbidden && method == http.MethodPost:
			if strings.Contains(p.Body, "s3cret") || !p.says("Confirm your password to ") || p.says("Confirm your password to continue") || !strings.Contains(p.Body, `name="confirm_password"`) || strings.Contains(p.Body, "Changed") {
				t.Errorf("%s:\n%s", route, p.Body)
			}
		default:
			t.Errorf("%s: %d to %q", route, p.Status, p.Location)
		}
	}
	d.wantUnchanged(before)
	for route, row := range admin.Dangers() {
		_, pattern, _ := strings.Cut(route, " ")
		if row.Asks || routeRoles[route] == anyone || slices.Contains(signOutRoutes, route) || strings.HasPrefix(pattern, "/confirm") {
			continue
		}
		if p := b.post(ids.fill(pattern), nil); p.Status == http.StatusForbidden || p.says("confirm_password") {
			t.Errorf("%s asks", route)
		}
	}
}

// heldFormValues are the fields of the form for an action, as a browser sends them.
func heldFormValues(t *testing.T, p page, action string) url.Values {
	t.Helper()
	sent, inside := url.Values{}, false
	z := html.NewTokenizer(strings.NewReader(p.Body))
	for z.Next() != html.ErrorToken {
		tok := z.Token()
		attr := map[string]string{}
		for _, a := range tok.Attr {
			attr[a.Key] = a.Val
		}
		switch {
		case tok.Data == "form":
			inside = attr["action"] == action
		case tok.Data == "input" && inside && attr["name"] != "":
			sent.Add(attr["name"], attr["value"])
		}
	}
	if !sent.Has("confirm_password") {
		t.Fatalf("no form asks:\n%s", plainText(p.Body))
	}
	return sent
}

func TestConfirm_ResumesTheHeldForm(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, m := d.signInAsRole(connectors.RoleOwner), d.createMember(connectors.RoleViewer)
	d.advancePastConfirmation()
	path := "/members/" + m.UserID.String() + "/role"
	sent := heldFormValues(t, b.post(path, url.Values{"role": {"admin"}}), path)
	if held := sent.Get("confirm_held"); held == "" || strings.Contains(held, "admin") {
		t.Errorf("%v", sent)
	}
	sent.Set("confirm_password", "not the password")
	wrong := b.post(path, sent)
	wrong.want(t, http.StatusUnprocessableEntity, "Wrong password.")
	sent = heldFormValues(t, wrong, path)
	sent.Set("confirm_password", password.Reveal())
	b.submit(path, sent).want(t, http.StatusOK, "Role changed.")
	if got, err := d.Door().People().Member(t.Context(), m.UserID); err != nil || got.Role != connectors.RoleAdmin {
		t.Errorf("%+v, %v", got, err)
	}
	b.submit(path, url.Values{"role": {"member"}}).want(t, http.StatusOK, "Role changed.") // confirmed for an hour
	d.advancePastConfirmation()
	b.post(path, url.Values{"role": {"viewer"}}).want(t, http.StatusForbidden)
}

func TestConfirm_KeepsSecretsSealed(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	c := d.Connector(t, func(draft *connectors.Draft) { draft.Auth.Type = connectors.AuthBearer })
	d.Credential(t, c.ID, nil, "before")
	for _, act := range []struct {
		path string
		form url.Values
	}{
		{"/members", url.Values{"name": {"Grace Hopper"}, "email": {"grace@example.com"}, "role": {"member"}, "password": {"s3cret enough"}}},
		{"/connectors/" + c.Slug + "/credential", url.Values{"token": {"s3cret enough"}}},
		{"/connectors/" + c.Slug, url.Values{"name": {"Changed Name"}, "url": {c.URL}, "auth.type": {"bearer"}, "auth.token": {"s3cret enough"}}},
		{"/account/password", url.Values{"current_password": {password.Reveal()}, "new_password": {"s3cret enough"}}},
	} {
		d.advancePastConfirmation()
		before := d.readSecretHashes()
		asks := b.post(act.path, act.form)
		sent := heldFormValues(t, asks, act.path)
		if strings.Contains(asks.Body, "s3cret") || d.readSecretHashes() != before {
			t.Errorf("%s shows the secret, or has changed something", act.path)
		}
		sent.Set("confirm_password", password.Reveal())
		if p := b.post(act.path, sent); p.Status != http.StatusSeeOther || d.readSecretHashes() == before {
			t.Errorf("%s: %d, or nothing changed:\n%s", act.path, p.Status, plainText(p.Body))
		}
	}
}

func TestConfirm_HeldFormBelongsToItsActionAndSession(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, other := d.signInAsRole(connectors.RoleOwner), d.signInAsRole(connectors.RoleOwner)
	m := d.createMember(connectors.RoleViewer)
	d.advancePastConfirmation()
	path := "/members/" + m.UserID.String() + "/role"
	sent := heldFormValues(t, b.post(path, url.Values{"role": {"admin"}}), path)
	sent.Set("confirm_password", password.Reveal())
	other.post(path, sent).want(t, http.StatusBadRequest, "Invalid form. Reload the page.")
	b.post("/members/"+m.UserID.String()+"/delete", sent).want(t, http.StatusBadRequest, "Invalid form. Reload the page.")
	if got, err := d.Door().People().Member(t.Context(), m.UserID); err != nil || got.Role != connectors.RoleViewer {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestConfirm_KeepsAnUploadedFile(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	d.advancePastConfirmation()
	asks := b.upload("/connectors/import", "", `{"mcpServers": {"linear": {"url": "https://mcp.linear.example/mcp", "headers": {"X-Api-Key": "s3cret"}}}}`)
	asks.want(t, http.StatusForbidden, "Confirm your password to import connectors.")
	if strings.Contains(asks.Body, "s3cret") {
		t.Error("the page shows the secret")
	}
	sent := heldFormValues(t, asks, "/connectors/import")
	sent.Set("confirm_password", password.Reveal())
	b.post("/connectors/import", sent).want(t, http.StatusOK, "1 created")
}

// A script asks, with the form that waits on its page, and does nothing by that.
func TestConfirm_ScriptAsksFirst(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m, owner := d.createMember(connectors.RoleViewer), d.createMember(connectors.RoleOwner)
	b := d.browser()
	b.signIn(owner.Email)
	path := "/members/" + m.UserID.String() + "/role"
	ask := func(identity, path string, form url.Values) page {
		b.header = http.Header{"Patchbay-Ask": {identity}, "Hx-Request": {"true"}}
		defer func() { b.header = nil }()
		return b.post(path, form)
	}
	here := between(b.get("/agents").Body, `data-identity="`, `"`)
	before := d.snapshot()
	form := url.Values{"role": {"admin"}}
	ask(here, path, form).want(t, http.StatusNoContent)
	d.advancePastConfirmation()
	asks := ask(here, path, form)
	asks.want(t, http.StatusForbidden, "Confirm your password to change this role.")
	if strings.Contains(asks.Body, "<html") {
		t.Error("a page answers, not the content of a dialog")
	}
	ask(here, "/agents", url.Values{"name": {"New"}}).want(t, http.StatusNoContent)
	ask("elsewhere/"+owner.Email, path, form).want(t, http.StatusConflict, "signed in as another person")
	ask(here, "/connectors/import", url.Values{"count": {"3"}}).want(t, http.StatusForbidden, "Confirm your password to import 3 connectors.")
	d.wantUnchanged(before)
	ask(here, "/confirm", url.Values{"confirm_password": {"wrong"}, "act": {"change this role"}}).want(t, http.StatusUnprocessableEntity, "Wrong password.", "to change this role")
	ask(here, "/confirm", url.Values{"confirm_password": {password.Reveal()}}).want(t, http.StatusNoContent)
	b.submit(path, form).want(t, http.StatusOK, "Role changed.")
	b.post("/logout", nil)
	if p := ask(here, path, form); p.Status != http.StatusUnauthorized {
		t.Errorf("signed out: %d", p.Status)
	}
}

// readSecretHashes reads the hashes that these forms would change.
func (d *dashboard) readSecretHashes() (all string) {
	d.t.Helper()
	for _, query := range []string{
		"select count(*)::text from users", "select count(*)::text from sso_settings", "select coalesce(string_agg(encode(sealed, 'hex'), ','), '') from credentials",
		"select string_agg(name, ',' order by id) from connectors", "select coalesce(string_agg(hash, ',' order by user_id), '') from user_passwords",
	} {
		var one string
		d.AsSystem(d.t, query, nil, &one)
		all += one + "\n"
	}
	return all
}

func TestConfirmingWantsTheSecondFactorToo(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m, other := d.createMemberWithFactor(connectors.RoleOwner), d.createMember(connectors.RoleViewer)
	b := d.signInWithoutCode(m)
	b.post("/login/code", url.Values{"code": {d.nextCode(fixture.CodeKey)}})
	d.advancePastConfirmation()
	path := "/members/" + other.UserID.String() + "/role"
	sent := heldFormValues(t, b.post(path, url.Values{"role": {"admin"}}), path)
	sent.Set("confirm_password", password.Reveal())
	b.post(path, sent).want(t, http.StatusUnprocessableEntity, "Wrong or used code. Wait for the next one.")
	if got, err := d.Door().People().Member(t.Context(), other.UserID); err != nil || got.Role != connectors.RoleViewer {
		t.Errorf("%+v, %v", got, err)
	}
	sent.Set("confirm_code", d.nextCode(fixture.CodeKey))
	b.submit(path, sent).want(t, http.StatusOK, "Role changed.")
}

func TestConfirm_GuessesCountAsSignIns(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	d.AsSystem(t, "update browser_sessions set confirmed_at = now() - interval '2 hours'", nil) // the clock stays: guesses count for 15 minutes
	for range 10 {
		b.post("/confirm", url.Values{"confirm_password": {"wrong"}}).want(t, http.StatusUnprocessableEntity)
	}
	b.post("/confirm", url.Values{"confirm_password": {password.Reveal()}}).want(t, http.StatusTooManyRequests, "Too many wrong passwords.")
}

func TestConfirm_ThenExport(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	d.advancePastConfirmation()
	p := b.get("/exports/audit?format=csv")
	asks := b.get(p.Location)
	asks.want(t, http.StatusOK, "Confirm it's you")
	sent := heldFormValues(t, asks, "/confirm")
	sent.Set("confirm_password", password.Reveal())
	if p := b.post("/confirm", sent); p.Location != "/exports/audit?format=csv" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	if p := b.get("/exports/audit?format=csv"); p.Status != http.StatusOK || p.Header.Get("Content-Disposition") == "" {
		t.Errorf("%d %v", p.Status, p.Header)
	}
	sent.Set("return_to", "//evil.example")
	if p := b.post("/confirm", sent); p.Location != "/" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
}
