package store

import "context"

// OfSSO is the tenant's single sign-on settings with the client secret's fingerprint.
func OfSSO() StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.SSOState(ctx, t.id)
		state, err := toState(row.State, err)
		if err != nil {
			return nil, err
		}
		plain, ok := t.openIfReadable(ctx, row.Sealed, ssoSecretAD(t.id, row.Issuer))
		if !ok {
			return state.withUnreadable("client_secret"), nil
		}
		return state.withFingerprint(t, "client_secret", plain, row.Issuer)
	}
}

// OfDomain is a claimed e-mail domain.
func OfDomain(domain string) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		return toState(t.q.SSODomainState(ctx, t.id, cleanText(domain)))
	}
}
