package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/secret"
)

// resealBatch is how many rows are locked and sealed anew at once.
const resealBatch = 100

// reseal seals by the newest key what others have sealed, place by place, and returns the rows that no key opens. What somebody
// else had locked is left.
func (r *rotation) reseal(ctx context.Context, k *secret.Keyring) (unreadable []string, err error) {
	rest, err := left(ctx, r.scope, k)
	if err != nil {
		return nil, err
	}
	total := r.resealed + rest
	for _, p := range sealedPlaces {
		var b batch
		for more := true; more; more = len(b.rows) == resealBatch {
			if b, err = p.resealBatch(ctx, r.scope, k, b.last()); err != nil {
				return nil, err
			}
			unreadable = append(unreadable, b.unreadable...)
			if done := len(b.rows) - len(b.unreadable); done > 0 {
				r.resealed += done
				r.notify(RotationProgress{Step: SecretsResealed, Done: r.resealed, Total: max(total, r.resealed)})
			}
		}
	}
	return unreadable, nil
}

// left counts the rows that another key has sealed than the one that seals now.
func left(ctx context.Context, s scope, k *secret.Keyring) (int, error) {
	var n int
	err := s.QueryRow(ctx, leftQuery(), k.Primary().Prefix()).Scan(&n)
	return n, err
}

// batch is some rows of a place, in the order of its primary key.
type batch struct {
	place      sealedPlace
	rows       []sealedRow
	unreadable []string
}

// last is the key of the last row; nil: there is none.
func (b batch) last() []any {
	if len(b.rows) == 0 {
		return nil
	}
	return b.place.keyOf(b.rows[len(b.rows)-1])
}

// resealBatch seals the next rows anew, in one transaction that locks them.
func (p sealedPlace) resealBatch(ctx context.Context, s scope, k *secret.Keyring, after []any) (batch, error) {
	b := batch{place: p}
	err := s.inTx(ctx, func(s scope) error {
		args := append([]any{k.Primary().Prefix(), resealBatch}, after...)
		rows, err := s.Query(ctx, p.batchQuery(after != nil), args...)
		if err != nil {
			return err
		}
		if b.rows, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (sealedRow, error) { return pgx.RowToMap(r) }); err != nil {
			return err
		}
		return b.reseal(ctx, s, k)
	})
	return b, err
}

// reseal writes in one round trip. The version stays: for whoever uses the secret nothing has changed, and a refresh that is under
// way keeps its lease.
func (b *batch) reseal(ctx context.Context, s scope, k *secret.Keyring) error {
	var updates pgx.Batch
	for _, row := range b.rows {
		place := b.place.place(row)
		plain, err := k.Open(row.sealed(), place)
		if err != nil {
			b.unreadable = append(b.unreadable, b.place.describe(row))
			continue
		}
		sealed, err := k.Seal(plain, place)
		if err != nil {
			return err
		}
		updates.Queue(b.place.resealQuery(), append([]any{sealed, row.sealed()}, b.place.keyOf(row)...)...)
	}
	if updates.Len() == 0 {
		return nil
	}
	return classify(s.tx.SendBatch(ctx, &updates).Close())
}
