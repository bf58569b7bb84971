package store_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// setAccount stores a bearer token as an owner's account with a name; empty: the only one.
func setAccount(t *testing.T, w *fixture.World, c connectors.Connector, agent *connectors.AgentID, name, token string) error {
	t.Helper()
	return w.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: c.ID, AgentID: agent, Name: name, Type: connectors.AuthBearer, Origin: connectors.Origin(c.URL), Secret: secret.Text(token),
	})
}

func wantAccount(t *testing.T, w *fixture.World, c connectors.Connector, agent *connectors.AgentID, name, token string) {
	t.Helper()
	cred, text, err := w.St.Vault(w.Tenant).NamedSecret(t.Context(), c.ID, agent, name)
	if err != nil || text.Reveal() != token || name != "" && cred.Name != name {
		t.Errorf("the account %q is %q with %q, want %q (%v)", name, cred.Name, text.Reveal(), token, err)
	}
}

// wantSeveral fails unless err names exactly the accounts.
func wantSeveral(t *testing.T, err error, names ...string) {
	t.Helper()
	several, ok := errors.AsType[store.SeveralAccountsError](err)
	if !ok || !fault.Is(err, fault.Conflict) || fault.As(err).Type != store.TypeAccountRequired || !slices.Equal(several.Names, names) {
		t.Errorf("%v, want the choice of %q", err, names)
	}
}

func TestAccounts_OnlyOneIsMeantWithoutAName(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, a := w.Connector(t), w.Agent(t)
	for _, owner := range []*connectors.AgentID{nil, &a.ID} {
		_, _, err := w.St.Vault(w.Tenant).Secret(t.Context(), c.ID, owner)
		wantKind(t, err, fault.NotFound)
		must(t, setAccount(t, w, c, owner, "work", "w-1"))
		wantAccount(t, w, c, owner, "", "w-1")
		must(t, setAccount(t, w, c, owner, "", "w-2"))
		wantAccount(t, w, c, owner, "work", "w-2")

		must(t, setAccount(t, w, c, owner, "personal", "p-1"))
		_, _, err = w.St.Vault(w.Tenant).Secret(t.Context(), c.ID, owner)
		wantSeveral(t, err, "personal", "work")
		wantSeveral(t, setAccount(t, w, c, owner, "", "w-3"), "personal", "work")
		wantSeveral(t, w.Door().Connectors().DeleteCredential(t.Context(), c.ID, owner, ""), "personal", "work")
		wantAccount(t, w, c, owner, "work", "w-2")
		wantAccount(t, w, c, owner, "personal", "p-1")
		_, _, err = w.St.Vault(w.Tenant).NamedSecret(t.Context(), c.ID, owner, "other")
		wantKind(t, err, fault.NotFound)

		must(t, w.Door().Connectors().DeleteCredential(t.Context(), c.ID, owner, "work"))
		wantAccount(t, w, c, owner, "", "p-1")
	}
}

func TestAccounts_DefaultIsAlone(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, a := w.Connector(t), w.Agent(t)
	must(t, setAccount(t, w, c, nil, "", "first"))
	must(t, setAccount(t, w, c, &a.ID, "work", "of another owner"))
	wantAccount(t, w, c, nil, connectors.DefaultAccount, "first")
	err := setAccount(t, w, c, nil, "work", "second")
	if wantKind(t, err, fault.Conflict); fault.As(err).Type != store.TypeAccountRequired {
		t.Errorf("beside the default one: %v", err)
	}
	err = setAccount(t, w, c, &a.ID, connectors.DefaultAccount, "default")
	if wantKind(t, err, fault.Conflict); fault.As(err).Type != store.TypeAccountRequired {
		t.Errorf("a default one beside another: %v", err)
	}
	wantKind(t, setAccount(t, w, c, &a.ID, "No name", "x"), fault.Invalid)
}

// A row with a changed name does not open: its secret is bound to the name.
func TestAccounts_SecretIsBoundToItsName(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	must(t, setAccount(t, w, c, nil, "work", "w"))
	must(t, setAccount(t, w, c, nil, "personal", "p"))
	for _, change := range []string{"set name = 'old' where name = 'work'", "set name = 'work' where name = 'personal'"} {
		must(t, asSystem(t.Context(), w.Pool, "update credentials "+change+" and connector_id = $1", []any{c.ID}))
	}
	for _, name := range []string{"work", "old"} {
		if _, text, err := w.St.Vault(w.Tenant).NamedSecret(t.Context(), c.ID, nil, name); !text.Empty() || err == nil {
			t.Errorf("%s opens: %v", name, err)
		}
	}
}

func TestSyncSecret_AgentsAccountIsTheChosenOneOrUsedLast(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, first, second := w.Connector(t), w.Agent(t), w.Agent(t)
	vault := w.St.Vault(w.Tenant)
	must(t, setAccount(t, w, c, nil, "", "shared"))
	_, _, err := vault.SyncSecret(t.Context(), c.ID, false)
	wantKind(t, err, fault.NotFound)

	want := func(want string) {
		t.Helper()
		if _, text, err := vault.SyncSecret(t.Context(), c.ID, false); err != nil || text.Reveal() != want {
			t.Errorf("syncs use %q, want %q (%v)", text.Reveal(), want, err)
		}
	}
	must(t, setAccount(t, w, c, &first.ID, "", "first"))
	must(t, setAccount(t, w, c, &second.ID, "", "second"))
	cred, _, err := vault.Secret(t.Context(), c.ID, &first.ID)
	must(t, err)
	must(t, vault.MarkUsed(t.Context(), cred.ID))
	want("first")
	must(t, w.Door().Syncs().ChooseForSyncs(t.Context(), c.ID, &second.ID, ""))
	want("second")
	must(t, setAccount(t, w, c, &second.ID, "", "second again"))
	want("second again")
	third := w.Agent(t)
	wantKind(t, w.Door().Syncs().ChooseForSyncs(t.Context(), c.ID, &third.ID, ""), fault.NotFound)
	want("second again")
	must(t, w.Door().Connectors().DeleteCredential(t.Context(), c.ID, &second.ID, ""))
	want("first")
	if _, text, err := vault.SyncSecret(t.Context(), c.ID, true); err != nil || text.Reveal() != "shared" {
		t.Errorf("of the shared ones: %q, %v", text.Reveal(), err)
	}
}

// An account from token exchange is its agent's only one, named default.
func TestRename_ExchangedAccountKeepsItsName(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, agent := w.Exchanging(t), w.Agent(t)
	accounts := w.Door().Accounts()
	must(t, accounts.AddExchangedAccount(t.Context(), store.NewExchangedAccount{Connector: c, AgentID: agent.ID, Meta: store.GrantMeta{Exchange: c.OAuth.TokenExchange}}))
	wantKind(t, accounts.Rename(t.Context(), c.ID, &agent.ID, "", "work"), fault.Conflict)
	if names, err := accounts.Names(t.Context(), c.ID, &agent.ID); err != nil || len(names) != 1 || names[0] != connectors.DefaultAccount {
		t.Errorf("%v, %v", names, err)
	}
}

// A person connects an account in the place of one from token exchange, at the same server by the same client.
func TestRevocation_OfAReplacedExchangedAccount(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, agent := w.Exchanging(t), w.Agent(t)
	save := func(exchange connectors.TokenExchange) {
		t.Helper()
		must(t, w.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
			ConnectorID: c.ID, AgentID: &agent.ID, Origin: c.CredentialOrigin(),
			GrantTokens: store.GrantTokens{AccessToken: "token", Meta: store.GrantMeta{Exchange: exchange, ClientID: "patchbay"}},
		}))
	}
	save(c.OAuth.TokenExchange)
	save(c.OAuth.TokenExchange)
	if n := w.Count(t, "account_revocations"); n != 0 {
		t.Errorf("%d revocations of a renewed token", n)
	}
	save("")
	if n := w.Count(t, "account_revocations"); n != 1 {
		t.Errorf("%d revocations", n)
	}
}

// A deleted account waits for its revocation with what opens it.
func TestRevocation_OfANamedAccountOpens(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	g := newGrant(c)
	g.Name = "work"
	must(t, w.Door().Accounts().SaveGrant(t.Context(), g))
	stored, err := w.St.Vault(w.Tenant).NamedGrant(t.Context(), c.ID, nil, "work")
	must(t, err)
	must(t, w.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, "work"))
	gone, err := w.St.Vault(w.Tenant).Revocation(t.Context(), stored.ID)
	must(t, err)
	if diff := cmp.Diff(stored.Tokens.AccessToken.Reveal(), gone.Tokens.AccessToken.Reveal()); diff != "" {
		t.Error(diff)
	}
	if _, err := w.St.Vault(w.Tenant).GrantByID(t.Context(), stored.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the deleted account: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
