package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

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
