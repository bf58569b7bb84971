package store

import "context"

// OfSSO is how the tenant's people sign in at its provider, with the client's secret.
func OfSSO() Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.SSOState(ctx, t.id)
		state, err := stateOf(row.State, err)
		if err != nil {
			return nil, err
		}
		plain, ok := t.readable(ctx, row.Sealed, ssoPlace(t.id, row.Issuer))
		if !ok {
			return state.unreadable("client_secret"), nil
		}
		return state.with(t, "client_secret", plain, row.Issuer)
	}
}

// OfDomain is an e-mail domain that the tenant has claimed.
func OfDomain(domain string) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		return stateOf(t.q.SSODomainState(ctx, t.id, clean(domain)))
	}
}
