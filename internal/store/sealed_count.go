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

// SealedBy counts the tenant's sealed values by key.
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

// sealedByQuery counts the sealed rows of all tables by key prefix, for tenant $1. The tenant's own keys are no
// values.
func sealedByQuery() string {
	var parts []string
	for _, p := range sealedTables {
		if !p.isInstallation {
			parts = append(parts, fmt.Sprintf("select substring(sealed from 1 for 5) as prefix from %s where tenant_id = $1 and sealed is not null", p.table))
		}
	}
	return "select prefix, count(*) from (" + strings.Join(parts, " union all ") + ") sealed group by prefix"
}

// SealingKeys describes sealing keys. It holds no secret.
type SealingKeys struct {
	Primary    secret.KeyID   // the key that seals
	Keys       []secret.KeyID // oldest first
	Unfinished bool           // a rotation is running or was interrupted
	MadeAt     time.Time      // creation of the first key
	ChangedAt  time.Time      // last rotation; MadeAt: never
}

// SealingKeys describes the tenant's own keys. It fails with NotFound if the installation's keys seal its
// secrets.
func (t *Tenant) SealingKeys(ctx context.Context) (SealingKeys, error) {
	have := t.store.keyring.current.Load()
	sealer, err := t.store.keyring.tenantSealer(ctx, t.scope, have, t.id.String())
	if err != nil {
		return SealingKeys{}, err
	}
	if sealer == nil || !have.perTenant {
		return SealingKeys{}, newNotFound("key")
	}
	dates, err := t.q.TenantKeyDates(ctx, t.id)
	return SealingKeys{
		Primary: sealer.Primary(), Keys: sealer.Keys(), Unfinished: findStage(sealer) != stageSingle,
		MadeAt: dates.CreatedAt.UTC(), ChangedAt: dates.UpdatedAt.UTC(),
	}, rowError(err, "key")
}

// KeyUse describes which keys sealed a tenant's values.
type KeyUse struct {
	Installation SealingKeys
	PerTenant    bool                 // the installation's keys seal only the tenants' keys
	Own          *SealingKeys         // the tenant's own; nil: none, as long as it has no secret
	Sealed       map[secret.KeyID]int // the tenant's values by key
}

// KeyUse reads keys and counts in one snapshot: otherwise a key retired meanwhile would count as lost.
func (s *System) KeyUse(ctx context.Context, of connectors.TenantID) (KeyUse, error) {
	var use KeyUse
	err := s.scope.inSnapshot(ctx, func(sc scope) error {
		tx := newSystem(sc, s.jobs, s.keys)
		tenant := tx.tenantInTx(of)
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

// SealingKeys describes the installation's keys as this process has them. perTenant: they seal only tenants'
// keys.
func (s *System) SealingKeys(ctx context.Context) (of SealingKeys, perTenant bool, err error) {
	dates, err := s.q.KeysetDates(ctx)
	if err != nil {
		return SealingKeys{}, false, err
	}
	k := s.keys.current.Load()
	return SealingKeys{
		Primary: k.Primary(), Keys: k.Keys(), Unfinished: findStage(k.Sealer) != stageSingle,
		MadeAt: dates.CreatedAt.UTC(), ChangedAt: dates.UpdatedAt.UTC(),
	}, k.perTenant, nil
}
