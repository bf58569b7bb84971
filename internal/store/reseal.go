package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/secret"
)

// resealBatchSize is how many rows are locked and resealed at once.
const resealBatchSize = 100

// resealTables reseals by the newest keys, table by table, and returns the rows that no key opens. Rows locked
// by others are skipped.
func (r *rotation) resealTables(ctx context.Context) (unreadable []string, err error) {
	rest, err := r.countRemaining(ctx, r.scope)
	if err != nil {
		return nil, err
	}
	total := r.resealed + rest
	for _, p := range sealedTables {
		var b sealedBatch
		for more := true; more; more = len(b.rows) == resealBatchSize {
			if b, err = r.resealNextBatch(ctx, p, b.lastKey()); err != nil {
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

// countRemaining counts the rows that older keys sealed.
func (r *rotation) countRemaining(ctx context.Context, s scope) (int, error) {
	var n int
	err := s.QueryRow(ctx, remainingQuery(r.target.isSingleTenant()), r.target.sqlParam(r.keys.current.Load())).Scan(&n)
	return n, err
}

// sealedBatch is some rows of a table in primary key order.
type sealedBatch struct {
	table      sealedTable
	rows       []sealedRow
	unreadable []string
}

// lastKey returns the key of the last row; nil: no rows.
func (b sealedBatch) lastKey() []any {
	if len(b.rows) == 0 {
		return nil
	}
	return b.table.keyValues(b.rows[len(b.rows)-1])
}

// resealNextBatch locks and reseals the next rows of a table in one transaction.
func (r *rotation) resealNextBatch(ctx context.Context, p sealedTable, after []any) (sealedBatch, error) {
	b := sealedBatch{table: p}
	err := r.scope.inTx(ctx, func(s scope) error {
		args := append([]any{r.target.sqlParam(r.keys.current.Load()), resealBatchSize}, after...)
		rows, err := s.Query(ctx, p.batchQuery(r.target.isSingleTenant(), after != nil), args...)
		if err != nil {
			return err
		}
		if b.rows, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (sealedRow, error) { return pgx.RowToMap(r) }); err != nil {
			return err
		}
		return b.resealRows(ctx, s, r.keys)
	})
	return b, err
}

// resealRows writes in one round trip. Versions stay: the secrets are unchanged, and a refresh in progress
// keeps its lease.
func (b *sealedBatch) resealRows(ctx context.Context, s scope, ring *liveKeyring) error {
	var updates pgx.Batch
	by := batchSealers{ring: ring, scope: s, snapshot: ring.current.Load(), known: map[string]*secret.Sealer{}}
	for _, row := range b.rows {
		place := b.table.ad(row)
		sealer, err := by.sealerFor(ctx, b.table, place.Tenant)
		if err != nil {
			return err
		}
		plain, err := by.openRow(sealer, row.sealedBytes(), place)
		if err != nil {
			b.unreadable = append(b.unreadable, b.table.describeRow(row))
			continue
		}
		sealed, err := sealer.Seal(plain, place)
		if err != nil {
			return err
		}
		updates.Queue(b.table.resealQuery(), append([]any{sealed, row.sealedBytes()}, b.table.keyValues(row)...)...)
	}
	if updates.Len() == 0 {
		return nil
	}
	return classifyError(s.tx.SendBatch(ctx, &updates).Close())
}

// batchSealers are the sealers for the rows of a batch.
type batchSealers struct {
	ring     *liveKeyring
	scope    scope
	snapshot *keyringSnapshot
	known    map[string]*secret.Sealer // read in this transaction
}

// sealerFor returns the sealer of a tenant, made if missing, or of the installation.
func (r *batchSealers) sealerFor(ctx context.Context, p sealedTable, tenant string) (*secret.Sealer, error) {
	if p.isInstallation {
		return r.snapshot.Sealer, nil
	}
	if known := r.known[tenant]; known != nil {
		return known, nil
	}
	sealer, err := r.ring.tenantSealerOrNew(ctx, r.scope, r.snapshot, tenant)
	if err == nil {
		r.known[tenant] = sealer
	}
	return sealer, err
}

func (r *batchSealers) openRow(by *secret.Sealer, sealed []byte, place secret.AD) (secret.Text, error) {
	if plain, err := by.Open(sealed, place); err == nil {
		return plain, nil
	}
	return r.snapshot.Open(sealed, place)
}
