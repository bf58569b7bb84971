package manage

import (
	"context"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// planTokenExchange returns how a transaction that stores the draft makes the tenant's signing key, if the connector needs one:
// authorization servers read its public part before the first call. old is the connector's draft before; zero: none. It fails unless an
// owner has turned token exchange on, and unless an owner sets which server gets tokens of members, and from where.
func (r *Registry) planTokenExchange(ctx context.Context, a auth.Actor, old, d connectors.Draft) (func(*store.Tenant) error, error) {
	nothing := func(*store.Tenant) error { return nil }
	if d.OAuth.TokenExchange == "" {
		return nothing, nil
	}
	if (old.URL != d.URL || !old.OAuth.Equal(d.OAuth)) && !a.Role.May(connectors.PermOwn) {
		return nil, fault.Errorf(fault.Denied, "Only an owner sets up token exchange, or changes the URL and OAuth settings of a connector that uses it.")
	}
	self, err := r.store.Tenant(a.Tenant.ID).Self(ctx)
	switch {
	case err != nil:
		return nil, err
	case self.TokenExchange:
	case old.OAuth.TokenExchange == d.OAuth.TokenExchange: // off since
		return nothing, nil
	default:
		return nil, fault.InvalidFields(fault.Field{Location: "auth.token_exchange", Message: "An owner needs to turn on token exchange in the settings."})
	}
	plan, _, err := credentials.PlanSigningKey(ctx, r.store, a.Tenant.ID, time.Now())
	return func(tx *store.Tenant) error { return tx.Accounts().AddDueSigningKey(ctx, plan) }, err
}

// endOutdatedTokens ends tokens that were requested with former settings.
func endOutdatedTokens(ctx context.Context, tx *store.Tenant, old, c connectors.Connector) error {
	if connectors.EndsExchangedAccounts(old, c) {
		if err := tx.Accounts().DeleteIssuedAccounts(ctx, c.ID); err != nil {
			return err
		}
	}
	if old.OAuth.Equal(c.OAuth) {
		return nil
	}
	return tx.Accounts().RenewMachineTokens(ctx, c.ID)
}
