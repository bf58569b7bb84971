package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// APIKeys lists the tenant's keys, newest first, including revoked and expired ones.
func (t People) APIKeys(ctx context.Context, p Page) (List[connectors.APIKey], error) {
	before, err := p.afterID("api_keys")
	if err != nil {
		return List[connectors.APIKey]{}, err
	}
	rows, err := t.q.APIKeys(ctx, t.id, before, p.rowLimit())
	if err != nil {
		return List[connectors.APIKey]{}, err
	}
	item := func(r dbgen.APIKeysRow) connectors.APIKey { return toAPIKey(dbgen.CreateAPIKeyRow(r)) }
	return newList(p, rows, item, "api_keys", func(r dbgen.APIKeysRow) []string { return []string{r.ID.String()} }), nil
}

// CreateAPIKey stores a key.
func (t People) CreateAPIKey(ctx context.Context, k NewAPIKey) (connectors.APIKey, error) {
	row, err := t.q.CreateAPIKey(ctx, dbgen.CreateAPIKeyParams{
		TenantID:  t.id,
		ID:        k.ID,
		Name:      k.Name,
		Role:      k.Role,
		Prefix:    k.Prefix,
		SecretMac: k.SecretMAC,
		ExpiresAt: k.ExpiresAt,

		CreatedByName: cleanText(k.CreatedBy),
	})
	if err != nil {
		return connectors.APIKey{}, err
	}
	return toAPIKey(row), nil
}

// RevokeAPIKey revokes a key, with its open requests for access and the open invitations that were sent with it. It is idempotent.
func (t People) RevokeAPIKey(ctx context.Context, id connectors.APIKeyID) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.RevokeAPIKey(ctx, tx.id, id)
		if err := affectedError(n, err, "API key"); err != nil {
			return err
		}
		if err := tx.q.WithdrawAccessRequestsOf(ctx, tx.id, id.UUID); err != nil {
			return err
		}
		return tx.q.RevokeInvitationsBy(ctx, tx.id, id.UUID)
	})
}

func toAPIKey(r dbgen.CreateAPIKeyRow) connectors.APIKey {
	return connectors.APIKey{
		ID:         r.ID,
		Name:       r.Name,
		Role:       r.Role,
		Prefix:     r.Prefix,
		CreatedBy:  r.CreatedByName,
		CreatedAt:  r.CreatedAt.UTC(),
		ExpiresAt:  toUTC(r.ExpiresAt),
		LastUsedAt: toUTC(r.LastUsedAt),
		RevokedAt:  toUTC(r.RevokedAt),
	}
}
