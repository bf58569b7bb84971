package manage_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

const issuer = "https://auth.example.com"

func signsIn(d *connectors.Draft) {
	d.Auth.Type = connectors.AuthOAuth2
	d.OAuth = connectors.OAuthSettings{ClientID: "client-1", Issuer: issuer, TokenEndpoint: issuer + "/token"}
}

func machine(d *connectors.Draft) {
	d.Auth.Type = connectors.AuthClientCredentials
	d.OAuth = connectors.OAuthSettings{ClientID: "client-1", Issuer: issuer}
}

func settings(change func(*connectors.OAuthSettings)) manage.Change {
	return manage.Change{Draft: func(d *connectors.Draft) { change(&d.OAuth) }}
}

// connect stores an OAuth grant as a callback does.
func (b *testEnv) connect(t *testing.T, c connectors.Connector, agent *connectors.AgentID) {
	t.Helper()
	expires := time.Now().Add(time.Hour)
	err := b.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: c.ID, AgentID: agent, Origin: connectors.Origin(c.URL), GrantTokens: store.GrantTokens{
			AccessToken: "s3cret-access", RefreshToken: "s3cret-refresh", ExpiresAt: &expires,
			Meta: store.GrantMeta{Server: oauth.Metadata{Issuer: issuer}, ClientID: c.OAuth.ClientID},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// clientSecret returns the connector's client secret, or "".
func (b *testEnv) clientSecret(t *testing.T, c connectors.Connector) string {
	t.Helper()
	now, err := b.Door().Connectors().Get(t.Context(), connectors.Ref(c.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.St.Vault(b.Tenant).ClientSecret(t.Context(), now, issuer)
	if err != nil && !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	return s.Reveal()
}

// credentials returns the number of a connector's credentials.
func (b *testEnv) credentials(t *testing.T, c connectors.Connector) int {
	t.Helper()
	list, err := b.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

func TestClientSecret_IsNotACredential(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{ClientSecret: " s3cret\n"}, signsIn)
	if got := b.clientSecret(t, c); got != "s3cret" || b.credentials(t, c) != 0 {
		t.Errorf("client secret %q, %d credentials", got, b.credentials(t, c))
	}
	ref := connectors.Ref(c.Slug)
	if err := b.reg.SetCredential(t.Context(), b.admin, ref, nil, connectors.Secret{ClientSecret: "s3cret-2"}); err != nil {
		t.Fatal(err)
	}
	if got := b.clientSecret(t, c); got != "s3cret-2" || b.credentials(t, c) != 0 {
		t.Errorf("client secret %q, %d credentials", got, b.credentials(t, c))
	}
	if diff := cmp.Diff([]string{"connector.create", "credential.set"}, b.audited(t)); diff != "" {
		t.Error(diff)
	}
}

func TestSetCredential_RefusesOAuthAccount(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := connectors.Ref(b.Agent(t).Slug)
	named, unnamed := b.create(t, connectors.Secret{}, signsIn), b.create(t, connectors.Secret{}, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 })
	set := func(c connectors.Connector, agent *connectors.Ref, s connectors.Secret) error {
		return b.reg.SetCredential(t.Context(), b.admin, connectors.Ref(c.Slug), agent, s)
	}
	secret := connectors.Secret{ClientSecret: "s3cret"}
	for name, err := range map[string]error{"an agent's": set(named, &agent, secret), "of no client": set(unnamed, nil, secret)} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantFields(t, set(named, nil, connectors.Secret{Token: "s3cret"}), "token", "client_secret")
	wantFields(t, set(named, nil, connectors.Secret{ClientID: "x", ClientSecret: "s3cret"}), "client_id")
	_, err := b.reg.CreateConnector(t.Context(), b.admin, draft(func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 }), secret)
	wantFields(t, err, "auth.client_id")
}

func TestCreate_ChecksEveryAddress(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	_, err := b.reg.CreateConnector(t.Context(), b.admin, draft(func(d *connectors.Draft) {
		d.URL, d.Auth.Type = "https://10.0.0.1/", connectors.AuthOAuth2
		d.OAuth = connectors.OAuthSettings{
			Issuer: "http://auth.example.com", AuthorizationEndpoint: "https://[::1]/authorize", TokenEndpoint: "https://169.254.169.254/",
		}
	}), connectors.Secret{})
	wantFields(t, err, "auth.authorization_endpoint", "auth.issuer", "auth.token_endpoint", "url")

	c := b.create(t, connectors.Secret{}, signsIn)
	_, _, err = b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(c.Slug),
		settings(func(o *connectors.OAuthSettings) { o.TokenEndpoint = "https://localhost/token" }))
	wantFields(t, err, "auth.token_endpoint")
}

func TestUpdate_DeletesOAuthGrants(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for name, tc := range map[string]struct {
		change       func(*connectors.Draft)
		grant        bool // is kept
		clientSecret string
		notices      []string
	}{
		"scopes": {
			func(d *connectors.Draft) { d.OAuth.Scopes = []string{"read"} }, true, "s3cret", nil,
		},
		"the client id": {
			func(d *connectors.Draft) { d.OAuth.ClientID = "client-2" }, false, "", []string{
				"Account disconnected, because the client ID changed. Connect the account.",
				"Client secret deleted, because the client ID changed. Set it again if needed.",
			},
		},
		"no client id": {
			func(d *connectors.Draft) { d.OAuth.ClientID = "" }, false, "", []string{
				"Account disconnected, because the client ID changed. Connect the account.",
				"Client secret deleted, because the client ID changed.",
			},
		},
		"the token endpoint": {
			func(d *connectors.Draft) { d.OAuth.TokenEndpoint = "https://other.example.com/" }, false, "", []string{
				"Account disconnected, because the authorization server's settings changed. Connect the account.",
				"Client secret deleted, because the authorization server's settings changed. Set it again if needed.",
			},
		},
		"the resource": {
			func(d *connectors.Draft) { d.OAuth.Resource = text("") }, false, "s3cret", []string{
				"Account disconnected, because the authorization server's settings changed. Connect the account.",
			},
		},
		"the path": {func(d *connectors.Draft) { d.URL += "/v2" }, true, "s3cret", nil},
		"the origin": {
			func(d *connectors.Draft) { d.URL = "https://two.example.com/" }, false, "", []string{
				"Account disconnected, because the URL moved to another origin. Connect the account.",
				"Client secret deleted, because the URL moved to another origin. Set it again if needed.",
			},
		},
		"the mode": {
			func(d *connectors.Draft) { d.CredentialMode = connectors.CredentialPerAgent }, false, "s3cret", []string{
				"Account disconnected, because each agent has its own now. Connect each agent's.",
			},
		},
		"the type": {
			func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone }, false, "", []string{
				"Account disconnected, because the connector no longer needs one.",
				"Client secret deleted, because the connector no longer needs one.",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			c := b.create(t, connectors.Secret{ClientSecret: "s3cret"}, signsIn)
			b.connect(t, c, nil)
			got, notices := b.update(t, c, manage.Change{Draft: tc.change, ConfirmMove: true})
			if diff := cmp.Diff(tc.notices, notices); diff != "" {
				t.Error(diff)
			}
			if (b.credentials(t, got) == 1) != tc.grant || b.clientSecret(t, got) != tc.clientSecret {
				t.Errorf("%d grants, client secret %q", b.credentials(t, got), b.clientSecret(t, got))
			}
		})
	}
}

func TestUpdate_ClientSecretWithClientID(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{ClientSecret: "s3cret"}, signsIn)
	b.connect(t, c, nil)
	change := settings(func(o *connectors.OAuthSettings) { o.ClientID = "client-2" })
	change.Secret = &connectors.Secret{ClientSecret: "s3cret-2"}
	got, notices := b.update(t, c, change)
	want := []string{"Account disconnected, because the client ID changed. Connect the account."}
	if diff := cmp.Diff(want, notices); diff != "" || b.clientSecret(t, got) != "s3cret-2" {
		t.Errorf("%s, client secret %q", diff, b.clientSecret(t, got))
	}
}

func TestUpdate_ClientIDDeletesMachineSecret(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{ClientSecret: "s3cret"}, machine)
	ref := connectors.Ref(c.Slug)
	another := settings(func(o *connectors.OAuthSettings) { o.ClientID = "client-2" })
	_, _, err := b.reg.UpdateConnector(t.Context(), b.admin, ref, another)
	wantFields(t, err, "auth.client_secret")
	if got, notices := b.update(t, c, settings(func(o *connectors.OAuthSettings) { o.Scopes = []string{"read"} })); notices != nil || b.credentials(t, got) != 1 {
		t.Errorf("other scopes: %q, %d secrets", notices, b.credentials(t, got))
	}
	another.Secret = &connectors.Secret{ClientSecret: "s3cret-2"}
	if got, notices := b.update(t, c, another); notices != nil || b.credentials(t, got) != 1 {
		t.Errorf("with its secret: %q, %d secrets", notices, b.credentials(t, got))
	}
	got, notices := b.update(t, c, settings(func(o *connectors.OAuthSettings) { o.Issuer = "https://other.example.com" }))
	want := []string{"Stored secret deleted, because the authorization server's settings changed. Set it again."}
	if diff := cmp.Diff(want, notices); diff != "" || b.credentials(t, got) != 0 {
		t.Errorf("%s, %d secrets", diff, b.credentials(t, got))
	}
}

func TestClientID_FromAgentOrConnector(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.Agent(t)
	ref := connectors.Ref(agent.Slug)
	each := func(d *connectors.Draft) {
		machine(d)
		d.CredentialMode, d.OAuth.ClientID = connectors.CredentialPerAgent, ""
	}
	c := b.create(t, connectors.Secret{}, each)
	set := func(s connectors.Secret) error {
		return b.reg.SetCredential(t.Context(), b.admin, connectors.Ref(c.Slug), &ref, s)
	}
	wantFields(t, set(connectors.Secret{ClientSecret: "s3cret"}), "client_id")
	if err := set(connectors.Secret{ClientID: "own", ClientSecret: "s3cret"}); err != nil {
		t.Fatal(err)
	}
	c, notices := b.update(t, c, settings(func(o *connectors.OAuthSettings) { o.ClientID = "client-1" }))
	if notices != nil || b.credentials(t, c) != 1 {
		t.Errorf("a client id for all: %q, %d secrets", notices, b.credentials(t, c))
	}
	c, notices = b.update(t, c, settings(func(o *connectors.OAuthSettings) { o.ClientID = "client-2" }))
	want := []string{"Agents' stored secrets deleted, because the client ID changed. Set them again."}
	if diff := cmp.Diff(want, notices); diff != "" || b.credentials(t, c) != 0 {
		t.Errorf("%s, %d secrets", diff, b.credentials(t, c))
	}
}
