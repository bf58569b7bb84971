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

// together runs queries in one round trip and one implicit transaction. Each statement sees what is committed when it begins: one that
// waited for a lock sees what the lock protected. Reads belong into [scope.readTogether]. Each ask makes exactly one query, and is called
// twice: to collect the statement, when its error counts for nothing, and to read the rows.
func (s scope) together(ctx context.Context, asks ...func(q *dbgen.Queries) error) error {
	batch := &pgx.Batch{}
	batch.Queue(setScope, s.setting, s.value)
	for _, ask := range asks {
		_ = ask(dbgen.New(collector{batch}))
	}
	return readBatch(s.sender().SendBatch(ctx, batch), 1, asks)
}

// readTogether is together for queries that only read: all of them see the same moment. In a transaction they see what that sees.
func (s scope) readTogether(ctx context.Context, asks ...func(q *dbgen.Queries) error) error {
	if s.tx != nil {
		return s.together(ctx, asks...)
	}
	batch := &pgx.Batch{}
	batch.Queue(beginSnapshot)
	batch.Queue(setScope, s.setting, s.value)
	for _, ask := range asks {
		_ = ask(dbgen.New(collector{batch}))
	}
	batch.Queue("commit") // where a statement failed it does not run, and the pool closes the connection
	return readBatch(s.pool.SendBatch(ctx, batch), 2, asks)
}

// readBatch passes over the results of the first statements of a batch, and has the asks read theirs.
func readBatch(sent pgx.BatchResults, first int, asks []func(q *dbgen.Queries) error) error {
	for range first {
		if _, err := sent.Exec(); err != nil {
			_ = sent.Close()
			return classify(err)
		}
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
