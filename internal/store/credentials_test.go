package store_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestVault_OpensSealedSecret(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, a := w.Connector(t), w.Agent(t)
	w.Credential(t, c.ID, nil, "the shared token")
	w.Credential(t, c.ID, &a.ID, "the agent's token")

	for agent, want := range map[*connectors.AgentID]string{nil: "the shared token", &a.ID: "the agent's token"} {
		cred, text, err := w.St.Vault(w.Tenant).Secret(t.Context(), c.ID, agent)
		if err != nil {
			t.Fatal(err)
		}
		if text.Reveal() != want || cred.Type != connectors.AuthBearer || cred.Status != connectors.CredentialActive {
			t.Errorf("credential = %+v with another secret", cred)
		}
	}
	var sealed []byte
	if err := asSystem(t.Context(), w.Pool, "select string_agg(sealed, '') from credentials", nil, &sealed); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("token")) {
		t.Error("a secret stands in the database as it is")
	}
}

func TestASecretMovedToAnotherRowDoesNotOpen(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	from, to, theirs := w.Connector(t), w.Connector(t), w.ConnectorIn(t, w.Other)
	w.Credential(t, from.ID, nil, "the token")
	w.Credential(t, to.ID, nil, "another token")
	w.CredentialIn(t, w.Other, theirs.ID, nil, "their token")
	err := asSystem(t.Context(), w.Pool, "update credentials set sealed = (select sealed from credentials where connector_id = $1)", []any{from.ID})
	if err != nil {
		t.Fatal(err)
	}

	if _, text, err := w.St.Vault(w.Tenant).Secret(t.Context(), from.ID, nil); err != nil || text.Reveal() != "the token" {
		t.Errorf("in its own row: %v", err)
	}
	if _, text, err := w.St.Vault(w.Tenant).Secret(t.Context(), to.ID, nil); !text.Empty() || err == nil {
		t.Errorf("in another row it opened: %v", err)
	}
	if _, text, err := w.St.Vault(w.Other).Secret(t.Context(), theirs.ID, nil); !text.Empty() || err == nil {
		t.Errorf("in another tenant it opened: %v", err)
	}
}

func TestVault_OriginIsAuthenticated(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Credential(t, c.ID, nil, "the token")
	if err := asSystem(t.Context(), w.Pool, "update credentials set origin = 'https://elsewhere.example.com:443'", nil); err != nil {
		t.Fatal(err)
	}
	if _, text, err := w.St.Vault(w.Tenant).Secret(t.Context(), c.ID, nil); !text.Empty() || err == nil {
		t.Errorf("for another origin it opened: %v", err)
	}
	err := w.Door().Connectors().SetCredential(t.Context(), store.NewCredential{ConnectorID: c.ID, Type: connectors.AuthBearer, Secret: "x"})
	if err == nil {
		t.Error("a credential without an origin was stored")
	}
}

func TestAReplacedCredentialKeepsItsRow(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Credential(t, c.ID, nil, "old")
	before, _, err := w.St.Vault(w.Tenant).Secret(t.Context(), c.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		authType connectors.AuthType
		account  string
		isSame   bool
	}{
		{connectors.AuthBearer, "", true},
		{connectors.AuthBasic, "ada", false},
		{connectors.AuthBasic, "ada", true},
		{connectors.AuthBasic, "bob", false},
	} {
		err = w.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
			ConnectorID: c.ID, Type: tc.authType, Origin: connectors.Origin(c.URL), Account: tc.account, Secret: "new",
		})
		if err != nil {
			t.Fatal(err)
		}
		after, text, err := w.St.Vault(w.Tenant).Secret(t.Context(), c.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (after.ID == before.ID) != tc.isSame || after.Version != before.Version+1 || after.Account != tc.account || after.Type != tc.authType || text.Reveal() != "new" {
			t.Errorf("credential went from %+v to %+v", before, after)
		}
		before = after
	}
}

func TestCredentialsAreDeletedOneByOneOrAll(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, a := w.Connector(t), w.Agent(t)
	w.Credential(t, c.ID, nil, "shared")
	w.Credential(t, c.ID, &a.ID, "agent's")

	if err := w.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""); err != nil {
		t.Fatal(err)
	}
	wantKind(t, w.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""), fault.NotFound)
	list, err := w.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{})
	if err != nil || len(list.Items) != 1 || list.Items[0].AgentID == nil || *list.Items[0].AgentID != a.ID {
		t.Errorf("left: %+v, %v", list.Items, err)
	}
	if n, err := w.Door().Connectors().DeleteCredentials(t.Context(), c.ID); n != 1 || err != nil {
		t.Errorf("deleted %d, %v", n, err)
	}
	err = w.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: c.ID, Type: connectors.AuthNone, Origin: connectors.Origin(c.URL), Secret: "x",
	})
	wantField(t, err, fault.Invalid, "auth.type")
	if strings.Contains(err.Error(), "x'") {
		t.Error("the error repeats the secret")
	}
}

func TestAgentCredentials_ListsPerAgentConnectors(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	perAgent := func(name string) func(*connectors.Draft) {
		return func(d *connectors.Draft) {
			d.Name, d.CredentialMode, d.Auth.Type = name, connectors.CredentialPerAgent, connectors.AuthBearer
		}
	}
	agent, other := w.Agent(t), w.Agent(t)
	bare, full := w.Connector(t, perAgent("b bare")), w.Connector(t, perAgent("A full"))
	w.Connector(t)
	w.ConnectorIn(t, w.Other, perAgent("c theirs"))
	w.Credential(t, full.ID, &agent.ID, "token")
	w.Credential(t, bare.ID, &other.ID, "token")
	have, err := w.Door().Connectors().AgentCredentials(t.Context(), agent.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := []store.AgentCredential{
		{ConnectorSlug: full.Slug, ConnectorName: "A full", Name: connectors.DefaultAccount, AuthType: connectors.AuthBearer, Status: connectors.CredentialActive},
		{ConnectorSlug: bare.Slug, ConnectorName: "b bare", AuthType: connectors.AuthBearer},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}
