package connect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// setAccount sets the account that the authorization server names in its next tokens; "" names none.
func (b *bundle) setAccount(email string) {
	b.as.Set(func(as *oauthtest.Behaviour) {
		as.IDToken = nil
		if email != "" {
			as.IDToken = oauthtest.Document{"email": email}
		}
	})
}

// wantRevoked runs the job, and checks that it revokes exactly these refresh tokens and leaves no revocation.
func (b *bundle) wantRevoked(t *testing.T, tokens ...secret.Text) {
	t.Helper()
	b.revokeDeleted(t)
	var want, sent []string
	for _, token := range tokens {
		want = append(want, token.Reveal())
	}
	for _, r := range b.as.Requests(oauthtest.Revoke) {
		sent = append(sent, r.Form.Get("token"))
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("revoked (-want +got):\n%s", diff)
	}
	if n := b.count(t, "account_revocations"); n != 0 {
		t.Errorf("%d revocations are left", n)
	}
}

// wantSpared checks how many spared grants the audit log has.
func (b *bundle) wantSpared(t *testing.T, want int) {
	t.Helper()
	events, err := b.Door().Audit().List(t.Context(), store.AuditFilter{Action: "credential.revoke_failed"})
	if err != nil || len(events.Items) != want {
		t.Errorf("%d spared grants are on record, want %d: %v", len(events.Items), want, err)
	}
}

func TestRevokeDeleted_SparedByAnUnknownAccount(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		was, now string // the accounts' names
		connect  func(t *testing.T, b *bundle, c connectors.Connector, a connectors.Agent)
		spared   bool
	}{
		"of another agent": {connect: func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) {
			b.connect(t, c, agentRef(b.Agent(t)))
		}},
		"of another agent, whose account is known": {now: "ada@acme.example", connect: func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) {
			b.connect(t, c, agentRef(b.Agent(t)))
		}},
		"of another agent, after a known account": {was: "ada@acme.example", connect: func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) {
			b.connect(t, c, agentRef(b.Agent(t)))
		}},
		"of a connector to another server": {connect: func(t *testing.T, b *bundle, _ connectors.Connector, a connectors.Agent) {
			b.mcp = b.as.Protect(t, oauthtest.ResourceBehaviour{})
			b.connect(t, b.protected(t, perAgent), agentRef(a))
		}},
		"of the same connector and agent": {spared: true, connect: func(t *testing.T, b *bundle, c connectors.Connector, a connectors.Agent) {
			b.connect(t, c, agentRef(a))
		}},
		"of the same agent, by another connector to the server": {spared: true, connect: func(t *testing.T, b *bundle, _ connectors.Connector, a connectors.Agent) {
			b.connect(t, b.protected(t, perAgent), agentRef(a))
		}},
		"no: the same account of another agent": {was: "ada@acme.example", now: "ada@acme.example", spared: true,
			connect: func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) {
				b.connect(t, c, agentRef(b.Agent(t)))
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
			c, agent := b.protected(t, perAgent), b.Agent(t)
			b.setAccount(tc.was)
			b.connect(t, c, agentRef(agent))
			refresh := b.grant(t, c, &agent.ID).Tokens.RefreshToken
			must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, &agent.ID, ""))
			b.setAccount(tc.now)
			tc.connect(t, b, c, agent)
			if tc.spared {
				b.wantRevoked(t)
				b.wantSpared(t, 1)
				return
			}
			b.wantRevoked(t, refresh)
			b.wantSpared(t, 0)
		})
	}
}

func TestRevokeDeleted_RecordsASparedGrant(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c, agent := b.protected(t, perAgent), b.Agent(t)
	b.connect(t, c, agentRef(agent))
	must(t, b.Door().Accounts().Rename(t.Context(), c.ID, &agent.ID, "", "home"))
	must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, &agent.ID, ""))
	b.connect(t, c, agentRef(agent))
	b.wantRevoked(t)
	actor, detail := b.event(t, "credential.revoke_failed")
	want := map[string]any{
		"connector_id": c.ID.String(), "name": c.Name, "agent_id": agent.ID.String(), "account": "home", "issuer": b.as.Issuer,
		"cause": "Revoking it could also end the client's newer access.",
	}
	if diff := cmp.Diff(want, detail); diff != "" || actor != "system Patchbay" {
		t.Errorf("by %s, detail (-want +got):\n%s", actor, diff)
	}
	events, err := b.Door().Audit().List(t.Context(), store.AuditFilter{Target: c.Slug, Action: "credential.revoke_failed"})
	if err != nil || len(events.Items) != 1 {
		t.Errorf("%d events of the connector, %v", len(events.Items), err)
	}
}

func TestRevokeDeleted_ReplacedByAnotherAccount(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		was, now string // the accounts' names
		queued   int
		revoked  bool
	}{
		"another account":               {"ada@acme.example", "bob@acme.example", 1, true},
		"the same account":              {"ada@acme.example", "ada@acme.example", 0, false},
		"an unknown account":            {"ada@acme.example", "", 1, false},
		"a known account, once unknown": {"", "ada@acme.example", 1, false},
		"both unknown":                  {"", "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			b.setAccount(tc.was)
			b.connect(t, c, nil)
			refresh := b.grant(t, c, nil).Tokens.RefreshToken
			b.setAccount(tc.now)
			b.connect(t, c, nil)
			if n := b.count(t, "account_revocations"); n != tc.queued {
				t.Errorf("%d revocations are queued, want %d", n, tc.queued)
			}
			if tc.revoked {
				b.wantRevoked(t, refresh)
				b.wantSpared(t, 0)
			} else {
				b.wantRevoked(t)
				b.wantSpared(t, tc.queued)
			}
			if g := b.grant(t, c, nil); g.Status != connectors.CredentialActive || g.Tokens.RefreshToken == refresh {
				t.Errorf("the new grant is %s", g.Status)
			}
		})
	}
}

func TestRevokeDeleted_ReplacedUnderOneName(t *testing.T) {
	t.Parallel()
	type doc = oauthtest.Document
	for name, tc := range map[string]struct {
		was, now doc
		queued   int
		revoked  bool
	}{
		"another subject of the same name": {doc{"sub": "7", "email": "ann@example.com"}, doc{"sub": "8", "email": "ann@example.com"}, 1, true},
		"another subject without a name":   {doc{"sub": "7"}, doc{"sub": "8"}, 1, true},
		"the same subject":                 {doc{"sub": "7"}, doc{"sub": "7"}, 0, false},
		"unknown in place of one subject":  {doc{"sub": "7"}, nil, 1, false},
		"now known":                        {nil, doc{"sub": "7"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{IDToken: tc.was}, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			b.connect(t, c, nil)
			refresh := b.grant(t, c, nil).Tokens.RefreshToken
			b.signInAs(tc.now)
			_, err := b.connectAgain(t, c, true)
			must(t, err)
			if n := b.count(t, "account_revocations"); n != tc.queued {
				t.Errorf("%d revocations are queued, want %d", n, tc.queued)
			}
			if tc.revoked {
				b.wantRevoked(t, refresh)
			} else {
				b.wantRevoked(t)
			}
		})
	}
}
