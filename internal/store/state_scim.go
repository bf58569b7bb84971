package store

import (
	"context"

	"patchbay/internal/connectors"
)

// OfSCIM is the tenant's SCIM address with its token's fingerprint.
func OfSCIM() StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.SCIMState(ctx, t.id)
		return t.readMACState(row.State, err, "token", row.SecretMac, t.id)
	}
}

// OfSCIMUser is a person of the tenant's identity provider.
func OfSCIMUser(id connectors.SCIMUserID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		return toState(t.q.SCIMUserState(ctx, t.id, id))
	}
}

// OfSCIMGroup is a group of the tenant's identity provider with its first members.
func OfSCIMGroup(id connectors.SCIMGroupID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		return toState(t.q.SCIMGroupState(ctx, t.id, id))
	}
}
