package credentials

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// maxPublicKeys bounds the cached public keys.
const maxPublicKeys = 1000

// EnsureSigningKey makes a tenant's signing key, or the next one if the newest is old. So its public part is published before the first
// token exchange.
func EnsureSigningKey(ctx context.Context, st *store.Store, tenant connectors.TenantID, now time.Time) error {
	r, due, err := PlanSigningKey(ctx, st, tenant, now)
	if err != nil || !due {
		return err
	}
	return st.Tenant(tenant).Accounts().AddDueSigningKey(ctx, r)
}

// PlanSigningKey returns what [store.Accounts.AddDueSigningKey] needs, and reports whether a key seems due.
func PlanSigningKey(ctx context.Context, st *store.Store, tenant connectors.TenantID, now time.Time) (store.SigningKeyRotation, bool, error) {
	keys, unreadable, err := st.Vault(tenant).SigningKeys(ctx)
	r := store.SigningKeyRotation{
		DueBefore: now.Add(-signingKeyLife), KnownBefore: now.Add(-signingKeyLead), Unreadable: unreadable, MakeKey: makeSigningKey,
	}
	return r, len(keys) == 0 || keys[0].CreatedAt.Before(r.DueBefore), err
}

func makeSigningKey() (store.NewSigningKey, error) {
	id := store.NewSigningKeyID()
	key, err := oauth.NewSigningKey(id.String())
	if err != nil {
		return store.NewSigningKey{}, err
	}
	private, err := key.Encode()
	return store.NewSigningKey{ID: id, Private: secret.Text(private.Reveal())}, err
}

// PublicKeys are the public signing keys of all tenants.
type PublicKeys struct {
	store  *store.Store
	recent *limit.Recent[uuid.UUID, json.RawMessage] // by the key's ID
}

// NewPublicKeys makes PublicKeys.
func NewPublicKeys(st *store.Store) *PublicKeys {
	return &PublicKeys{store: st, recent: limit.NewRecent[uuid.UUID, json.RawMessage](maxPublicKeys)}
}

// List returns a tenant's public keys as JWKs. They are those of the sealed keys: write access to the database cannot publish another one.
func (p *PublicKeys) List(ctx context.Context, tenant connectors.TenantID) ([]json.RawMessage, error) {
	keys, _, err := p.store.Vault(tenant).SigningKeys(ctx)
	list := make([]json.RawMessage, len(keys))
	for i, k := range keys {
		if list[i] = p.recent.Get(k.ID); list[i] != nil {
			continue
		}
		key, err := oauth.ParseSigningKey(k.ID.String(), oauth.Secret(k.Private.Reveal()))
		if err != nil {
			return nil, err
		}
		if list[i], err = key.PublicJWK(); err != nil {
			return nil, err
		}
		p.recent.Put(k.ID, list[i])
	}
	return list, err
}
