package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// scope runs the statements of one entry point. Row-level security reads the scope's setting, so each statement
// needs it:
//
//	without a transaction   set_config and the statement are one implicit transaction and one round trip
//	in a transaction        begin and set_config are one round trip, and apply to every statement
//
// The setting ends with the transaction: a pooled connection never carries one tenant's scope to the next
// caller.
//
// It implements dbgen.DBTX. Errors are classified, except pgx.ErrNoRows: only the caller can name the missing
// object.
type scope struct {
	pool    *pgxpool.Pool
	setting string // app.tenant_id or app.system
	value   string
	tx      pgx.Tx // nil: no transaction
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
		return tag, classifyError(err)
	}
	sent, err := s.sendBatch(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := sent.Exec()
	if end := sent.Close(); err == nil {
		err = end // the implicit transaction may still fail at its end
	}
	return tag, classifyError(err)
}

// Query runs a statement and returns its rows.
func (s scope) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if s.tx != nil {
		rows, err := s.tx.Query(ctx, sql, args...)
		if err != nil {
			return nil, classifyError(err)
		}
		return &scopedRows{Rows: rows}, nil
	}
	sent, err := s.sendBatch(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	rows, err := sent.Query()
	if err != nil {
		_ = sent.Close()
		return nil, classifyError(err)
	}
	return &scopedRows{Rows: rows, sent: sent}, nil
}

// QueryRow runs a statement and returns its first row.
func (s scope) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := s.Query(ctx, sql, args...)
	return scopedRow{rows: rows, err: err}
}

func (s scope) sendBatch(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	batch := &pgx.Batch{}
	batch.Queue(setScopeStatement, s.setting, s.value)
	batch.Queue(sql, args...)
	sent := s.pool.SendBatch(ctx, batch)
	if _, err := sent.Exec(); err != nil {
		_ = sent.Close()
		return nil, classifyError(err)
	}
	return sent, nil
}

const (
	setScopeStatement = "select set_config($1, $2, true)"

	beginStatement         = "begin"
	beginSnapshotStatement = "begin isolation level repeatable read read only"
)

// beginTx opens a transaction in the scope. The value is an id of ours or a constant and needs no quoting.
func (s scope) beginTx(ctx context.Context, statement string) (scope, error) {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{
		BeginQuery: statement + "; select set_config('" + s.setting + "', '" + s.value + "', true)",
	})
	if err != nil {
		return scope{}, classifyError(err)
	}
	s.tx = tx
	return s, nil
}

// scopedRows closes its batch, and so its implicit transaction, after the last row.
type scopedRows struct {
	pgx.Rows
	sent pgx.BatchResults // nil: in a transaction, or closed
	err  error            // from closing
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
		return classifyError(err)
	}
	return classifyError(r.err)
}

type scopedRow struct {
	rows pgx.Rows
	err  error
}

// Scan reads the row and closes the statement. It returns pgx.ErrNoRows without a row.
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
