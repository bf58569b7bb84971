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

// SealingKeys is the state of the keys that seal a tenant's secrets. It has their names alone, never a key.
type SealingKeys struct {
	Keys       []SealingKey // oldest first
	Own        bool         // they are the tenant's; false: the installation's seal its secrets
	Unfinished bool         // a rotation is under way, or was interrupted
	MadeAt     time.Time    // when the first was made
	RotatedAt  *time.Time   // nil: never
}

// SealingKey is one of them.
type SealingKey struct {
	ID     secret.KeyID
	Seals  bool // what is stored from now on; the others only open
	Sealed int  // how many values of the actor's tenant it has sealed
	Gone   bool // values are sealed by it, and it is not among the known ones
}

// SealingKeys tells an owner how the keys are, and what of the tenant they have sealed.
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
		return sealingKeys(use.Installation, sealed), nil
	}
	// What the installation's keys have sealed moves to the tenant's with the next rotation.
	var older []SealingKey
	for _, id := range use.Installation.Keys {
		if sealed[id] > 0 {
			older = append(older, SealingKey{ID: id, Sealed: sealed[id]})
			delete(sealed, id)
		}
	}
	keys := sealingKeys(*use.Own, sealed)
	keys.Keys, keys.Own = append(older, keys.Keys...), use.PerTenant
	return keys, nil
}

func sealingKeys(of store.SealingKeys, sealed map[secret.KeyID]int) SealingKeys {
	keys := SealingKeys{Unfinished: of.Unfinished, MadeAt: of.MadeAt}
	if of.ChangedAt.After(of.MadeAt) {
		keys.RotatedAt = &of.ChangedAt
	}
	for _, id := range of.Keys {
		keys.Keys = append(keys.Keys, SealingKey{ID: id, Seals: id == of.Primary, Sealed: sealed[id]})
		delete(sealed, id)
	}
	for _, id := range slices.Sorted(maps.Keys(sealed)) { // by keys that this process does not know
		keys.Keys = append(keys.Keys, SealingKey{ID: id, Sealed: sealed[id], Gone: true})
	}
	return keys
}
