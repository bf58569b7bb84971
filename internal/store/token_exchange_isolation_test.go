package store_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// ownExchanges are the methods that an outsider calls with success, on what is its own or on nothing.
var ownExchanges = map[string]bool{
	"Accounts.AddDueSigningKey": true, "Accounts.SetTokenExchange": true, "Accounts.AddExchangedAccount": true, "Accounts.ReviveExchangedAccount": true,
	"Accounts.DeleteIssuedAccounts": true, "SigningKeys": true,
}

func newSigningKey() store.SigningKeyRotation {
	return store.SigningKeyRotation{DueBefore: time.Now(), MakeKey: func() (store.NewSigningKey, error) {
		return store.NewSigningKey{ID: store.NewSigningKeyID(), Private: "private"}, nil
	}}
}

// exchangeAttempts are the outsider's at accounts from token exchange and their keys.
var exchangeAttempts = map[string]attempt{
	"Accounts.AddDueSigningKey": func(ctx context.Context, o outsider) (bool, error) {
		return false, o.door.Accounts().AddDueSigningKey(ctx, newSigningKey())
	},
	"Accounts.SetTokenExchange": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Accounts().SetTokenExchange(ctx, false); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return !theirs.TokenExchange, err
	},
	"Accounts.ExchangeSubject": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Accounts().ExchangeSubject(ctx, o.agent.ID, o.connector.ID))
	},
	"Accounts.AddExchangedAccount": func(ctx context.Context, o outsider) (bool, error) {
		a := store.NewExchangedAccount{Connector: o.connector, AgentID: o.agent.ID}
		if err := o.door.Accounts().AddExchangedAccount(ctx, a); err != nil {
			return true, err
		}
		_, err := o.vault.Grant(ctx, o.connector.ID, &o.agent.ID)
		return err == nil, nil
	},
	"Accounts.ReviveExchangedAccount": func(ctx context.Context, o outsider) (bool, error) {
		g, err := o.St.Vault(o.Tenant).Grant(ctx, o.connector.ID, nil)
		if err != nil {
			g.Credential = connectors.Credential{ConnectorID: o.connector.ID}
		}
		return o.door.Accounts().ReviveExchangedAccount(ctx, g.Credential, store.NewExchangedAccount{Connector: o.connector, AgentID: o.agent.ID, Member: &o.member.UserID})
	},
	"Accounts.DeleteIssuedAccounts": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Accounts().DeleteIssuedAccounts(ctx, o.connector.ID); err != nil {
			return true, err
		}
		keys, _, err := o.St.Vault(o.Tenant).SigningKeys(ctx)
		return len(keys) != 1, err
	},
}

var exchangeVaultAttempts = map[string]attempt{
	"SigningKeys": func(ctx context.Context, o outsider) (bool, error) {
		keys, unreadable, err := o.vault.SigningKeys(ctx)
		return len(keys)+len(unreadable) > 0, err // the outsider's own were deleted
	},
}

func (o *outsider) fillExchanges(t *testing.T) {
	t.Helper()
	o.Exchanging(t)
	if err := o.Door().Accounts().AddDueSigningKey(t.Context(), newSigningKey()); err != nil {
		t.Fatal(err)
	}
}
