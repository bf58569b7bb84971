package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/secret"
)

// resealBatch is how many rows are locked and sealed anew at once.
const resealBatch = 100

// reseal seals by the newest keys what others have sealed, place by place, and returns the rows that no key opens. What somebody
// else had locked is left.
func (r *rotation) reseal(ctx context.Context) (unreadable []string, err error) {
	rest, err := r.left(ctx, r.scope)
	if err != nil {
		return nil, err
	}
	total := r.resealed + rest
	for _, p := range sealedPlaces {
		var b batch
		for more := true; more; more = len(b.rows) == resealBatch {
			if b, err = r.resealBatch(ctx, p, b.last()); err != nil {
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

// left counts the rows that other keys have sealed than those that seal now.
func (r *rotation) left(ctx context.Context, s scope) (int, error) {
	var n int
	err := s.QueryRow(ctx, leftQuery(r.of.one()), r.of.param(r.keys.now.Load())).Scan(&n)
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

// resealBatch seals the next rows of a place anew, in one transaction that locks them.
func (r *rotation) resealBatch(ctx context.Context, p sealedPlace, after []any) (batch, error) {
	b := batch{place: p}
	err := r.scope.inTx(ctx, func(s scope) error {
		args := append([]any{r.of.param(r.keys.now.Load()), resealBatch}, after...)
		rows, err := s.Query(ctx, p.batchQuery(r.of.one(), after != nil), args...)
		if err != nil {
			return err
		}
		if b.rows, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (sealedRow, error) { return pgx.RowToMap(r) }); err != nil {
			return err
		}
		return b.reseal(ctx, s, r.keys)
	})
	return b, err
}

// reseal writes in one round trip. The version stays: for whoever uses the secret nothing has changed, and a refresh that is under
// way keeps its lease.
func (b *batch) reseal(ctx context.Context, s scope, ring *ring) error {
	var updates pgx.Batch
	by := resealers{ring: ring, scope: s, have: ring.now.Load(), known: map[string]*secret.Sealer{}}
	for _, row := range b.rows {
		place := b.place.place(row)
		sealer, err := by.of(ctx, b.place, place.Tenant)
		if err != nil {
			return err
		}
		plain, err := by.open(sealer, row.sealed(), place)
		if err != nil {
			b.unreadable = append(b.unreadable, b.place.describe(row))
			continue
		}
		sealed, err := sealer.Seal(plain, place)
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

// resealers are who seals the rows of a batch anew.
type resealers struct {
	ring  *ring
	scope scope
	have  *keys
	known map[string]*secret.Sealer // read in this transaction
}

// of is the tenant's key, which is made where there is none yet; or the installation's.
func (r *resealers) of(ctx context.Context, p sealedPlace, tenant string) (*secret.Sealer, error) {
	if p.ours {
		return r.have.Sealer, nil
	}
	if known := r.known[tenant]; known != nil {
		return known, nil
	}
	sealer, err := r.ring.tenantSealerOrNew(ctx, r.scope, r.have, tenant)
	if err == nil {
		r.known[tenant] = sealer
	}
	return sealer, err
}

func (r *resealers) open(by *secret.Sealer, sealed []byte, place secret.AD) (secret.Text, error) {
	if plain, err := by.Open(sealed, place); err == nil {
		return plain, nil
	}
	return r.have.Open(sealed, place)
}
