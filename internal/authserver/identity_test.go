package authserver_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// company is a tenant with the cluster's site as its provider, where identity assertions sign members in.
type company struct {
	*cluster
	member auth.Actor
	client string
}

func newCompany(t *testing.T) *company {
	t.Helper()
	w := &company{cluster: newCluster(t)}
	w.configure(w.Tenant, true)
	w.member = w.person(w.Tenant, connectors.RoleMember)
	w.bind(w.Tenant, w.member, "subject of the member")
	w.client = w.registers(callback)
	return w
}

// configure makes the site the provider of a tenant.
func (w *company) configure(tenant connectors.TenantID, managed bool) {
	w.t.Helper()
	s := connectors.SSO{Issuer: w.site.URL, ClientID: "patchbay", GroupsClaim: "groups", TestedAt: new(time.Now()), Enabled: true, ManagedClients: managed}
	if err := w.St.Tenant(tenant).SSO().Save(w.t.Context(), s, "secret"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *company) bind(tenant connectors.TenantID, who auth.Actor, subject string) {
	w.t.Helper()
	if err := w.St.Tenant(tenant).SSO().BindSSOSubject(w.t.Context(), store.SSOSubject{Issuer: w.site.URL, ID: subject}, *who.UserID, who.Email); err != nil {
		w.t.Fatal(err)
	}
}

// identity are the claims of a valid assertion, with changes; nil takes one away.
func (w *company) identity(changes map[string]any) map[string]any {
	now := w.now()
	all := map[string]any{
		"iss": w.site.URL, "sub": "subject of the member", "aud": baseURL, "jti": uuid.NewString(), "client_id": w.client,
		"iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(), "resource": baseURL + "/mcp/linear",
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// asserted is an assertion of a key with these claims.
func (w *company) asserted(alg jose.SignatureAlgorithm, key any, kid, typ string, claims map[string]any) string {
	w.t.Helper()
	body, err := json.Marshal(claims)
	if err != nil {
		w.t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)).WithHeader("kid", kid))
	if err != nil {
		w.t.Fatal(err)
	}
	object, err := signer.Sign(body)
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := object.CompactSerialize()
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *company) assertion(changes map[string]any) string {
	return w.asserted(jose.ES256, ecKey(), "ec", "oauth-id-jag+jwt", w.identity(changes))
}

// present is the answer to a client that sends an assertion.
func (w *company) present(assertion string, changes ...string) reply {
	w.t.Helper()
	return w.token(with(url.Values{"grant_type": {jwtBearer}, "client_id": {w.client}, "assertion": {assertion}}, changes...))
}

// wantIssued fails unless so many tokens and clients are stored.
func (w *company) wantIssued(what string, want int) {
	w.t.Helper()
	var tokens, clients int
	w.AsSystem(w.t, "select (select count(*) from agent_tokens)::int + (select count(*) from member_tokens)::int, (select count(*) from agent_clients)::int", nil, &tokens, &clients)
	if tokens != want || clients != want {
		w.t.Errorf("%s: %d tokens and %d clients are stored, want %d", what, tokens, clients, want)
	}
}

func TestIdentity_SignsMemberIn(t *testing.T) {
	t.Parallel()
	w := newCompany(t)
	key := w.key(w.Tenant, connectors.RoleAdmin)
	var agents []string
	for range 2 {
		r := w.present(w.assertion(nil))
		if _, refreshes := r.JSON["refresh_token"]; r.Status != http.StatusOK || r.text("token_type") != "Bearer" || r.text("scope") != "mcp" || refreshes {
			t.Fatalf("%+v", r)
		}
		is := w.post("/oauth/introspect", url.Values{"token": {r.text("access_token")}}, "Authorization", "Bearer "+key)
		if is.JSON["active"] != true || is.text("aud") != baseURL+"/mcp/linear" || is.text("client_id") != w.client {
			t.Errorf("introspection says %v", is.JSON)
		}
		agents = append(agents, is.text("agent_id"))
	}
	own, err := w.Door().Agents().PersonalAgents(t.Context(), *w.member.UserID)
	if err != nil || len(own) != 1 || agents[0] != own[0].ID.String() || agents[1] != agents[0] {
		t.Errorf("agents %v, own %+v, %v", agents, own, err)
	}
	grants, err := w.Door().Agents().Grants(t.Context(), own[0].ID, store.Page{})
	if err != nil || len(grants.Items) != 0 {
		t.Errorf("the agent has grants: %v, %v", grants, err)
	}
	list, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Action: "agent_client.allow"})
	if err != nil || len(list.Items) != 2 || list.Items[0].ActorName != w.member.Name || !strings.Contains(string(list.Items[0].Detail), "identity assertion") {
		t.Errorf("on record: %+v, %v", list.Items, err)
	}
	if _, err := w.Door().People().RemoveMember(t.Context(), *w.member.UserID); err != nil {
		t.Fatal(err)
	}
	w.wantIssued("after the membership", 0)
}

func TestIdentity_AttacksGetNoToken(t *testing.T) {
	t.Parallel()
	w := newCompany(t)
	now, other := w.now(), w.registers(callback)
	viewer := w.person(w.Tenant, connectors.RoleViewer)
	w.bind(w.Tenant, viewer, "subject of a viewer")
	stranger := w.person(w.Other, connectors.RoleOwner)
	w.configure(w.Other, false)
	w.bind(w.Other, stranger, "subject in another tenant")
	body, err := json.Marshal(w.identity(nil))
	if err != nil {
		t.Fatal(err)
	}
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"oauth-id-jag+jwt"}`)) + "." + base64.RawURLEncoding.EncodeToString(body) + "."
	valid := w.assertion(nil)
	for name, attack := range map[string]struct {
		jwt     string
		changes []string // of the request
	}{
		"wrong audience":                {jwt: w.assertion(map[string]any{"aud": "https://elsewhere.example.com"})},
		"audience of the resource":      {jwt: w.assertion(map[string]any{"aud": baseURL + "/mcp"})},
		"token endpoint as audience":    {jwt: w.assertion(map[string]any{"aud": baseURL + "/oauth/token"})},
		"several audiences":             {jwt: w.assertion(map[string]any{"aud": []string{baseURL, "https://elsewhere.example.com"}})},
		"no audience":                   {jwt: w.assertion(map[string]any{"aud": nil})},
		"wrong issuer":                  {jwt: w.assertion(map[string]any{"iss": "https://elsewhere.example.com"})},
		"issuer with a slash":           {jwt: w.assertion(map[string]any{"iss": w.site.URL + "/"})},
		"unknown subject":               {jwt: w.assertion(map[string]any{"sub": "a stranger"})},
		"subject of another tenant":     {jwt: w.assertion(map[string]any{"sub": "subject in another tenant"})},
		"subject of a viewer":           {jwt: w.assertion(map[string]any{"sub": "subject of a viewer"})},
		"for another client":            {jwt: w.assertion(map[string]any{"client_id": other})},
		"sent by another client":        {jwt: valid, changes: []string{"client_id", other}},
		"for no client":                 {jwt: w.assertion(map[string]any{"client_id": nil})},
		"for another server":            {jwt: w.assertion(map[string]any{"resource": "https://elsewhere.example.com/mcp"})},
		"for the admins' server":        {jwt: w.assertion(map[string]any{"resource": baseURL + "/mcp/admin"})},
		"resource changed":              {jwt: valid, changes: []string{"resource", baseURL + "/mcp/github"}},
		"another scope":                 {jwt: w.assertion(map[string]any{"scope": "admin"})},
		"no jti":                        {jwt: w.assertion(map[string]any{"jti": nil})},
		"expired":                       {jwt: w.assertion(map[string]any{"exp": now.Add(-time.Second).Unix()})},
		"no expiry":                     {jwt: w.assertion(map[string]any{"exp": nil})},
		"valid for two hours":           {jwt: w.assertion(map[string]any{"exp": now.Add(2 * time.Hour).Unix()})},
		"from the future":               {jwt: w.assertion(map[string]any{"iat": now.Add(2 * time.Minute).Unix()})},
		"not yet valid":                 {jwt: w.assertion(map[string]any{"nbf": now.Add(2 * time.Minute).Unix()})},
		"alg none":                      {jwt: none},
		"another key":                   {jwt: w.asserted(jose.ES256, otherKey(), "ec", "oauth-id-jag+jwt", w.identity(nil))},
		"a shared secret":               {jwt: w.asserted(jose.HS256, []byte(strings.Repeat("s", 32)), "ec", "oauth-id-jag+jwt", w.identity(nil))},
		"an ID token":                   {jwt: w.asserted(jose.ES256, ecKey(), "ec", "JWT", w.identity(nil))},
		"an access token":               {jwt: w.asserted(jose.ES256, ecKey(), "ec", "at+jwt", w.identity(nil))},
		"changed claims":                {jwt: changedClaims(valid, w.assertion(map[string]any{"sub": "subject of the admin"}))},
		"a client that is unregistered": {jwt: w.assertion(map[string]any{"client_id": uuid.Nil.String()}), changes: []string{"client_id", uuid.Nil.String()}},
	} {
		if r := w.present(attack.jwt, attack.changes...); r.Status < 400 || r.Status >= 500 || r.text("access_token") != "" {
			t.Errorf("%s: %+v", name, r)
		}
		w.wantIssued(name, 0)
	}
	if r := w.present(valid); r.Status != http.StatusOK {
		t.Fatalf("the assertion itself: %+v", r)
	}
	for range 2 {
		if r := w.present(valid); r.text("error") != "invalid_grant" || r.text("access_token") != "" {
			t.Errorf("replay: %+v", r)
		}
		w.wantIssued("replay", 1)
	}
	list, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Action: "sso.refuse"})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("replays on record: %+v, %v", list.Items, err)
	}
}

func TestIdentity_TenantDecides(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *company){
		"the setting is off": func(_ *testing.T, w *company) { w.configure(w.Tenant, false) },
		"the provider is removed": func(t *testing.T, w *company) {
			if err := w.Door().SSO().Delete(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"the member is removed": func(t *testing.T, w *company) {
			if _, err := w.Door().People().RemoveMember(t.Context(), *w.member.UserID); err != nil {
				t.Fatal(err)
			}
		},
		"two tenants know the subject": func(_ *testing.T, w *company) {
			w.configure(w.Other, true)
			w.bind(w.Other, w.person(w.Other, connectors.RoleOwner), "subject of the member")
		},
		"no sign-in at the provider for long": func(_ *testing.T, w *company) { w.passes(100 * 24 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCompany(t)
			change(t, w)
			if r := w.present(w.assertion(nil)); r.text("error") != "invalid_grant" || r.text("access_token") != "" {
				t.Errorf("%+v", r)
			}
			w.wantIssued(name, 0)
		})
	}
}
