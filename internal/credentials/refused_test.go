package credentials_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

func TestRefused_EndsOnlyItsVersion(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
	r := c.newResolver()
	old, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
	must(t, err)
	fresh, err := r.ForceRefresh(t.Context(), c.Tenant, c.connector, old.ID, old.Version)
	must(t, err)
	must(t, r.MarkRefused(t.Context(), c.Tenant, old, "It is refused. Connect again.", nil))
	if got := c.storedGrant(t, nil).Status; got != connectors.CredentialActive {
		t.Errorf("the old one's end ended the new one: %s", got)
	}
	must(t, r.MarkRefused(t.Context(), c.Tenant, fresh, "It is refused. Connect again.", nil))
	g := c.storedGrant(t, nil)
	if g.Status != connectors.CredentialRevoked || g.Error != "It is refused. Connect again." || g.Tokens.Meta.ClientID == "" {
		t.Errorf("grant = %+v", g.Credential)
	}
	if got := c.reloadConnector(t).Status; got != connectors.StatusNeedsAuth {
		t.Errorf("the connector is %s", got)
	}
}

func TestRefused_StaticSecretStays(t *testing.T) {
	t.Parallel()
	c := newEmptyConnection(t, oauthtest.Behaviour{}, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	saveCredential(t, c.World, c.connector, nil, connectors.Secret{Token: "tok"})
	r := c.newResolver()
	u, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
	must(t, err)
	must(t, r.MarkRefused(t.Context(), c.Tenant, u, "No.", nil))
	must(t, r.RequestScopes(t.Context(), c.Tenant, u, []string{"write"}, nil))
	if got := c.token(t, r, nil); got != "tok" {
		t.Errorf("sent %q", got)
	}
}

func TestNeedsScopes_TwiceAtMost(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
	r := c.newResolver()
	for i, want := range []struct {
		asks   string
		wanted []string
		says   string
	}{
		{"write", []string{"read", "write"}, "the server needs more access than was granted."},
		{"admin", []string{"read", "write", "admin"}, "the server needs more access than was granted."},
		{"root", []string{"read", "write", "admin"}, "the server keeps needing more access."},
	} {
		g := c.storedGrant(t, nil)
		c.reconnect(t, g, "read")
		u, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
		must(t, err)
		must(t, r.RequestScopes(t.Context(), c.Tenant, u, []string{want.asks}, nil))
		_, err = r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
		wantMissing(t, err)
		if got := fault.As(err).Message; !strings.Contains(got, want.says) {
			t.Errorf("%d: message %q", i, got)
		}
		if needsAuth := !errors.Is(err, credentials.ErrTooManyStepUps); needsAuth != (i < 2) {
			t.Errorf("%d: to connect again mends it: %t", i, needsAuth)
		}
		meta := c.storedGrant(t, nil).Tokens.Meta
		if diff := cmp.Diff(want.wanted, meta.WantedScopes); diff != "" || meta.StepUps != min(i+1, 2) {
			t.Errorf("%d: after %d step-ups (-want +got):\n%s", i, meta.StepUps, diff)
		}
	}
}

func TestNeedsScopes_FormerSentence(t *testing.T) {
	t.Parallel()
	const former = "The server keeps asking for more access than it was granted. " +
		"Ask its operator which scopes it needs, set them on the connector, and connect again."
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
	r := c.newResolver()
	u, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
	must(t, err)
	must(t, r.MarkRefused(t.Context(), c.Tenant, u, former, nil))
	if _, err = r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{}); !errors.Is(err, credentials.ErrTooManyStepUps) {
		t.Errorf("a row with the sentence of earlier versions: %v", err)
	}
}

// reconnect stores g as a person's consent does, with these scopes. The wanted scopes stay stored.
func (c *connection) reconnect(t *testing.T, g store.Grant, scopes ...string) {
	t.Helper()
	n := store.NewGrant{ConnectorID: g.ConnectorID, AgentID: g.AgentID, Origin: g.Origin, GrantTokens: g.Tokens}
	n.Scopes = scopes
	must(t, c.Door().Accounts().SaveGrant(t.Context(), n))
}

func TestMissing_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	agent := connectors.AgentID{}
	for _, tc := range []struct {
		auth  connectors.AuthType
		mode  connectors.CredentialMode
		agent *connectors.AgentID
		want  string
	}{
		{connectors.AuthOAuth2, connectors.CredentialShared, nil, `The connector "X" has no connected account. Connect one on its Credentials page.`},
		{connectors.AuthOAuth2, connectors.CredentialPerAgent, &agent, `This agent has no connected account for the connector "X". Connect one on the Credentials page.`},
		{connectors.AuthOAuth2, connectors.CredentialPerAgent, nil, `The connector "X" needs an account, and no agent has one. Connect one on its Credentials page.`},
		{connectors.AuthClientCredentials, connectors.CredentialShared, nil, `The connector "X" has no client secret. Set it on its Credentials page.`},
		{connectors.AuthPrivateKeyJWT, connectors.CredentialShared, nil, `The connector "X" has no private key. Set it on its Credentials page.`},
		{connectors.AuthBearer, connectors.CredentialShared, nil, `The connector "X" has no usable credential. Set one on its Credentials page.`},
		{connectors.AuthBearer, connectors.CredentialPerAgent, nil, `The connector "X" needs a credential, and no agent has one. Set one on its Credentials page.`},
	} {
		err := credentials.NewMissingError(connectors.Connector{Settings: connectors.Settings{Name: "X", Auth: connectors.Auth{Type: tc.auth}, CredentialMode: tc.mode}}, tc.agent)
		wantMissing(t, err)
		if got := fault.As(err).Message; got != tc.want {
			t.Errorf("%s, %s: %q", tc.auth, tc.mode, got)
		}
	}
}

func TestMissing_ExpiredWithoutRefreshToken(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{NoRefreshToken: true}, time.Now().Add(-time.Minute))
	_, err := c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantMissing(t, err)
	want := `Reconnect the account for "` + c.connector.Name + `": the access has expired.`
	if got := fault.As(err).Message; got != want {
		t.Errorf("message %q", got)
	}
	if got := c.status(t); got != connectors.CredentialExpired {
		t.Errorf("status %s", got)
	}
}
