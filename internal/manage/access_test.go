package manage_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

func TestToken_IssueAndRevoke(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.Agent(t)
	ref := connectors.Ref(agent.Slug)
	end := time.Now().Add(time.Hour).Truncate(time.Microsecond).UTC()
	token, text, err := b.reg.IssueToken(t.Context(), b.admin, ref, manage.TokenRequest{Name: " laptop ", ExpiresAt: &end})
	if err != nil {
		t.Fatal(err)
	}
	if token.Name != "laptop" || !token.ExpiresAt.Equal(end) || !strings.HasPrefix(text.Reveal(), token.Prefix+"_") {
		t.Errorf("token: %+v", token)
	}
	bearer, ok := secret.ParseBearer(secret.AgentBearer, text)
	if !ok {
		t.Fatal("the text is no token's")
	}
	stored, err := b.St.System().Sessions().AgentToken(t.Context(), connectors.AgentTokenID{UUID: bearer.ID})
	if err != nil || b.Keyring.VerifyBearer(bearer, stored.SecretMAC) != nil {
		t.Errorf("stored: %v", err)
	}
	list, err := b.reg.Tokens(t.Context(), b.admin, ref, store.Page{})
	if err != nil || len(list.Items) != 1 || list.Items[0].ID != token.ID {
		t.Errorf("listed: %v, %v", list.Items, err)
	}
	if err := b.reg.RevokeToken(t.Context(), b.admin, ref, token.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.reg.RevokeToken(t.Context(), b.admin, ref, token.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a second time: %v", err)
	}
}

func TestToken_TextIsNotStored(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	_, text, err := b.reg.IssueToken(t.Context(), b.admin, connectors.Ref(b.Agent(t).Slug), manage.TokenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	hidden := strings.Split(text.Reveal(), "_")[3]
	for _, table := range []string{"agent_tokens", "audit_events"} {
		if all := b.everything(t, table); all == "" || strings.Contains(all, hidden) {
			t.Errorf("%s has it, or has nothing", table)
		}
	}
}

// everything returns a table's rows of all tenants.
func (b *testEnv) everything(t *testing.T, table string) (all string) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), "select coalesce(string_agg(t::text, ' '), '') from "+table+" t").Scan(&all)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestToken_ValidatesFields(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref, past := connectors.Ref(b.Agent(t).Slug), time.Now().Add(-time.Second)
	_, _, err := b.reg.IssueToken(t.Context(), b.admin, ref, manage.TokenRequest{Name: strings.Repeat("x", 101), ExpiresAt: &past})
	wantFields(t, err, "name", "expires_at")
	_, _, err = b.reg.IssueToken(t.Context(), b.admin, "nobody", manage.TokenRequest{})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("for nobody: %v", err)
	}
}

func TestGrant_IsReplaced(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	ask, who, what := connectors.ApprovalAuto, connectors.Ref(agent.Slug), connectors.Ref(c.Slug)
	for _, g := range []connectors.Grant{
		{AllTools: true},
		{Tools: []string{"b", "a", "b"}, Approval: &ask, TrustedTools: []string{"a"}},
		{Tools: nil},
	} {
		if _, err := b.reg.Grant(t.Context(), b.admin, who, what, g); err != nil {
			t.Fatal(err)
		}
		list, err := b.reg.Grants(t.Context(), b.admin, who, store.Page{})
		if err != nil || len(list.Items) != 1 {
			t.Fatalf("%d grants, %v", len(list.Items), err)
		}
		got := list.Items[0]
		want := g.Normalized()
		if got.Slug != c.Slug || got.AllTools != g.AllTools || !slices.Equal(got.Tools, want.Tools) || !slices.Equal(got.TrustedTools, want.TrustedTools) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if diff := cmp.Diff(g.Approval, got.Approval); diff != "" {
			t.Error(diff)
		}
	}
	if err := b.reg.DropGrant(t.Context(), b.admin, who, what); err != nil {
		t.Fatal(err)
	}
	if err := b.reg.DropGrant(t.Context(), b.admin, who, what); !fault.Is(err, fault.NotFound) {
		t.Errorf("a second time: %v", err)
	}
}

func TestGrant_ValidatesFields(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	mode := connectors.ApprovalMode("never")
	_, err := b.reg.Grant(t.Context(), b.admin, connectors.Ref(agent.Slug), connectors.Ref(c.Slug), connectors.Grant{
		Tools: []string{""}, TrustedTools: []string{strings.Repeat("x", 129)}, Approval: &mode,
	})
	wantFields(t, err, "tools", "trusted_tools", "approval")
}

func TestAgents_RequireManagePermission(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	who, what := connectors.Ref(agent.Slug), connectors.Ref(c.Slug)
	_, token := b.TokenIn(t, b.Tenant, agent.ID)
	for _, role := range []connectors.Role{"", connectors.RoleViewer, connectors.RoleMember} {
		a := auth.Actor{Kind: auth.KindPerson, Tenant: b.admin.Tenant, Role: role}
		_, _, issued := b.reg.IssueToken(t.Context(), a, who, manage.TokenRequest{})
		_, granted := b.reg.Grant(t.Context(), a, who, what, connectors.Grant{AllTools: true})
		for order, err := range map[string]error{
			"issue": issued, "revoke": b.reg.RevokeToken(t.Context(), a, who, token.ID),
			"grant": granted, "drop": b.reg.DropGrant(t.Context(), a, who, what),
		} {
			if !fault.Is(err, fault.Denied) {
				t.Errorf("%s as %q: %v", order, role, err)
			}
		}
	}
}

func TestAgents_AreIsolatedByTenant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	their, theirs, mine := b.AgentIn(t, b.Other), b.ConnectorIn(t, b.Other), b.Agent(t)
	_, token := b.TokenIn(t, b.Other, their.ID)
	id := func(u interface{ String() string }) connectors.Ref { return connectors.Ref(u.String()) }
	_, _, issued := b.reg.IssueToken(t.Context(), b.admin, id(their.ID), manage.TokenRequest{})
	_, granted := b.reg.Grant(t.Context(), b.admin, id(mine.ID), id(theirs.ID), connectors.Grant{AllTools: true})
	_, listed := b.reg.Tokens(t.Context(), b.admin, id(their.ID), store.Page{})
	for order, err := range map[string]error{
		"issue": issued, "grant": granted, "list": listed,
		"revoke": b.reg.RevokeToken(t.Context(), b.admin, id(mine.ID), token.ID),
	} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", order, err)
		}
	}
}
