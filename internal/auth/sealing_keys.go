package auth

import (
	"context"
	"maps"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// SealingKeys describes the keys that seal a tenant's secrets, without key material.
type SealingKeys struct {
	Keys       []SealingKey // oldest first
	Own        bool         // the tenant's own; false: the installation's
	Unfinished bool         // a rotation is running or was interrupted
	MadeAt     time.Time    // creation of the first key
	RotatedAt  *time.Time   // nil: never
}

// SealingKey is one key.
type SealingKey struct {
	ID        secret.KeyID
	IsPrimary bool // it seals new values; the others only open
	Sealed    int  // values of the tenant that it sealed
	IsUnknown bool // sealed values exist, and the key is unknown
}

// SealingKeys returns the keys and how many values of the tenant each sealed, for an owner.
func (s *Service) SealingKeys(ctx context.Context, a Actor) (SealingKeys, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return SealingKeys{}, err
	}
	use, err := s.store.System().KeyUse(ctx, a.Tenant.ID)
	if err != nil {
		return SealingKeys{}, err
	}
	sealed := use.Sealed
	if use.Own == nil {
		return toSealingKeys(use.Installation, sealed), nil
	}
	// The next rotation moves values of the installation's keys to the tenant's.
	var older []SealingKey
	for _, id := range use.Installation.Keys {
		if sealed[id] > 0 {
			older = append(older, SealingKey{ID: id, Sealed: sealed[id]})
			delete(sealed, id)
		}
	}
	keys := toSealingKeys(*use.Own, sealed)
	keys.Keys, keys.Own = append(older, keys.Keys...), use.PerTenant
	return keys, nil
}

func toSealingKeys(of store.SealingKeys, sealed map[secret.KeyID]int) SealingKeys {
	keys := SealingKeys{Unfinished: of.Unfinished, MadeAt: of.MadeAt}
	if of.ChangedAt.After(of.MadeAt) {
		keys.RotatedAt = &of.ChangedAt
	}
	for _, id := range of.Keys {
		keys.Keys = append(keys.Keys, SealingKey{ID: id, IsPrimary: id == of.Primary, Sealed: sealed[id]})
		delete(sealed, id)
	}
	for _, id := range slices.Sorted(maps.Keys(sealed)) { // keys that this process does not know
		keys.Keys = append(keys.Keys, SealingKey{ID: id, Sealed: sealed[id], IsUnknown: true})
	}
	return keys
}
