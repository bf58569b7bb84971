package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/store/dbgen"
)

// errPipelined means that a statement with rows was sent through a pipeline.
var errPipelined = errors.New("a pipeline takes statements without rows only")

// pipeline is a DBTX that collects statements of a transaction for one round trip. The number of affected rows
// is unknown when a statement returns.
type pipeline struct {
	batch pgx.Batch
}

// runPipeline runs the statements of collect in order, in one round trip. It requires a transaction.
func (s scope) runPipeline(ctx context.Context, collect func(q *dbgen.Queries) error) error {
	p := &pipeline{}
	if err := collect(dbgen.New(p)); err != nil {
		return err
	}
	if p.batch.Len() == 0 {
		return nil
	}
	return classifyError(s.tx.SendBatch(ctx, &p.batch).Close())
}

// Exec queues the statement.
func (p *pipeline) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	p.batch.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

// Query fails: a pipeline returns no rows.
func (p *pipeline) Query(context.Context, string, ...any) (pgx.Rows, error) { return nil, errPipelined }

// QueryRow fails: a pipeline returns no rows.
func (p *pipeline) QueryRow(context.Context, string, ...any) pgx.Row {
	return scopedRow{err: errPipelined}
}
