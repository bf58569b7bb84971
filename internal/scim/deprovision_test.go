package scim_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/scim"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const (
	deactivate = `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"Replace","path":"active","value":"False"}]}`
	headUser   = `{"schemas":["` + coreUser + `"],"userName":"`
)

// addUser creates a user for an address and keeps the id by a name.
func (d *directory) addUser(t *testing.T, name, email string) {
	t.Helper()
	d.runSteps(t, []step{{name: "create " + name, do: "POST /Users", body: headUser + email + `"}`, status: 201, keep: name}})
}

func TestDeprovision_EndsTokensAndAccountsInOneTransaction(t *testing.T) {
	t.Parallel()
	for _, end := range []struct{ name, do, body string }{{"deactivated", "PATCH /Users/{user}", deactivate}, {"deleted", "DELETE /Users/{user}", ""}} {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			d := newDirectory(t)
			m := d.Member(t, connectors.RoleAdmin)
			agent, shared := d.Agent(t), d.Agent(t)
			if err := d.Door().Agents().MakePersonal(t.Context(), m.UserID, agent.ID); err != nil {
				t.Fatal(err)
			}
			own := d.Connector(t, func(c *connectors.Draft) {
				c.Auth.Type, c.CredentialMode = connectors.AuthBearer, connectors.CredentialPerAgent
			})
			d.Credential(t, own.ID, &agent.ID, "secret")
			d.Token(t, agent.ID)
			d.AccessToken(t, d.Tenant, d.ProgramIn(t, d.Tenant, shared.ID, m.UserID), "/mcp")
			d.MemberAccessToken(t, d.Tenant, d.ProgramAsIn(t, d.Tenant, m.UserID, connectors.ScopeAdmin))
			d.addUser(t, "user", m.Email)
			d.wantRole(t, m.Email, connectors.RoleAdmin) // without groups, a member keeps the role
			method, path, _ := strings.Cut(d.fillIDs(end.do), " ")

			d.RefuseAudit(t, "member.remove") // the last statement fails
			if got := d.send(t, method, path, end.body); got.status < 500 {
				t.Fatalf("without an audit entry: %d %s", got.status, got.text)
			}
			for _, table := range []string{"agent_tokens", "member_tokens", "credentials"} {
				if d.Count(t, table) == 0 {
					t.Errorf("%s ended although the change failed", table)
				}
			}
			d.AllowAudit(t)
			if got := d.send(t, method, path, end.body); got.status >= 300 {
				t.Fatalf("%d %s%s", got.status, got.text, d.log)
			}
			for _, table := range []string{"agent_tokens", "member_tokens", "credentials", "personal_agents"} {
				if n := d.Count(t, table); n != 0 {
					t.Errorf("%d %s", n, table)
				}
			}
			if d.memberNamed(t, m.Email) != nil {
				t.Error("still a member")
			}
		})
	}
}

func TestDeprovision_KeepsTheLastOwner(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.addUser(t, "owner", d.owner.Email)
	d.runSteps(t, []step{{name: "deactivate the last owner", do: "PATCH /Users/{owner}", body: deactivate, status: 409}})
	other := d.Member(t, connectors.RoleOwner) // without a password, and without single sign-on
	d.runSteps(t, []step{
		{name: "deactivate the last owner with a password", do: "PATCH /Users/{owner}", body: deactivate, status: 409},
		{name: "delete them", do: "DELETE /Users/{owner}", status: 409},
		{name: "they stay active", do: "GET /Users/{owner}", status: 200, want: map[string]any{"active": true}},
	})
	d.mapGroups(t)
	d.runSteps(t, []step{{name: "a lower role by a group", do: "POST /Groups", body: `{"schemas":["` + coreGroup + `"],"displayName":"Staff","members":[{"value":"{owner}"}]}`, status: 201}})
	d.wantRole(t, d.owner.Email, connectors.RoleOwner)
	third := d.Member(t, connectors.RoleOwner, func(n *store.NewMember) { n.PasswordHash = "$argon2id$hash" })
	d.runSteps(t, []step{{name: "another can sign in", do: "PATCH /Users/{owner}", body: deactivate, status: 200}})
	d.wantRole(t, d.owner.Email, "")
	d.wantRole(t, other.Email, connectors.RoleOwner)

	d.mapGroups(t, func(s *connectors.SSO) { s.BreakGlass = &third.UserID })
	d.addUser(t, "third", third.Email)
	d.runSteps(t, []step{{name: "the break-glass owner", do: "PATCH /Users/{third}", body: deactivate, status: 409}})
	var refused int
	d.AsSystem(t, "select count(*) from audit_events where action = 'scim.refuse' and tenant_id = $1", []any{d.Tenant}, &refused)
	if refused != 4 {
		t.Errorf("%d refusals are on record", refused)
	}
}

func TestDeprovision_StopsNewSignIns(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.addUser(t, "user", "kim@example.com")
	d.runSteps(t, []step{{name: "deactivate", do: "PATCH /Users/{user}", body: deactivate, status: 200}})
	if gone, err := d.Door().SCIM().IsDeactivated(t.Context(), "Kim@example.com"); !gone || err != nil {
		t.Errorf("%t, %v", gone, err)
	}
}

func TestToken_ReachesItsTenantOnly(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.addUser(t, "user", "kim@example.com")
	d.runSteps(t, []step{{name: "a group", do: "POST /Groups", body: `{"schemas":["` + coreGroup + `"],"displayName":"Admins"}`, status: 201, keep: "group"}})
	_, other, err := d.service.Enable(t.Context(), d.actor(t, d.Other))
	if err != nil {
		t.Fatal(err)
	}
	rename := `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"replace","path":"displayName","value":"Mine"}]}`
	for _, c := range []struct{ do, body string }{
		{"GET /Users/{user}", ""}, {"PATCH /Users/{user}", deactivate}, {"PUT /Users/{user}", headUser + `x@example.com"}`}, {"DELETE /Users/{user}", ""},
		{"GET /Groups/{group}", ""}, {"PATCH /Groups/{group}", rename}, {"DELETE /Groups/{group}", ""},
	} {
		method, path, _ := strings.Cut(d.fillIDs(c.do), " ")
		if got := sendTo(t, d.handler, other, method, path, c.body); got.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", c.do, got.status, got.text)
		}
	}
	for _, path := range []string{"/Users", "/Groups", `/Users?filter=userName eq "kim@example.com"`} {
		if got := sendTo(t, d.handler, other, http.MethodGet, path, ""); got.at("totalResults") != 0.0 {
			t.Errorf("%s: %s", path, got.text)
		}
	}
	add := `{"schemas":["` + coreGroup + `"],"displayName":"Theirs","members":[{"value":"` + d.ids["user"] + `"}]}`
	if got := sendTo(t, d.handler, other, http.MethodPost, "/Groups", add); got.status != http.StatusBadRequest {
		t.Errorf("a member of another tenant: %d %s", got.status, got.text)
	}
	d.wantRole(t, "kim@example.com", connectors.RoleViewer)
}

func TestToken_EndsWhenItIsReplaced(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	if got := sendTo(t, d.handler, "", http.MethodGet, "/Users", ""); got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a token: %d %s", got.status, got.text)
	}
	old := d.token
	_, token, err := d.service.RotateToken(t.Context(), d.actor(t, d.Tenant))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		token secret.Text
		want  int
	}{"replaced": {old, 401}, "current": {token, 200}, "another kind": {"pb_key_x", 401}, "cut": {token[:len(token)-1], 401}} {
		if got := sendTo(t, d.handler, c.token, http.MethodGet, "/Users", ""); got.status != c.want {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
	}
	if err := d.service.Disable(t.Context(), d.actor(t, d.Tenant)); err != nil {
		t.Fatal(err)
	}
	if got := sendTo(t, d.handler, token, http.MethodGet, "/Users", ""); got.status != http.StatusUnauthorized {
		t.Errorf("off: %d", got.status)
	}
	member := d.actor(t, d.Tenant)
	member.Role = connectors.RoleAdmin
	if _, _, err := d.service.Enable(t.Context(), member); !fault.Is(err, fault.Denied) {
		t.Errorf("by an admin: %v", err)
	}
}

func TestRequest_RefusesWhatIsTooLargeOrMalformed(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.addUser(t, "user", "kim@example.com")
	long, deep := strings.Repeat("x", 2<<20), strings.Repeat("(", 500)+"userName pr"+strings.Repeat(")", 500)
	ops := func(list string) string { return `{"schemas":["` + patchSchema + `"],"Operations":[` + list + `]}` }
	for name, c := range map[string]struct {
		do, body string
		status   int
	}{
		"no JSON":            {"POST /Users", "{", 400},
		"a list":             {"POST /Users", "[]", 400},
		"no schemas":         {"POST /Users", `{"userName":"a@example.com"}`, 400},
		"no address":         {"POST /Users", headUser + `kim"}`, 400},
		"no user name":       {"POST /Users", `{"schemas":["` + coreUser + `"],"emails":[{"value":"a@example.com"}]}`, 400},
		"a long body":        {"POST /Users", headUser + long + `"}`, 413},
		"long attributes":    {"POST /Users", headUser + `a@example.com","title":"` + long[:64<<10] + `"}`, 400},
		"a long user name":   {"POST /Users", headUser + long[:400] + `@example.com"}`, 400},
		"nested JSON":        {"POST /Users", strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000), 400},
		"a NUL":              {"POST /Users", headUser + `b@example.com","title":"\u0000"}`, 201},
		"an unknown member":  {"POST /Groups", `{"schemas":["` + coreGroup + `"],"displayName":"A","members":[{"value":"01a22b99-5977-77b9-b424-d1bf7634a9ff"}]}`, 400},
		"no member id":       {"POST /Groups", `{"schemas":["` + coreGroup + `"],"displayName":"B","members":[{"value":"kim"}]}`, 400},
		"no group name":      {"POST /Groups", `{"schemas":["` + coreGroup + `"]}`, 400},
		"an unknown op":      {"PATCH /Users/{user}", ops(`{"op":"move","path":"title","value":"x"}`), 400},
		"no operations":      {"PATCH /Users/{user}", ops(""), 400},
		"many operations":    {"PATCH /Users/{user}", ops(strings.Repeat(`{"op":"add","path":"title","value":"x"},`, 1000) + `{"op":"add","path":"title","value":"x"}`), 400},
		"a deep path":        {"PATCH /Users/{user}", ops(`{"op":"add","path":"emails[` + deep + `].value","value":"x"}`), 400},
		"a deep name":        {"PATCH /Users/{user}", ops(`{"op":"add","value":{"emails[` + deep + `].value":"x"}}`), 400},
		"an unknown path":    {"PATCH /Users/{user}", ops(`{"op":"add","path":"nothing","value":"x"}`), 400},
		"no address left":    {"PATCH /Users/{user}", ops(`{"op":"replace","path":"userName","value":"kim"}`), 400},
		"another type":       {"PATCH /Users/{user}", ops(`{"op":"replace","path":"active","value":"maybe"}`), 400},
		"a filter bomb":      {"GET /Users?filter=" + deep, "", 400},
		"a long filter":      {`GET /Users?filter=userName eq "` + long[:2000] + `"`, "", 400},
		"an or filter":       {`GET /Users?filter=userName eq "a" or userName eq "b"`, "", 400},
		"a broken filter":    {`GET /Users?filter=userName eq`, "", 400},
		"a contains filter":  {`GET /Users?filter=userName co "a"`, "", 400},
		"no number":          {"GET /Users?count=many", "", 400},
		"an unknown path in": {"GET /Nothing", "", 404},
		"bulk":               {"POST /Bulk", "{}", 404},
		"a large page":       {"GET /Users?count=1000000000&startIndex=1000000000000", "", 200},
		"a negative page":    {"GET /Users?count=-1&startIndex=-1", "", 200},
	} {
		method, path, _ := strings.Cut(d.fillIDs(c.do), " ")
		start := time.Now()
		got := d.send(t, method, path, c.body)
		if got.status != c.status || c.status >= 400 && got.at("schemas/0") != "urn:ietf:params:scim:api:messages:2.0:Error" {
			t.Errorf("%s: %d, want %d: %.300s", name, got.status, c.status, got.text)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

func TestRequest_IsLimitedPerTenant(t *testing.T) {
	t.Parallel()
	d := newDirectory(t, func(o *scim.Options) {
		o.Rate = 1
		now := time.Now()
		o.Now = func() time.Time { return now }
	})
	_, other, err := d.service.Enable(t.Context(), d.actor(t, d.Other))
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for range 10 {
		if got := d.send(t, http.MethodGet, "/Users?count=0", ""); got.status == http.StatusTooManyRequests && got.header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused != 6 { // a burst of four seconds
		t.Errorf("%d of 10 refused", refused)
	}
	if got := sendTo(t, d.handler, other, http.MethodGet, "/Users?count=0", ""); got.status != http.StatusOK {
		t.Errorf("another tenant: %d", got.status)
	}
}
