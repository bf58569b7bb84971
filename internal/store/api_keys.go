package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// APIKeys lists the tenant's keys, newest first, revoked and expired ones too.
func (t *Tenant) APIKeys(ctx context.Context, p Page) (List[connectors.APIKey], error) {
	before, err := p.afterID("api_keys")
	if err != nil {
		return List[connectors.APIKey]{}, err
	}
	rows, err := t.q.APIKeys(ctx, t.id, before, p.rows())
	if err != nil {
		return List[connectors.APIKey]{}, err
	}
	item := func(r dbgen.APIKeysRow) connectors.APIKey { return apiKeyOf(dbgen.CreateAPIKeyRow(r)) }
	return listOf(p, rows, item, "api_keys", func(r dbgen.APIKeysRow) []string { return []string{r.ID.String()} }), nil
}

// CreateAPIKey stores a key.
func (t *Tenant) CreateAPIKey(ctx context.Context, k NewAPIKey) (connectors.APIKey, error) {
	row, err := t.q.CreateAPIKey(ctx, dbgen.CreateAPIKeyParams{
		TenantID:  t.id,
		ID:        k.ID,
		Name:      k.Name,
		Role:      k.Role,
		Prefix:    k.Prefix,
		SecretMac: k.SecretMAC,
		ExpiresAt: k.ExpiresAt,

		CreatedByName: clean(k.CreatedBy),
	})
	if err != nil {
		return connectors.APIKey{}, err
	}
	return apiKeyOf(row), nil
}

// RevokeAPIKey ends a key for good, and the open invitations that were sent with it. A second revocation changes nothing.
func (t *Tenant) RevokeAPIKey(ctx context.Context, id connectors.APIKeyID) error {
	return t.within(ctx, func(tx *Tenant) error {
		n, err := tx.q.RevokeAPIKey(ctx, tx.id, id)
		if err := touched(n, err, "API key"); err != nil {
			return err
		}
		return tx.q.RevokeInvitationsBy(ctx, tx.id, id.UUID)
	})
}

func apiKeyOf(r dbgen.CreateAPIKeyRow) connectors.APIKey {
	return connectors.APIKey{
		ID:         r.ID,
		Name:       r.Name,
		Role:       r.Role,
		Prefix:     r.Prefix,
		CreatedBy:  r.CreatedByName,
		CreatedAt:  r.CreatedAt.UTC(),
		ExpiresAt:  utc(r.ExpiresAt),
		LastUsedAt: utc(r.LastUsedAt),
		RevokedAt:  utc(r.RevokedAt),
	}
}
