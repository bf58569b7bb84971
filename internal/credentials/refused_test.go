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

func TestARefusedTokenEndsItsOwnVersionOnly(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
	r := c.here()
	old, err := r.Of(t.Context(), c.Tenant, c.connector, nil)
	must(t, err)
	fresh, err := r.Forced(t.Context(), c.Tenant, c.connector, nil, old.Version)
	must(t, err)
	must(t, r.Refused(t.Context(), c.Tenant, old, "It is refused. Connect again."))
	if got := c.stored(t, nil).Status; got != connectors.CredentialActive {
		t.Errorf("the old one's end ended the new one: %s", got)
	}
	must(t, r.Refused(t.Context(), c.Tenant, fresh, "It is refused. Connect again."))
	g := c.stored(t, nil)
	if g.Status != connectors.CredentialRevoked || g.Error != "It is refused. Connect again." || g.Tokens.Meta.ClientID == "" {
		t.Errorf("grant = %+v", g.Credential)
	}
	if got := c.now(t).Status; got != connectors.StatusNeedsAuth {
		t.Errorf("the connector is %s", got)
	}
}

func TestASecretThatGoesOutAsItIsCannotBeRefusedToDeath(t *testing.T) {
	t.Parallel()
	c := unconnected(t, oauthtest.Behaviour{}, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	keep(t, c.World, c.connector, nil, connectors.Secret{Token: "tok"})
	r := c.here()
	u, err := r.Of(t.Context(), c.Tenant, c.connector, nil)
	must(t, err)
	must(t, r.Refused(t.Context(), c.Tenant, u, "No."))
	must(t, r.NeedsScopes(t.Context(), c.Tenant, u, []string{"write"}))
	if got := c.token(t, r, nil); got != "tok" {
		t.Errorf("sent %q", got)
	}
}

func TestAServerMayAskForMoreScopesTwice(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
	r := c.here()
	for i, want := range []struct {
		asks   string
		wanted []string
		says   string
	}{
		{"write", []string{"read", "write"}, "the server asks for more access than was granted."},
		{"admin", []string{"read", "write", "admin"}, "the server asks for more access than was granted."},
		{"root", []string{"read", "write", "admin"}, "the server keeps asking for more access than it was granted."},
	} {
		g := c.stored(t, nil)
		c.reconnected(t, g, "read")
		u, err := r.Of(t.Context(), c.Tenant, c.connector, nil)
		must(t, err)
		must(t, r.NeedsScopes(t.Context(), c.Tenant, u, []string{want.asks}))
		_, err = r.For(t.Context(), c.Tenant, c.connector, nil)
		wantMissing(t, err)
		if got := fault.As(err).Message; !strings.Contains(got, want.says) {
			t.Errorf("%d: message %q", i, got)
		}
		if mendable := !errors.Is(err, credentials.ErrInsists); mendable != (i < 2) {
			t.Errorf("%d: to connect again mends it: %t", i, mendable)
		}
		meta := c.stored(t, nil).Tokens.Meta
		if diff := cmp.Diff(want.wanted, meta.WantedScopes); diff != "" || meta.StepUps != min(i+1, 2) {
			t.Errorf("%d: after %d step-ups (-want +got):\n%s", i, meta.StepUps, diff)
		}
	}
}

// reconnected stores g anew, as a person does who grants some scopes; what was wanted stays known.
func (c *connection) reconnected(t *testing.T, g store.Grant, scopes ...string) {
	t.Helper()
	n := store.NewGrant{ConnectorID: g.ConnectorID, AgentID: g.AgentID, Origin: g.Origin, GrantTokens: g.Tokens}
	n.Scopes = scopes
	must(t, c.Door().SaveGrant(t.Context(), n))
}

func TestMissingSaysWhatToDo(t *testing.T) {
	t.Parallel()
	agent := connectors.AgentID{}
	for _, tc := range []struct {
		auth  connectors.AuthType
		mode  connectors.CredentialMode
		agent *connectors.AgentID
		want  string
	}{
		{connectors.AuthOAuth2, connectors.CredentialShared, nil, `The connector "X" has no connected account. Connect one on its Credentials page.`},
		{connectors.AuthOAuth2, connectors.CredentialPerAgent, &agent, `This agent has no connected account for the connector "X". Connect one on the connector's Credentials page.`},
		{connectors.AuthOAuth2, connectors.CredentialPerAgent, nil, `The connector "X" asks for an account, and no agent has one yet. Connect one on its Credentials page.`},
		{connectors.AuthClientCredentials, connectors.CredentialShared, nil, `The connector "X" has no client secret. Set it on its Credentials page.`},
		{connectors.AuthPrivateKeyJWT, connectors.CredentialShared, nil, `The connector "X" has no private key. Set it on its Credentials page.`},
		{connectors.AuthBearer, connectors.CredentialShared, nil, `The connector "X" has no usable credential. Set one on its Credentials page.`},
		{connectors.AuthBearer, connectors.CredentialPerAgent, nil, `The connector "X" asks for a credential, and no agent has one yet. Set one on its Credentials page.`},
	} {
		err := credentials.Missing(connectors.Connector{Name: "X", Auth: connectors.Auth{Type: tc.auth}, CredentialMode: tc.mode}, tc.agent)
		wantMissing(t, err)
		if got := fault.As(err).Message; got != tc.want {
			t.Errorf("%s, %s: %q", tc.auth, tc.mode, got)
		}
	}
}

func TestAnEndedAccountWithoutARefreshTokenSaysSo(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{NoRefreshToken: true}, time.Now().Add(-time.Minute))
	_, err := c.here().For(t.Context(), c.Tenant, c.connector, nil)
	wantMissing(t, err)
	want := `The account of the connector "` + c.connector.Name + `" must be connected again: the access has ended and cannot be renewed.`
	if got := fault.As(err).Message; got != want {
		t.Errorf("message %q", got)
	}
	if got := c.status(t); got != connectors.CredentialExpired {
		t.Errorf("status %s", got)
	}
}
