package connect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
)

func TestDisconnect_DeletesAndRevokes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c, ann, bob := b.protected(t, perAgent), b.Agent(t), b.Agent(t)
	b.connect(t, c, agentRef(ann))
	b.connect(t, c, agentRef(bob))
	refresh := b.grant(t, c, &ann.ID).Tokens.RefreshToken
	must(t, b.broker.Disconnect(t.Context(), b.admin, ref(c.ID), agentRef(ann)))

	sent := b.as.Requests(oauthtest.Revoke)
	if len(sent) != 1 || sent[0].Form.Get("token") != refresh.Reveal() || sent[0].Form.Get("token_type_hint") != "refresh_token" {
		t.Errorf("revoked %v", sent)
	}
	if _, err := b.St.Vault(b.Tenant).Grant(t.Context(), c.ID, &ann.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("grant: %v", err)
	}
	b.grant(t, c, &bob.ID)
	actor, detail := b.event(t, "credential.disconnect")
	want := map[string]any{"connector_id": c.ID.String(), "agent_id": ann.ID.String(), "agent": ann.Slug}
	if diff := cmp.Diff(want, detail); diff != "" || actor != "person "+b.admin.Name {
		t.Errorf("event by %s\n%s", actor, diff)
	}
	err := b.broker.Disconnect(t.Context(), b.admin, ref(c.ID), agentRef(ann))
	wantFault(t, err, fault.NotFound, "")
}

func TestDisconnect_IgnoresRevocationFailure(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(*bundle){
		"gone":           func(b *bundle) { b.as.Stop() },
		"our client too": func(b *bundle) { b.as.ForgetClients() },
		"offers none":    func(b *bundle) { b.as.Set(func(as *oauthtest.Behaviour) { as.NoRevocation = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{NoRefreshToken: true}, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			b.connect(t, c, nil)
			access := b.grant(t, c, nil).Tokens.AccessToken.Reveal()
			trouble(b)
			must(t, b.broker.Disconnect(t.Context(), b.admin, ref(c.ID), nil))
			if n := b.count(t, "credentials"); n != 0 || strings.Contains(b.logs.String(), access) {
				t.Errorf("%d credentials, or a token in the log", n)
			}
		})
	}
}

func TestOnlyAnAdminDisconnectsAndOnlyAccounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	bearer := b.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.Credential(t, bearer.ID, nil, "token")
	b.connect(t, c, nil)
	wantFault(t, b.broker.Disconnect(t.Context(), b.person(t, b.Tenant, connectors.RoleMember), ref(c.ID), nil), fault.Denied, "")
	wantFault(t, b.broker.Disconnect(t.Context(), b.person(t, b.Other, connectors.RoleOwner), ref(c.ID), nil), fault.NotFound, "")
	wantFault(t, b.broker.Disconnect(t.Context(), b.admin, ref(bearer.ID), nil), fault.Conflict, "")
	wantFault(t, b.broker.Disconnect(t.Context(), b.admin, ref(c.ID), agentRef(b.Agent(t))), fault.Conflict, "")
	if n := b.count(t, "credentials"); n != 2 {
		t.Errorf("%d credentials", n)
	}
}

// Any refresh token of a client may end all that the person has granted to it, so that the same client's is left alone.
func TestFinish_RevokesReplacedGrantOfOtherClient(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	b.connect(t, c, nil)
	b.revokeDeleted(t)
	if n := b.as.Count(oauthtest.Revoke); n != 0 {
		t.Errorf("%d grants of the same client were revoked", n)
	}
	was := b.grant(t, c, nil).Tokens
	must(t, b.Door().Accounts().DeleteRegistration(t.Context(), b.as.Issuer, b.broker.RedirectURI(), was.Meta.ClientID))
	b.connect(t, c, nil)
	b.revokeDeleted(t)
	revoked := b.as.Requests(oauthtest.Revoke)
	if len(revoked) != 1 || revoked[0].Form.Get("token") != was.RefreshToken.Reveal() {
		t.Errorf("another client: revoked %v", revoked)
	}
	b.AsOwner(t, "delete from account_revocations") // the server refuses it: its client's secret is forgotten

	was = b.grant(t, c, nil).Tokens
	next := oauthtest.Start(t, oauthtest.Behaviour{})
	b.mcp.Set(func(r *oauthtest.ResourceBehaviour) { r.Servers = []string{next.Issuer} })
	b.connect(t, c, nil)
	b.revokeDeleted(t)
	revoked = b.as.Requests(oauthtest.Revoke)
	if len(revoked) != 2 || revoked[1].Form.Get("token") != was.RefreshToken.Reveal() || next.Count(oauthtest.Revoke) != 0 {
		t.Errorf("another server: revoked %v", revoked)
	}
	now := b.grant(t, c, nil)
	if now.Tokens.Meta.Server.Issuer != next.Issuer || now.Status != connectors.CredentialActive {
		t.Errorf("grant = %+v", now.Credential)
	}
	_, err := b.owner(t).Exec(t.Context(), "update credentials set status = 'revoked'")
	must(t, err)
	b.mcp.Set(func(r *oauthtest.ResourceBehaviour) { r.Servers = nil })
	b.connect(t, c, nil)
	b.revokeDeleted(t)
	if n := next.Count(oauthtest.Revoke); n != 0 {
		t.Errorf("a dead grant was revoked %d times", n)
	}
}

// A person may say no to token exchange before the first call.
func TestDisconnect_BeforeTheFirstExchange(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	must(t, b.Door().Accounts().SetTokenExchange(t.Context(), true))
	c := b.Connector(t, func(d *connectors.Draft) {
		d.Auth.Type, d.CredentialMode = connectors.AuthOAuth2, connectors.CredentialPerAgent
		d.OAuth = connectors.OAuthSettings{ClientID: "patchbay", Issuer: "https://login.example.com", TokenExchange: connectors.ExchangeActClaim}
	})
	personal, shared := b.Agent(t), b.Agent(t)
	must(t, b.Door().Agents().MakePersonal(t.Context(), b.Member(t, connectors.RoleMember).UserID, personal.ID))
	for _, agent := range []connectors.Agent{personal, shared} {
		must(t, b.broker.Disconnect(t.Context(), b.admin, ref(c.ID), agentRef(agent)))
		if _, err := b.Door().Accounts().ExchangeSubject(t.Context(), agent.ID, c.ID); !fault.Is(err, fault.NotFound) || b.count(t, "credentials") != 0 {
			t.Errorf("%s: %v, %d accounts", agent.Slug, err, b.count(t, "credentials"))
		}
		wantFault(t, b.broker.Disconnect(t.Context(), b.admin, ref(c.ID), agentRef(agent)), fault.NotFound, "")
	}
}
