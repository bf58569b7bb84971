package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/store/dbgen"
)

// errCollected ends a query of [scope.runBatch] while it is collected.
var errCollected = errors.New("collected, not run")

// runBatch runs queries in one round trip and one implicit transaction. Each statement sees what is committed
// when it begins, so after waiting for a lock it sees what the lock protected. Reads use [scope.runReadBatch].
// Each function makes exactly one query and is called twice: to collect the statement, where its error is
// ignored, and to read the rows.
func (s scope) runBatch(ctx context.Context, asks ...func(q *dbgen.Queries) error) error {
	batch := &pgx.Batch{}
	batch.Queue(setScopeStatement, s.setting, s.value)
	for _, ask := range asks {
		_ = ask(dbgen.New(batchCollector{batch}))
	}
	return readBatchResults(s.batchSender().SendBatch(ctx, batch), 1, asks)
}

// runReadBatch is [scope.runBatch] for reads, which all see one snapshot; in a transaction, the transaction's.
func (s scope) runReadBatch(ctx context.Context, asks ...func(q *dbgen.Queries) error) error {
	if s.tx != nil {
		return s.runBatch(ctx, asks...)
	}
	batch := &pgx.Batch{}
	batch.Queue(beginSnapshotStatement)
	batch.Queue(setScopeStatement, s.setting, s.value)
	for _, ask := range asks {
		_ = ask(dbgen.New(batchCollector{batch}))
	}
	batch.Queue("commit") // skipped after a failed statement: the pool then closes the connection
	return readBatchResults(s.pool.SendBatch(ctx, batch), 2, asks)
}

// readBatchResults skips the first results of a batch and lets the functions read the others.
func readBatchResults(sent pgx.BatchResults, first int, asks []func(q *dbgen.Queries) error) error {
	for range first {
		if _, err := sent.Exec(); err != nil {
			_ = sent.Close()
			return classifyError(err)
		}
	}
	for _, ask := range asks {
		if err := ask(dbgen.New(batchReader{sent})); err != nil {
			_ = sent.Close()
			return classifyError(err)
		}
	}
	return classifyError(sent.Close())
}

// batchSender returns the transaction if there is one, else the pool.
func (s scope) batchSender() interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
} {
	if s.tx != nil {
		return s.tx
	}
	return s.pool
}

// batchCollector is a DBTX that collects statements.
type batchCollector struct{ batch *pgx.Batch }

func (c batchCollector) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	c.batch.Queue(sql, args...)
	return pgconn.CommandTag{}, errCollected
}

func (c batchCollector) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	c.batch.Queue(sql, args...)
	return nil, errCollected
}

func (c batchCollector) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	c.batch.Queue(sql, args...)
	return scopedRow{err: errCollected}
}

// batchReader is a DBTX that returns the next result of a batch for any statement.
type batchReader struct{ sent pgx.BatchResults }

func (r batchReader) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return r.sent.Exec()
}

func (r batchReader) Query(context.Context, string, ...any) (pgx.Rows, error) { return r.sent.Query() }

func (r batchReader) QueryRow(context.Context, string, ...any) pgx.Row { return r.sent.QueryRow() }
