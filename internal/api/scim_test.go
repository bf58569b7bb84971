package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/scim"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

func newSCIM(t *testing.T, st *store.Store) *scim.Service {
	t.Helper()
	s, err := scim.New(scim.Options{Store: st, BaseURL: parseURL(t, baseURL), Rate: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// enableSCIM turns SCIM on in a tenant where it is off.
func (w *world) enableSCIM(t *testing.T, tenant connectors.TenantID) {
	t.Helper()
	self, err := w.St.Tenant(tenant).Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := newSCIM(t, w.St).Enable(t.Context(), auth.Operator(self)); err != nil && !fault.Is(err, fault.Conflict) {
		t.Fatal(err)
	}
}

// providerWorld is a tenant with SCIM, and the ids of a user and a group.
type providerWorld struct {
	w           *world
	handler     http.Handler
	token       secret.Text
	user, group string
}

func newProvider(t *testing.T, w *world) *providerWorld {
	t.Helper()
	w.Member(t, connectors.RoleOwner) // a tenant keeps an owner
	service := newSCIM(t, w.St)
	_, token, err := service.Enable(t.Context(), w.newOperator(t))
	if err != nil {
		t.Fatal(err)
	}
	r := chi.NewRouter()
	service.Mount(r)
	p := &providerWorld{w: w, handler: r, token: token}
	return p
}

// populate creates a user with role viewer, and a group that gives role admin.
func (p *providerWorld) populate(t *testing.T) {
	t.Helper()
	settings := connectors.SSO{
		Issuer: "https://idp.example.com", ClientID: "a", GroupsClaim: "groups", DefaultRole: connectors.RoleViewer,
		Groups: []connectors.GroupRole{{Group: "Admins", Role: connectors.RoleAdmin}},
	}
	if err := p.w.Door().SSO().Save(t.Context(), settings, "s"); err != nil {
		t.Fatal(err)
	}
	if err := p.request(t, "POST", "Users", `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "kim@example.com"}`)(); err != nil {
		t.Fatal(err)
	}
	if err := p.request(t, "POST", "Groups", `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Admins"}`)(); err != nil {
		t.Fatal(err)
	}
	users, _, err := p.w.Door().SCIM().Users(t.Context(), connectors.SCIMFilter{}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	groups, _, err := p.w.Door().SCIM().Groups(t.Context(), connectors.SCIMFilter{}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	p.user, p.group = users[0].ID.String(), groups[0].ID.String()
}

// request sends a request of the provider. {user} and {group} are their ids.
func (p *providerWorld) request(t *testing.T, method, path, body string) func() error {
	t.Helper()
	fill := strings.NewReplacer("{user}", p.user, "{group}", p.group)
	return func() error {
		r := httptest.NewRequestWithContext(t.Context(), method, "/scim/v2/"+fill.Replace(path), strings.NewReader(fill.Replace(body)))
		r.Header.Set("Authorization", "Bearer "+p.token.Reveal())
		rec := httptest.NewRecorder()
		p.handler.ServeHTTP(rec, r)
		if rec.Code >= 300 {
			return fault.Errorf(fault.Internal, "status %d: %s", rec.Code, rec.Body)
		}
		return nil
	}
}

// providerAction is an action of the provider on its user and group.
func providerAction(method, path, body string) func(*testing.T, *world) func() error {
	return func(t *testing.T, w *world) func() error {
		t.Helper()
		p := newProvider(t, w)
		p.populate(t)
		return p.request(t, method, path, body)
	}
}

const patchHead = `{"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": [`

// scimActions are the actions of SCIM.
var scimActions = map[string]actionCase{
	"scim.enable": {thing: "scim", prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		return w.sendRequest(t, w.createKey(t, connectors.RoleOwner), http.MethodPost, "/api/v1/scim", nil)
	}},
	"scim.rotate_token": {thing: "scim", prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		newProvider(t, w)
		return w.sendRequest(t, w.createKey(t, connectors.RoleOwner), http.MethodPost, "/api/v1/scim/rotate_token", nil)
	}},
	"scim.disable": {thing: "scim", prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		newProvider(t, w)
		return w.sendRequest(t, w.createKey(t, connectors.RoleOwner), http.MethodDelete, "/api/v1/scim", nil)
	}},
	"scim.user_create": {thing: "scim user", alsoChanges: true, prepare: providerAction("POST", "Users",
		`{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "lee@example.com"}`)},
	"scim.user_update": {thing: "scim user", alsoChanges: true, prepare: providerAction("PATCH", "Users/{user}", patchHead+`{"op": "replace", "path": "externalId", "value": "7"}]}`)},
	"scim.user_delete": {thing: "scim user", alsoChanges: true, prepare: providerAction("DELETE", "Users/{user}", "")},
	"scim.group_create": {thing: "scim group", alsoChanges: true, prepare: providerAction("POST", "Groups",
		`{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Staff", "members": [{"value": "{user}"}]}`)},
	"scim.group_update": {thing: "scim group", alsoChanges: true, prepare: providerAction("PATCH", "Groups/{group}", patchHead+`{"op": "add", "path": "members", "value": [{"value": "{user}"}]}]}`)},
	"scim.group_delete": {thing: "scim group", alsoChanges: true, prepare: providerAction("DELETE", "Groups/{group}", "")},
	"scim.refuse": {alsoChanges: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		owner := w.Member(t, connectors.RoleOwner)
		w.AsOwner(t, "delete from memberships where role = 'owner' and user_id <> '"+owner.UserID.String()+"'")
		service := newSCIM(t, w.St)
		_, token, err := service.Enable(t.Context(), w.newOperator(t))
		if err != nil {
			t.Fatal(err)
		}
		r := chi.NewRouter()
		service.Mount(r)
		p := &providerWorld{w: w, handler: r, token: token}
		send := p.request(t, "POST", "Users", `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "`+owner.Email+`", "active": false}`)
		return func() error {
			if err := send(); err == nil || !strings.Contains(err.Error(), "409") {
				return fault.Errorf(fault.Internal, "the last owner: %v", err)
			}
			return nil
		}
	}},
	"member.rename": {thing: "member", alsoChanges: true, prepare: providerAction("PATCH", "Users/{user}", patchHead+`{"op": "replace", "path": "displayName", "value": "Kim"}]}`)},
}

func TestSCIM_SettingsShowTheTokenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.createKey(t, connectors.RoleOwner)
	if got := w.call(t, key, http.MethodGet, "/api/v1/scim", ""); got.status != http.StatusOK || !strings.Contains(string(got.body), `"enabled":false`) {
		t.Errorf("off: %d %s", got.status, got.body)
	}
	made := w.call(t, key, http.MethodPost, "/api/v1/scim", "")
	if made.status != http.StatusCreated || strings.Count(string(made.body), "pb_scim_") != 2 || !strings.Contains(string(made.body), baseURL+"/scim/v2") {
		t.Errorf("on: %d %s", made.status, made.body)
	}
	if got := w.call(t, key, http.MethodPost, "/api/v1/scim", ""); got.status != http.StatusConflict {
		t.Errorf("on again: %d %s", got.status, got.body)
	}
	if got := w.call(t, key, http.MethodGet, "/api/v1/scim", ""); strings.Contains(string(got.body), `"token":`) || !strings.Contains(string(got.body), `"enabled":true`) {
		t.Errorf("later: %s", got.body)
	}
	if got := w.call(t, key, http.MethodPost, "/api/v1/scim/rotate_token", ""); got.status != http.StatusOK || !strings.Contains(string(got.body), `"token":"pb_scim_`) {
		t.Errorf("rotated: %d %s", got.status, got.body)
	}
}
