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
func (d *dashboard) advancePastConfirmation() { d.signInAhead.Add(int64(11 * time.Minute)) }

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
	form := url.Values{"name": {"Changed"}, "role": {"viewer"}, "email": {"a@example.com"}, "kind": {"a", "b"}}
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
		case p.Status == http.StatusSeeOther && strings.HasPrefix(p.Location, "/confirm?return_to=") && (method == http.MethodGet || row.Afresh != ""):
		case p.Status == http.StatusForbidden && method == http.MethodPost:
			if strings.Contains(p.Body, "s3cret") || !p.says("Nothing has happened yet.") || !strings.Contains(p.Body, `name="confirm_password"`) || !strings.Contains(p.Body, `value="Changed"`) {
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
	sent := heldFormValues(t, b.post(path, url.Values{"role": {"admin"}, "note": {"a", "b"}}), path)
	if sent.Get("role") != "admin" || len(sent["note"]) != 2 {
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
	b.submit(path, url.Values{"role": {"member"}}).want(t, http.StatusOK, "Role changed.") // confirmed for ten minutes
	d.advancePastConfirmation()
	b.post(path, url.Values{"role": {"viewer"}}).want(t, http.StatusForbidden)
}

func TestConfirm_SecretsAreTypedAgain(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	c := d.Connector(t, func(draft *connectors.Draft) { draft.Auth.Type = connectors.AuthBearer })
	d.Credential(t, c.ID, nil, "before")
	for path, form := range map[string]url.Values{
		"/members":                              {"name": {"Grace Hopper"}, "email": {"grace@example.com"}, "role": {"member"}, "password": {"s3cret enough"}},
		"/settings/sso":                         {"issuer": {"https://login.example.com"}, "client_id": {"patchbay-here"}, "client_secret": {"s3cret enough"}},
		"/connectors/" + c.Slug + "/credential": {"token": {"s3cret enough"}},
		"/connectors/" + c.Slug:                 {"name": {"Changed Name"}, "url": {c.URL}, "auth.type": {"bearer"}, "auth.token": {"s3cret enough"}},
		"/account/password":                     {"current_password": {password.Reveal()}, "new_password": {"s3cret enough"}},
	} {
		d.advancePastConfirmation()
		before := d.readSecretHashes()
		sent := heldFormValues(t, b.post(path, form), path)
		sent.Set("confirm_password", password.Reveal())
		p := b.post(path, sent)
		p.want(t, http.StatusUnprocessableEntity, "Enter this again. Secrets aren't kept during confirmation.")
		for name, value := range form {
			if secret := strings.Contains(value[0], "s3cret") || value[0] == password.Reveal(); !secret && name != "role" && name != "auth.type" && !strings.Contains(p.Body, value[0]) {
				t.Errorf("%s: %s is lost", path, name)
			}
		}
		if strings.Contains(p.Body, "s3cret") {
			t.Errorf("%s shows the secret", path)
		}
		if after := d.readSecretHashes(); after != before {
			t.Errorf("%s has changed something", path)
		}
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
	d.advancePastConfirmation()
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
