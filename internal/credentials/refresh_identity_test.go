package credentials_test

import (
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
)

// saveGrantOf connects the shared account of an identity, with a token that is due.
func (c *connection) saveGrantOf(t testing.TB, i connectors.Identity) {
	t.Helper()
	g := c.newGrant(t, nil, time.Now().Add(-time.Minute))
	g.Meta.Identity = i
	must(t, c.Door().Accounts().SaveGrant(t.Context(), g))
}

func TestRefresh_EndsGrantOfAnotherAccount(t *testing.T) {
	t.Parallel()
	type doc = oauthtest.Document
	for name, tc := range map[string]struct {
		now   doc
		ended bool
	}{
		"no ID token":          {},
		"the same":             {now: doc{"sub": "7"}},
		"a new name":           {now: doc{"sub": "7", "email": "ann.new@example.com"}},
		"a name alone":         {now: doc{"email": "bob@example.com"}},
		"another subject":      {now: doc{"sub": "8", "email": "ann@example.com"}, ended: true},
		"another organisation": {now: doc{"sub": "7", "org_id": "o-2"}, ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newEmptyConnection(t, oauthtest.Behaviour{Rotate: true})
			ann := connectors.Identity{Issuer: c.as.Issuer, Subject: "7", Name: "ann@example.com", OrganisationID: "o-1"}
			c.saveGrantOf(t, ann)
			c.as.Set(func(b *oauthtest.Behaviour) { b.IDToken = tc.now })
			before := len(c.as.Issued())
			headers, err := c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
			g := c.storedGrant(t, nil)
			if g.Identity != ann {
				t.Errorf("the identity is %+v now", g.Identity)
			}
			if !tc.ended {
				if err != nil || len(headers) != 1 || g.Status != connectors.CredentialActive {
					t.Errorf("headers %v, %v, status %s", headers, err, g.Status)
				}
				return
			}
			if f := fault.As(err); f.Kind != fault.Conflict || f.Type != "credential-required" || !strings.Contains(f.Message, "another account") {
				t.Errorf("refused: %v", err)
			}
			if g.Status != connectors.CredentialRevoked || g.Error != "The authorization server answered a token refresh with another account. Connect again." {
				t.Errorf("status %s, error %q", g.Status, g.Error)
			}
			for _, token := range c.as.Issued()[before:] {
				if token == g.Tokens.AccessToken.Reveal() || token == g.Tokens.RefreshToken.Reveal() {
					t.Error("a token of another account is stored")
				}
			}
			if _, err := c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{}); err == nil || c.as.Count(oauthtest.Refresh) != 1 {
				t.Errorf("a second use: %v, %d refreshes", err, c.as.Count(oauthtest.Refresh))
			}
		})
	}
}

func TestRefresh_AdoptsUnknownIdentity(t *testing.T) {
	t.Parallel()
	c := newEmptyConnection(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"sub": "7", "email": "ann@example.com"}})
	c.saveGrantOf(t, connectors.Identity{})
	_, err := c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	must(t, err)
	want := connectors.Identity{Issuer: c.as.Issuer, Subject: "7", Name: "ann@example.com", Email: "ann@example.com"}
	if g := c.storedGrant(t, nil); g.Identity != want || g.Account != "" {
		t.Errorf("identity %+v, account %q", g.Identity, g.Account)
	}
}
