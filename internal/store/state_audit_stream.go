package store

import (
	"context"
	"net/url"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// OfAuditStream is an audit stream with fingerprints of its URL, certificates and header value. Of its URL only the host
// is recorded: the rest may be secret.
func OfAuditStream(id connectors.AuditStreamID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.AuditStreamState(ctx, t.id, id)
		state, err := toState(row.State, err)
		if err != nil {
			return nil, err
		}
		state["host"] = ""
		if u, err := url.Parse(row.Url); err == nil {
			state["host"] = u.Host
		}
		for field, text := range map[string]string{"url": row.Url, "ca": row.Ca} {
			if state, err = state.withFingerprint(t, field, secret.Text(text), id.String()); err != nil {
				return nil, err
			}
		}
		if row.Sealed == nil {
			return state, nil
		}
		value, ok := t.openIfReadable(ctx, row.Sealed, streamSecretAD(t.id, id, row.Origin))
		if !ok {
			return state.withUnreadable("secret"), nil
		}
		return state.withFingerprint(t, "secret", value, id.String())
	}
}
