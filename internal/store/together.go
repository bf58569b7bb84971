package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/store/dbgen"
)

// errCollected ends an ask of [scope.together] while it is being collected.
var errCollected = errors.New("collected, not run")

// together runs queries in one round trip and one implicit transaction. Each ask makes exactly one query, and is called twice: to
// collect the statement, when its error counts for nothing, and to read the rows.
func (s scope) together(ctx context.Context, asks ...func(q *dbgen.Queries) error) error {
	batch := &pgx.Batch{}
	batch.Queue("select set_config($1, $2, true)", s.setting, s.value)
	for _, ask := range asks {
		_ = ask(dbgen.New(collector{batch}))
	}
	sent := s.sender().SendBatch(ctx, batch)
	if _, err := sent.Exec(); err != nil {
		_ = sent.Close()
		return classify(err)
	}
	for _, ask := range asks {
		if err := ask(dbgen.New(reader{sent})); err != nil {
			_ = sent.Close()
			return classify(err)
		}
	}
	return classify(sent.Close())
}

// sender is the transaction, where there is one.
func (s scope) sender() interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
} {
	if s.tx != nil {
		return s.tx
	}
	return s.pool
}

// collector takes statements and answers none.
type collector struct{ batch *pgx.Batch }

func (c collector) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	c.batch.Queue(sql, args...)
	return pgconn.CommandTag{}, errCollected
}

func (c collector) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	c.batch.Queue(sql, args...)
	return nil, errCollected
}

func (c collector) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	c.batch.Queue(sql, args...)
	return scopedRow{err: errCollected}
}

// reader answers with the next result of a batch, whatever it is asked.
type reader struct{ sent pgx.BatchResults }

func (r reader) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return r.sent.Exec()
}

func (r reader) Query(context.Context, string, ...any) (pgx.Rows, error) { return r.sent.Query() }

func (r reader) QueryRow(context.Context, string, ...any) pgx.Row { return r.sent.QueryRow() }
