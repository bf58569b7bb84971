package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/store/dbgen"
)

// KMSKey returns the key that a KMS wrapped for a database; nil: none. fresh reports that the database has no
// keys yet. The schema may be older or missing.
func KMSKey(ctx context.Context, pool *pgxpool.Pool, uri string) (wrapped []byte, fresh bool, err error) {
	q := dbgen.New(systemScope(pool))
	wrapped, err = q.KMSKey(ctx, uri)
	if err == nil || !errors.Is(err, pgx.ErrNoRows) && !isMissingTable(err) {
		return wrapped, false, err
	}
	rows, err := q.WrappedKeysets(ctx)
	if isMissingTable(err) {
		err = nil
	}
	return nil, len(rows) == 0, err
}

// AddKMSKey stores a key that a KMS wrapped, and returns the stored one: another process may have been first.
func AddKMSKey(ctx context.Context, pool *pgxpool.Pool, uri string, wrapped []byte) ([]byte, error) {
	q := dbgen.New(systemScope(pool))
	if err := q.AddKMSKey(ctx, uri, wrapped); err != nil {
		return nil, err
	}
	return q.KMSKey(ctx, uri)
}

// isMissingTable reports whether the table is not migrated yet or not owned by us.
func isMissingTable(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "42P01" || pg.Code == "42501")
}
