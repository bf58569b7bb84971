package manage_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

func exchanges(d *connectors.Draft) {
	d.Auth.Type, d.CredentialMode = connectors.AuthOAuth2, connectors.CredentialPerAgent
	d.OAuth = connectors.OAuthSettings{ClientID: "client-1", Issuer: issuer, TokenExchange: connectors.ExchangeActorToken}
}

func allowExchange(t *testing.T, b *testEnv) {
	t.Helper()
	if err := b.Door().Accounts().SetTokenExchange(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	b.admin = b.actor(connectors.RoleOwner)
}

// An owner decides whether and where members are named. An admin changes the rest of such a connector, and turns token exchange off.
func TestTokenExchange_NeedsOwner(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	admin, owner := b.admin, b.actor(connectors.RoleOwner)
	c := b.create(t, connectors.Secret{}, func(d *connectors.Draft) { exchanges(d); d.OAuth.TokenExchange = "" })
	way := func(way connectors.TokenExchange) manage.Change {
		return settings(func(s *connectors.OAuthSettings) { s.TokenExchange = way })
	}
	if _, _, err := b.reg.UpdateConnector(t.Context(), owner, connectors.Ref(c.Slug), way(connectors.ExchangeActClaim)); !fault.Is(err, fault.Invalid) || b.Count(t, "signing_keys") != 0 {
		t.Errorf("before: %v", err)
	}
	allowExchange(t, b)
	c, _ = b.update(t, c, way(connectors.ExchangeActClaim))
	draft := connectors.DraftOf(c)
	draft.Slug, draft.Name = "another", "Another"
	if _, err := b.reg.CreateConnector(t.Context(), admin, draft, connectors.Secret{}); !fault.Is(err, fault.Denied) {
		t.Errorf("an admin makes one: %v", err)
	}
	for name, change := range map[string]manage.Change{
		"URL":    {Draft: func(d *connectors.Draft) { d.URL += "/other" }},
		"way":    way(connectors.ExchangeActorToken),
		"issuer": settings(func(s *connectors.OAuthSettings) { s.Issuer = "https://other.example.com" }),
		"client": settings(func(s *connectors.OAuthSettings) { s.ClientID = "another" }),
		"scopes": settings(func(s *connectors.OAuthSettings) { s.Scopes = []string{"write"} }),
	} {
		if _, _, err := b.reg.UpdateConnector(t.Context(), admin, connectors.Ref(c.Slug), change); !fault.Is(err, fault.Denied) {
			t.Errorf("an admin changes the %s: %v", name, err)
		}
	}
	b.admin = admin
	c, _ = b.update(t, c, manage.Change{Draft: func(d *connectors.Draft) { d.Name = "Renamed" }})
	if err := b.Door().Accounts().SetTokenExchange(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	c, _ = b.update(t, c, manage.Change{Draft: func(d *connectors.Draft) { d.Name = "Renamed again" }})
	if n := b.Count(t, "signing_keys"); n != 0 {
		t.Errorf("%d keys after it was turned off", n)
	}
	b.update(t, c, way(""))
}

// A connector that is not stored leaves no published issuer.
func TestTokenExchange_FailedSaveMakesNoKey(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	allowExchange(t, b)
	plain := b.create(t, connectors.Secret{})
	draft := connectors.DraftOf(plain)
	exchanges(&draft)
	if _, err := b.reg.CreateConnector(t.Context(), b.admin, draft, connectors.Secret{}); err == nil || b.Count(t, "signing_keys") != 0 {
		t.Errorf("a second connector with one slug: %v, %d keys", err, b.Count(t, "signing_keys"))
	}
}

func TestTokenExchange_EndsWithItsSettings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*testing.T, *testEnv, connectors.Connector)
		keys   int // that stay
	}{
		"turned off": {change: func(t *testing.T, b *testEnv, c connectors.Connector) {
			b.update(t, c, settings(func(s *connectors.OAuthSettings) { s.TokenExchange = "" }))
		}},
		"another issuer": {keys: 1, change: func(t *testing.T, b *testEnv, c connectors.Connector) {
			b.update(t, c, settings(func(s *connectors.OAuthSettings) { s.Issuer = "https://other.example.com" }))
		}},
		"another way": {keys: 1, change: func(t *testing.T, b *testEnv, c connectors.Connector) {
			b.update(t, c, settings(func(s *connectors.OAuthSettings) { s.TokenExchange = connectors.ExchangeActClaim }))
		}},
		"another path": {keys: 1, change: func(t *testing.T, b *testEnv, c connectors.Connector) {
			b.update(t, c, manage.Change{Draft: func(d *connectors.Draft) { d.URL += "/other" }})
		}},
		"turned off by an owner": {change: func(t *testing.T, b *testEnv, _ connectors.Connector) {
			if err := b.Door().Accounts().SetTokenExchange(t.Context(), false); err != nil {
				t.Fatal(err)
			}
		}},
		"another type": {change: func(t *testing.T, b *testEnv, c connectors.Connector) {
			b.update(t, c, manage.Change{SecretLater: true, Draft: func(d *connectors.Draft) { d.Auth.Type, d.OAuth = connectors.AuthBearer, connectors.OAuthSettings{} }})
		}},
		"deleted": {change: func(t *testing.T, b *testEnv, c connectors.Connector) {
			if err := b.reg.DeleteConnector(t.Context(), b.admin, connectors.Ref(c.Slug)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			allowExchange(t, b)
			c, agent, other := b.create(t, connectors.Secret{}, exchanges), b.Agent(t), b.Agent(t)
			if n := b.Count(t, "signing_keys"); n != 1 {
				t.Fatalf("%d keys before the first call", n)
			}
			b.connect(t, c, &other.ID) // by a person
			err := b.Door().Accounts().AddExchangedAccount(t.Context(), store.NewExchangedAccount{
				Connector: c, AgentID: agent.ID,
				Meta: store.GrantMeta{Server: oauth.Metadata{Issuer: issuer}, Exchange: connectors.ExchangeActorToken},
			})
			if n := b.Count(t, "credentials"); err != nil || n != 2 {
				t.Fatalf("%d accounts, %v", n, err)
			}
			tc.change(t, b, c)
			if _, err := b.St.Vault(b.Tenant).Grant(t.Context(), c.ID, &agent.ID); err == nil {
				t.Error("the account is still there")
			}
			if n := b.Count(t, "signing_keys"); n != tc.keys {
				t.Errorf("%d keys", n)
			}
		})
	}
}
