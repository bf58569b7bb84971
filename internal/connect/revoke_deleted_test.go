package connect_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// later makes all revocations due now.
func (b *bundle) later(t *testing.T) {
	t.Helper()
	b.AsOwner(t, "update account_revocations set due_at = now()")
}

func (b *bundle) revokeDeleted(t *testing.T) {
	t.Helper()
	b.later(t)
	if _, err := b.broker.RevokeDeleted(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
}

func TestRevokeDeleted_TellsTheServer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, b *bundle, c connectors.Connector, a connectors.Agent) error{
		"a connector is deleted": func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) error {
			return b.Door().Connectors().Delete(t.Context(), c.ID)
		},
		"an agent is deleted": func(t *testing.T, b *bundle, _ connectors.Connector, a connectors.Agent) error {
			return b.Door().Agents().Delete(t.Context(), a.ID)
		},
		"a member leaves": func(t *testing.T, b *bundle, _ connectors.Connector, a connectors.Agent) error {
			b.Member(t, connectors.RoleOwner)
			m := b.Member(t, connectors.RoleMember)
			b.AsOwner(t, "insert into personal_agents (tenant_id, agent_id, user_id) values ('"+b.Tenant.String()+"', '"+a.ID.String()+"', '"+m.UserID.String()+"')")
			_, err := b.Door().People().RemoveMember(t.Context(), m.UserID)
			return err
		},
		"the connector moves": func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) error {
			_, err := b.Door().Connectors().DeleteCredentials(t.Context(), c.ID)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
			c, agent := b.protected(t, perAgent), b.Agent(t)
			b.connect(t, c, agentRef(agent))
			refresh := b.grant(t, c, &agent.ID).Tokens.RefreshToken
			must(t, end(t, b, c, agent))
			if sent := b.as.Requests(oauthtest.Revoke); len(sent) != 0 {
				t.Errorf("revoked before the job ran: %v", sent)
			}
			b.revokeDeleted(t)
			sent := b.as.Requests(oauthtest.Revoke)
			if len(sent) != 1 || sent[0].Form.Get("token") != refresh.Reveal() {
				t.Errorf("revoked %v", sent)
			}
			if n := b.count(t, "account_revocations"); n != 0 {
				t.Errorf("%d revocations are left", n)
			}
		})
	}
}

func TestRevokeDeleted_TriesAgainForADay(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	b.as.Stop()
	must(t, b.Door().Connectors().Delete(t.Context(), c.ID))
	b.revokeDeleted(t)
	_, err := b.St.System().ClaimRevocation(t.Context(), connectors.TenantID{})
	if n := b.count(t, "account_revocations"); n != 1 || !fault.Is(err, fault.NotFound) {
		t.Errorf("%d are left, and one is due at once: %v", n, err)
	}
	b.AsOwner(t, "update account_revocations set created_at = now() - interval '25 hours'")
	b.revokeDeleted(t)
	if n := b.count(t, "account_revocations"); n != 0 {
		t.Errorf("%d are left after a day", n)
	}
	events, err := b.Door().Audit().List(t.Context(), store.AuditFilter{Action: "credential.revoke_failed"})
	if err != nil || len(events.Items) != 1 {
		t.Errorf("on record: %d, %v", len(events.Items), err)
	}
}

func TestRevokeDeleted_AsksNothingForADeletedTenant(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b.connect(t, b.protected(t), nil)
	must(t, b.St.System().DeleteTenant(t.Context(), b.Tenant))
	if n := b.count(t, "account_revocations"); n != 0 {
		t.Errorf("%d revocations", n)
	}
}

func TestRevokeDeleted_SparesANewerGrantOfTheClient(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	must(t, b.Door().Connectors().Delete(t.Context(), c.ID))
	b.connect(t, b.protected(t), nil)
	b.revokeDeleted(t)
	if sent := b.as.Requests(oauthtest.Revoke); len(sent) != 0 {
		t.Errorf("revoked %v", sent)
	}
	if n := b.count(t, "account_revocations"); n != 0 {
		t.Errorf("%d revocations are left", n)
	}
}

// A restored dump makes the foreign keys in the order of their names, and cascades follow the order in which they were made.
func TestRevokeDeleted_KeepsTheClientsSecretAfterARestore(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{AuthMethods: []string{"client_secret_post"}}, oauthtest.ResourceBehaviour{})
	b.AsOwner(t, `alter table credentials drop constraint credentials_connector_fkey,
		add constraint credentials_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade`)
	b.as.AddClient("by hand", "its secret", nil, baseURL+"/oauth/callback")
	c := b.protected(t, func(d *connectors.Draft) { d.OAuth.ClientID = "by hand" })
	must(t, b.Door().Connectors().SetClientSecret(t.Context(), c, "its secret"))
	b.connect(t, c, nil)
	must(t, b.Door().Connectors().Delete(t.Context(), c.ID))
	b.revokeDeleted(t)
	sent := b.as.Requests(oauthtest.Revoke)
	if len(sent) != 1 || sent[0].Form.Get("client_secret") != "its secret" {
		t.Errorf("revoked %v", sent)
	}
}

func TestRevokeDeleted_RecordsWhatItCannotOpen(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c, agent := b.protected(t, perAgent), b.Agent(t)
	b.connect(t, c, agentRef(agent))
	must(t, b.Door().Connectors().Delete(t.Context(), c.ID))
	b.AsOwner(t, "update account_revocations set created_at = now() - interval '25 hours', origin = 'https://another.example'")
	b.revokeDeleted(t)
	_, detail := b.event(t, "credential.revoke_failed")
	want := map[string]any{"connector_id": c.ID.String(), "name": c.Name, "agent_id": agent.ID.String(), "issuer": b.as.Issuer}
	if diff := cmp.Diff(want, detail); diff != "" {
		t.Errorf("detail (-want +got):\n%s", diff)
	}
	events, err := b.Door().Audit().List(t.Context(), store.AuditFilter{Target: c.Slug, Action: "credential.revoke_failed"})
	if err != nil || len(events.Items) != 1 {
		t.Errorf("%d events of the connector, %v", len(events.Items), err)
	}
}

func TestRevokeDeleted_TriesAReplacedGrantAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	was := b.grant(t, c, nil).Tokens
	setEndpoint := func(table, url string) {
		b.AsOwner(t, "update "+table+` set grant_meta = jsonb_set(grant_meta, '{server,revocation_endpoint}', '"`+url+`"')`)
	}
	setEndpoint("credentials", "http://127.0.0.1:1/revoke")
	next := oauthtest.Start(t, oauthtest.Behaviour{})
	b.mcp.Set(func(r *oauthtest.ResourceBehaviour) { r.Servers = []string{next.Issuer} })
	b.connect(t, c, nil)
	b.revokeDeleted(t)
	setEndpoint("account_revocations", was.Meta.Server.RevocationEndpoint)
	must(t, b.Door().Connectors().Delete(t.Context(), c.ID)) // the credential has kept its id
	b.revokeDeleted(t)
	sent := b.as.Requests(oauthtest.Revoke)
	if len(sent) != 1 || sent[0].Form.Get("token") != was.RefreshToken.Reveal() {
		t.Errorf("revoked %v", sent)
	}
}

func TestRevokeDeleted_FindsTheClientOfAnotherBaseURL(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{AuthMethods: []string{"client_secret_post"}}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	must(t, b.Door().Connectors().Delete(t.Context(), c.ID))
	b.broker = connect.New(connect.Options{
		Store: b.St, OAuth: &oauth.Client{HTTP: b.egress.Client(), CheckURL: b.egress.CheckURL}, Log: b.logs.logger(), BaseURL: "https://moved.example",
	})
	b.revokeDeleted(t)
	if n := b.count(t, "account_revocations"); n != 0 {
		t.Errorf("%d revocations are left:\n%s", n, b.logs)
	}
}
