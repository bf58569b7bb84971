package upstream_test

import (
	"errors"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// TestRecheckConnector_AfterASync: a sync stores the era and capabilities, and the notice of it may come after the first call.
func TestRecheckConnector_AfterASync(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	must(t, b.call(t.Context(), b.newRequest(c)))
	b.pool.RecheckConnector(b.Tenant, c.ID)
	b.pool.RecheckConnector(b.Other, c.ID)
	b.pool.WaitReviews()
	must(t, b.call(t.Context(), b.newRequest(c)))
	if n := b.server.openedSessions(t); n != 1 {
		t.Errorf("%d sessions were opened", n)
	}
}

func TestRecheckConnector_EndsOutdatedSessions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, b *bench, c connectors.Connector) error{
		"changed": func(t *testing.T, b *bench, c connectors.Connector) error {
			c.Description = "new"
			_, err := b.St.Tenant(b.Tenant).Connectors().Update(t.Context(), c.ID, 0, connectors.Draft{Settings: c.Settings})
			return err
		},
		"disabled": func(t *testing.T, b *bench, c connectors.Connector) error {
			c.Enabled = false
			_, err := b.St.Tenant(b.Tenant).Connectors().Update(t.Context(), c.ID, 0, connectors.Draft{Settings: c.Settings})
			return err
		},
		"deleted": func(t *testing.T, b *bench, c connectors.Connector) error {
			return b.St.Tenant(b.Tenant).Connectors().Delete(t.Context(), c.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c := b.newSharedConnector(t)
			must(t, b.call(t.Context(), b.newRequest(c)))
			must(t, change(t, b, c))
			b.pool.RecheckConnector(b.Tenant, c.ID)
			b.server.wantDeleted(t, "secret-session-1")
		})
	}
}

func TestRecheckAgent_EndsSessionsOfAnotherAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, a := b.newConnector(t, b.Tenant, perAgent), b.Agent(t)
	bind := func(name string) {
		must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true, Accounts: []string{name}}))
		b.pool.RecheckAgent(b.Tenant, a.ID)
		b.pool.WaitReviews()
	}
	for _, name := range []string{"home", "work"} {
		text, err := connectors.Secret{Token: "of " + secret.Text(name)}.Encode()
		must(t, err)
		must(t, b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
			ConnectorID: c.ID, AgentID: &a.ID, Name: name, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: text,
		}))
	}
	bind("work")
	request := b.newRequest(c)
	request.Account = credentials.Account{Agent: &a.ID, Name: "work"}
	must(t, b.call(t.Context(), request))
	bind("work")
	must(t, b.call(t.Context(), request))
	if n := b.server.openedSessions(t); n != 1 {
		t.Errorf("%d sessions were opened", n)
	}
	bind("home")
	b.server.wantDeleted(t, "secret-session-1")
}

// Requests about a task find the account by its id, and the session that its call opened.
func TestUse_ByIDTakesTheSessionOfTheName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, a := b.newConnector(t, b.Tenant, perAgent), b.Agent(t)
	text, err := connectors.Secret{Token: "token"}.Encode()
	must(t, err)
	must(t, b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: c.ID, AgentID: &a.ID, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: text,
	}))
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true}))
	stored, err := b.Door().Agents().CredentialFor(t.Context(), c.ID, &a.ID, "")
	must(t, err)
	request := b.newRequest(c)
	request.Account = credentials.Account{Agent: &a.ID}
	must(t, b.call(t.Context(), request))
	request.Pinned, request.ByID = stored.ID, true
	must(t, b.call(t.Context(), request))
	b.pool.RecheckAgent(b.Tenant, a.ID)
	b.pool.WaitReviews()
	must(t, b.call(t.Context(), request))
	if n := b.server.openedSessions(t); n != 1 {
		t.Errorf("%d sessions were opened", n)
	}
	must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, &a.ID, ""))
	b.pool.InvalidateCredentials(b.Tenant, c.ID)
	err = b.call(t.Context(), request)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Type != credentials.TypeAccountChanged {
		t.Errorf("the deleted account: %v", err)
	}
}
