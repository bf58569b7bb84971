package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// scope runs the statements of one door. Row-level security reads the scope's setting, so each statement needs it:
//
//	outside a transaction   set_config and the statement travel together, in one implicit transaction and one round trip
//	inside one              begin and set_config travel together, and hold for every statement
//
// The setting ends with the transaction: a pooled connection never carries one tenant's scope to the next caller.
//
// It is what dbgen calls a DBTX. Errors come out classified, except pgx.ErrNoRows: only the caller knows what is missing.
type scope struct {
	pool    *pgxpool.Pool
	setting string // app.tenant_id or app.system
	value   string
	tx      pgx.Tx // nil: outside a transaction
}

func tenantScope(pool *pgxpool.Pool, tenant string) scope {
	return scope{pool: pool, setting: "app.tenant_id", value: tenant}
}

func systemScope(pool *pgxpool.Pool) scope {
	return scope{pool: pool, setting: "app.system", value: "on"}
}

// Exec runs a statement that returns no rows.
func (s scope) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if s.tx != nil {
		tag, err := s.tx.Exec(ctx, sql, args...)
		return tag, classify(err)
	}
	sent, err := s.send(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := sent.Exec()
	if end := sent.Close(); err == nil {
		err = end // the implicit transaction may still fail at its end
	}
	return tag, classify(err)
}

// Query runs a statement and returns its rows.
func (s scope) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if s.tx != nil {
		rows, err := s.tx.Query(ctx, sql, args...)
		if err != nil {
			return nil, classify(err)
		}
		return &scopedRows{Rows: rows}, nil
	}
	sent, err := s.send(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	rows, err := sent.Query()
	if err != nil {
		_ = sent.Close()
		return nil, classify(err)
	}
	return &scopedRows{Rows: rows, sent: sent}, nil
}

// QueryRow runs a statement and returns its first row.
func (s scope) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := s.Query(ctx, sql, args...)
	return scopedRow{rows: rows, err: err}
}

func (s scope) send(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	batch := &pgx.Batch{}
	batch.Queue(setScope, s.setting, s.value)
	batch.Queue(sql, args...)
	sent := s.pool.SendBatch(ctx, batch)
	if _, err := sent.Exec(); err != nil {
		_ = sent.Close()
		return nil, classify(err)
	}
	return sent, nil
}

const (
	setScope = "select set_config($1, $2, true)"

	begin         = "begin"
	beginSnapshot = "begin isolation level repeatable read read only"
)

// begin opens a transaction in the scope. The value is an id of ours or a constant: it needs no quoting.
func (s scope) begin(ctx context.Context, statement string) (scope, error) {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{
		BeginQuery: statement + "; select set_config('" + s.setting + "', '" + s.value + "', true)",
	})
	if err != nil {
		return scope{}, classify(err)
	}
	s.tx = tx
	return s, nil
}

// scopedRows ends its batch, and so its implicit transaction, with its last row.
type scopedRows struct {
	pgx.Rows
	sent pgx.BatchResults // nil: in a transaction, or ended
	err  error            // of the end
}

func (r *scopedRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *scopedRows) Close() {
	r.Rows.Close()
	if r.sent != nil {
		r.err = r.sent.Close()
		r.sent = nil
	}
}

func (r *scopedRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return classify(err)
	}
	return classify(r.err)
}

type scopedRow struct {
	rows pgx.Rows
	err  error
}

// Scan reads the row and ends the statement. Without a row the error is pgx.ErrNoRows.
func (r scopedRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
