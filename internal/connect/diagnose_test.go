package connect_test

import (
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

func TestDiagnose_StoresNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Scope: "read"})
	c := b.protected(t, func(d *connectors.Draft) { d.URL = b.mcp.URL + "?key=hidden" }, perAgent)
	b.mcp.Set(func(m *oauthtest.ResourceBehaviour) { m.Resource = b.mcp.URL })
	d, err := b.broker.Diagnose(t.Context(), b.admin, ref(c.ID))
	must(t, err)
	steps := map[oauth.Step]bool{}
	for _, s := range d.Trace {
		steps[s.Step] = true
		if s.Decided == "" {
			t.Errorf("step %+v decides nothing", s)
		}
	}
	if !steps[connect.StepProbe] || !steps[oauth.StepResource] || !steps[oauth.StepServer] || d.Trace[0].Status != 401 || d.At.IsZero() {
		t.Errorf("trace = %+v", d.Trace)
	}
	if d.Server == nil || d.Server.Issuer != b.as.Issuer || d.Resource != b.mcp.URL || d.Problem != "" || d.Behaviour != connectors.AuthAll {
		t.Errorf("diagnosis = %+v", d)
	}
	if !strings.Contains(d.Client, "Registered when an account is connected.") || len(d.Scopes) != 1 {
		t.Errorf("client %q, scopes %v", d.Client, d.Scopes)
	}
	if n := b.as.Count(oauthtest.Register, oauthtest.Authorize) + b.count(t, "oauth_flows") + b.count(t, "client_registrations"); n != 0 {
		t.Errorf("%d traces", n)
	}
	if shown := fmt.Sprintf("%+v", d); strings.Contains(shown, "hidden") {
		t.Errorf("shows %s", shown)
	}
}

func TestADiagnosisNamesTheProblem(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		as      oauthtest.Behaviour
		mcp     oauthtest.ResourceBehaviour
		problem string
	}{
		"no client":        {oauthtest.Behaviour{NoRegistration: true}, oauthtest.ResourceBehaviour{}, "doesn't let clients register"},
		"no PKCE":          {oauthtest.Behaviour{NoPKCE: true}, oauthtest.ResourceBehaviour{}, "PKCE"},
		"another resource": {oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Resource: "https://other.example/mcp"}, "https://other.example/mcp"},
		"another issuer":   {oauthtest.Behaviour{DocumentIssuer: "https://other.example"}, oauthtest.ResourceBehaviour{}, "https://other.example"},
		"no document":      {oauthtest.Behaviour{WellKnown: oauthtest.Nowhere}, oauthtest.ResourceBehaviour{}, "isn't valid OAuth"},
		"reflects":         {oauthtest.Behaviour{Edit: func(d oauthtest.Document) { d["token_endpoint"] = oauthtest.Reflected }}, oauthtest.ResourceBehaviour{}, "token endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, tc.as, tc.mcp)
			d, err := b.broker.Diagnose(t.Context(), b.admin, ref(b.protected(t).ID))
			if err != nil || !strings.Contains(d.Problem, tc.problem) {
				t.Errorf("problem %q, %v", d.Problem, err)
			}
			if strings.Contains(fmt.Sprintf("%+v", d), "REFLECTED") {
				t.Errorf("shows %+v", d)
			}
		})
	}
}

func TestADiagnosisSaysHowTheClientIsHad(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.start(t, c, nil)
	want := func(id connectors.ConnectorID, words string) {
		t.Helper()
		d, err := b.broker.Diagnose(t.Context(), b.admin, ref(id))
		if err != nil || !strings.Contains(d.Client, words) || d.Problem != "" {
			t.Errorf("client %q, %v, want %q", d.Client, err, words)
		}
	}
	want(c.ID, "Registered with")
	own := b.protected(t, func(d *connectors.Draft) { d.OAuth.ClientID = "by hand" })
	must(t, b.Door().Connectors().SetClientSecret(t.Context(), own, "its secret"))
	want(own.ID, "The connector's client ID.")
	if _, err := b.St.Vault(b.Tenant).ClientSecret(t.Context(), own, "https://another.example"); err != nil {
		t.Errorf("looking bound the secret: %v", err)
	}
	want(b.protected(t, func(d *connectors.Draft) { d.Auth.Type, d.OAuth.ClientID = connectors.AuthClientCredentials, "machine" }).ID, "The credential's or connector's client ID.")
	b.as.Set(func(as *oauthtest.Behaviour) { as.ClientDocuments = true })
	want(c.ID, baseURL+"/oauth/client-metadata.json")
}

func TestOnlyAnAdminDiagnosesAndOnlyOAuth(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	_, err := b.broker.Diagnose(t.Context(), b.person(t, b.Tenant, connectors.RoleMember), ref(c.ID))
	wantFault(t, err, fault.Denied, "")
	_, err = b.broker.Diagnose(t.Context(), b.person(t, b.Other, connectors.RoleOwner), ref(c.ID))
	wantFault(t, err, fault.NotFound, "")
	_, err = b.broker.Diagnose(t.Context(), b.admin, ref(b.Connector(t).ID))
	wantFault(t, err, fault.Conflict, "")
}
