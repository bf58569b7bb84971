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

// sealedByQuery counts the sealed rows of all places by how they begin, of the tenant $1.
func sealedByQuery() string {
	parts := make([]string, len(sealedPlaces))
	for i, p := range sealedPlaces {
		parts[i] = fmt.Sprintf("select substring(sealed from 1 for 5) as prefix from %s where tenant_id = $1 and sealed is not null", p.table)
	}
	return "select prefix, count(*) from (" + strings.Join(parts, " union all ") + ") sealed group by prefix"
}

// SealingKeyring is what may be told of the keys that seal. Nothing of it is secret.
type SealingKeyring struct {
	Primary    secret.KeyID   // the one that seals
	Keys       []secret.KeyID // oldest first
	Unfinished bool           // a rotation is under way, or was interrupted
	MadeAt     time.Time      // when the installation made its first key
	ChangedAt  time.Time      // when the keys were last rotated; MadeAt: never
}

// SealingKeyring tells what keys this process seals and opens with.
func (s *System) SealingKeyring(ctx context.Context) (SealingKeyring, error) {
	dates, err := s.q.KeysetDates(ctx)
	if err != nil {
		return SealingKeyring{}, err
	}
	k := s.keys.now.Load()
	return SealingKeyring{
		Primary: k.Primary(), Keys: k.Keys(), Unfinished: stageOf(k.Keyring) != stageSettled,
		MadeAt: dates.CreatedAt.UTC(), ChangedAt: dates.UpdatedAt.UTC(),
	}, nil
}
