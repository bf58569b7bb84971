package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// SealedBy counts, by the key that sealed them, the tenant's values that lie sealed. A key that sealed none of them is not in it.
func (t *Tenant) SealedBy(ctx context.Context) (map[secret.KeyID]int, error) {
	rows, err := t.scope.Query(ctx, sealedByQuery(), t.id)
	if err != nil {
		return nil, err
	}
	counts := map[secret.KeyID]int{}
	var prefix []byte
	var n int
	_, err = pgx.ForEachRow(rows, []any{&prefix, &n}, func() error {
		if id, ok := secret.SealedBy(prefix); ok {
			counts[id] += n
		}
		return nil
	})
	return counts, err
}

// sealedByQuery counts the sealed rows of all places by how they begin, of the tenant $1. Its keys are none of its values.
func sealedByQuery() string {
	var parts []string
	for _, p := range sealedPlaces {
		if !p.ours {
			parts = append(parts, fmt.Sprintf("select substring(sealed from 1 for 5) as prefix from %s where tenant_id = $1 and sealed is not null", p.table))
		}
	}
	return "select prefix, count(*) from (" + strings.Join(parts, " union all ") + ") sealed group by prefix"
}

// SealingKeys is what may be told of keys that seal. Nothing of it is secret.
type SealingKeys struct {
	Primary    secret.KeyID   // the one that seals
	Keys       []secret.KeyID // oldest first
	Unfinished bool           // a rotation is under way, or was interrupted
	MadeAt     time.Time      // when the first was made
	ChangedAt  time.Time      // when the keys were last rotated; MadeAt: never
}

// SealingKeys tells of the tenant's own keys. It is NotFound where it has none: the installation's seal its secrets.
func (t *Tenant) SealingKeys(ctx context.Context) (SealingKeys, error) {
	have := t.store.keyring.now.Load()
	sealer, err := t.store.keyring.tenantSealer(ctx, t.scope, have, t.id.String())
	if err != nil {
		return SealingKeys{}, err
	}
	if sealer == nil || !have.perTenant {
		return SealingKeys{}, missing("key")
	}
	dates, err := t.q.TenantKeyDates(ctx, t.id)
	return SealingKeys{
		Primary: sealer.Primary(), Keys: sealer.Keys(), Unfinished: stageOf(sealer) != stageSettled,
		MadeAt: dates.CreatedAt.UTC(), ChangedAt: dates.UpdatedAt.UTC(),
	}, found(err, "key")
}

// KeyUse is what a tenant's values are sealed by.
type KeyUse struct {
	Installation SealingKeys
	PerTenant    bool                 // the installation's keys seal the tenants' keys, and no values
	Own          *SealingKeys         // the tenant's; nil: it has none, as long as it has no secret
	Sealed       map[secret.KeyID]int // the tenant's values of each key
}

// KeyUse reads which keys there are and what of a tenant they have sealed, as of one moment: a key that a rotation retires meanwhile would
// count as lost.
func (s *System) KeyUse(ctx context.Context, of connectors.TenantID) (KeyUse, error) {
	var use KeyUse
	err := s.scope.inSnapshot(ctx, func(sc scope) error {
		tx := newSystem(sc, s.jobs, s.keys)
		tenant := tx.tenant(of)
		var err error
		if use.Installation, use.PerTenant, err = tx.SealingKeys(ctx); err != nil {
			return err
		}
		if use.Sealed, err = tenant.SealedBy(ctx); err != nil {
			return err
		}
		own, err := tenant.SealingKeys(ctx)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		use.Own = &own
		return err
	})
	return use, err
}

// SealingKeys tells of the installation's keys, as this process has them. perTenant: they seal the tenants' keys, and no secrets.
func (s *System) SealingKeys(ctx context.Context) (of SealingKeys, perTenant bool, err error) {
	dates, err := s.q.KeysetDates(ctx)
	if err != nil {
		return SealingKeys{}, false, err
	}
	k := s.keys.now.Load()
	return SealingKeys{
		Primary: k.Primary(), Keys: k.Keys(), Unfinished: stageOf(k.Sealer) != stageSettled,
		MadeAt: dates.CreatedAt.UTC(), ChangedAt: dates.UpdatedAt.UTC(),
	}, k.perTenant, nil
}
