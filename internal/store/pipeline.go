package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/store/dbgen"
)

// errPipelined says that a statement with rows was put into a pipeline, which keeps none.
var errPipelined = errors.New("a pipeline takes statements without rows only")

// pipeline collects statements of a transaction, to be sent in one round trip. It is a DBTX, so the statements are
// written as everywhere else; what they affect is not known when they return.
type pipeline struct {
	batch pgx.Batch
}

// pipelined runs the statements that collect makes, in order and in one round trip. It belongs into a transaction.
func (s scope) pipelined(ctx context.Context, collect func(q *dbgen.Queries) error) error {
	p := &pipeline{}
	if err := collect(dbgen.New(p)); err != nil {
		return err
	}
	if p.batch.Len() == 0 {
		return nil
	}
	return classify(s.tx.SendBatch(ctx, &p.batch).Close())
}

// Exec takes the statement into the pipeline.
func (p *pipeline) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	p.batch.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

// Query refuses: a pipeline keeps no rows.
func (p *pipeline) Query(context.Context, string, ...any) (pgx.Rows, error) { return nil, errPipelined }

// QueryRow refuses: a pipeline keeps no rows.
func (p *pipeline) QueryRow(context.Context, string, ...any) pgx.Row {
	return scopedRow{err: errPipelined}
}
