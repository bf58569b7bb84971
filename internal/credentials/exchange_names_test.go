package credentials_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// resolveNamed is a call of the agent with a grant that binds an account.
func (w *exchangeWorld) resolveNamed(t *testing.T, r *credentials.Resolver, name string) (*credentials.Credential, error) {
	t.Helper()
	of := credentials.Account{Agent: &w.agent.ID, Name: name}
	u, err := r.ResolveFor(t.Context(), w.Tenant, w.connector, of, connectors.CallerAgent(w.agent.ID))
	if err == nil && u == nil {
		err = r.ExplainMissing(t.Context(), w.Tenant, w.connector, of)
	}
	return u, err
}

// saveGrant stores an account that a person connected.
func (w *exchangeWorld) saveGrant(t *testing.T, name string) error {
	t.Helper()
	return w.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: w.connector.ID, AgentID: &w.agent.ID, Name: name, Origin: w.connector.CredentialOrigin(),
		GrantTokens: store.GrantTokens{
			AccessToken: secret.Text("connected " + name), ExpiresAt: new(time.Now().Add(time.Hour)), Meta: store.GrantMeta{Server: oauth.Metadata{Issuer: w.as.URL}},
		},
	})
}

// An account from token exchange is its owner's account named default: a grant that binds another one gets no token.
func TestExchange_AccountIsTheDefaultOne(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	of := credentials.Account{Agent: &w.agent.ID, Name: "work"}
	for range 2 { // without the account, and with it
		n := len(w.requests)
		if u, err := w.resolveNamed(t, r, "work"); err == nil || fault.As(err).Type != store.TypeAccountRequired || len(w.requests) != n {
			t.Errorf("bound to another: %+v, %v", u, err)
		}
		if headers, err := r.Headers(t.Context(), w.Tenant, w.connector, of); err == nil || len(w.requests) != n {
			t.Errorf("exported: %v", headers)
		}
		if u, err := w.resolveNamed(t, r, connectors.DefaultAccount); err != nil || len(w.requests) != 1 {
			t.Errorf("bound to it: %+v, %v", u, err)
		}
	}
	if err := w.saveGrant(t, "work"); !fault.Is(err, fault.Conflict) || fault.As(err).Type != store.TypeAccountRequired || w.Count(t, "credentials") != 1 {
		t.Errorf("a second one: %v", err)
	}
	was, err := w.St.Vault(w.Tenant).Grant(t.Context(), w.connector.ID, &w.agent.ID)
	must(t, err)
	if err := w.Door().Accounts().Rename(t.Context(), w.connector.ID, &w.agent.ID, "", "as-me"); !fault.Is(err, fault.Conflict) {
		t.Errorf("renamed: %v", err)
	}
	must(t, w.saveGrant(t, connectors.DefaultAccount))
	if now, err := w.St.Vault(w.Tenant).Grant(t.Context(), w.connector.ID, &w.agent.ID); err != nil || now.ID == was.ID {
		t.Errorf("one that a person connected in its place has its id: %v", err)
	}
}

// Accounts that people connected stay, and none from token exchange is added beside them.
func TestExchange_ConnectedAccountsStay(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	must(t, w.saveGrant(t, "work"))
	must(t, w.saveGrant(t, "private"))
	if u, err := w.resolveNamed(t, r, ""); err == nil || fault.As(err).Type != store.TypeAccountRequired || !strings.Contains(err.Error(), "private, work") {
		t.Errorf("none named: %+v, %v", u, err)
	}
	if u, err := w.resolveNamed(t, r, connectors.DefaultAccount); err == nil || fault.As(err).Type != store.TypeAccountRequired {
		t.Errorf("the default one: %+v, %v", u, err)
	}
	u, err := w.resolveNamed(t, r, "work")
	must(t, err)
	if got := authorizationHeader(t, u.Headers, nil); got != "Bearer connected work" || len(w.requests) != 0 || w.Count(t, "credentials") != 2 {
		t.Errorf("%q, %d requests, %d accounts", got, len(w.requests), w.Count(t, "credentials"))
	}
}

// A call that waits for an account is not made with one that took its row: its id is another one.
func TestExchange_RevivedAccountOfAnotherKindIsAnother(t *testing.T) {
	t.Parallel()
	for change, same := range map[string]bool{
		"": true, "grant_meta = grant_meta - 'exchange', ": false, "member_id = null, ": false,
	} {
		w := newExchangeWorld(t)
		r := w.newResolver()
		was, err := w.resolveNamed(t, r, "")
		must(t, err)
		w.AsSystem(t, "update credentials set "+change+"status = 'revoked', error = 'x', updated_at = now() - interval '1 hour'", nil)
		now, err := w.resolveNamed(t, r, "")
		must(t, err)
		if got := authorizationHeader(t, now.Headers, nil); (now.ID == was.ID) != same || got != fmt.Sprintf("Bearer 2.%s.agent:%s", w.subject(), w.agent.ID) {
			t.Errorf("%q: %s after %s, %q", change, now.ID, was.ID, got)
		}
	}
}

// A process of an older release would take these accounts for others.
func TestExchange_IsNotTurnedOnBesideAnOlderRelease(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	must(t, w.Door().Accounts().SetTokenExchange(t.Context(), false))
	const older = "00000000-0000-0000-0000-00000000000a"
	w.AsSystem(t, "insert into instances (id) values ($1)", []any{older})
	if err := w.Door().Accounts().SetTokenExchange(t.Context(), true); !fault.Is(err, fault.Conflict) {
		t.Errorf("beside it: %v", err)
	}
	w.AsSystem(t, "delete from instances where id = $1", []any{older})
	must(t, w.Door().Accounts().SetTokenExchange(t.Context(), true))
}
