package auth

import (
	"context"
	"maps"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// SealingKeys is the state of the keys that seal the installation's secrets. It has their names alone, never a key.
type SealingKeys struct {
	Keys       []SealingKey // oldest first
	Unfinished bool         // a rotation is under way, or was interrupted
	MadeAt     time.Time    // when the installation made its first key
	RotatedAt  *time.Time   // nil: never
}

// SealingKey is one of them.
type SealingKey struct {
	ID     secret.KeyID
	Seals  bool // what is stored from now on; the others only open
	Sealed int  // how many values of the actor's tenant it has sealed
	Gone   bool // values are sealed by it, and it is not in the keyring
}

// SealingKeys tells an owner how the keys are, and what of the tenant they have sealed.
func (s *Service) SealingKeys(ctx context.Context, a Actor) (SealingKeys, error) {
	if err := a.Require(connectors.RoleOwner); err != nil {
		return SealingKeys{}, err
	}
	ring, err := s.store.System().SealingKeyring(ctx)
	if err != nil {
		return SealingKeys{}, err
	}
	sealed, err := s.store.Tenant(a.Tenant.ID).SealedBy(ctx)
	if err != nil {
		return SealingKeys{}, err
	}
	keys := SealingKeys{Unfinished: ring.Unfinished, MadeAt: ring.MadeAt}
	if ring.ChangedAt.After(ring.MadeAt) {
		keys.RotatedAt = &ring.ChangedAt
	}
	for _, id := range ring.Keys {
		keys.Keys = append(keys.Keys, SealingKey{ID: id, Seals: id == ring.Primary, Sealed: sealed[id]})
		delete(sealed, id)
	}
	for _, id := range slices.Sorted(maps.Keys(sealed)) { // by keys that this process does not know
		keys.Keys = append(keys.Keys, SealingKey{ID: id, Sealed: sealed[id], Gone: true})
	}
	return keys, nil
}
