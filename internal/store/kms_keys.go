package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/store/dbgen"
)

// KMSKey is what a KMS holds for a database, wrapped by it; nil: nothing. fresh says that the database has no keys at all. Its schema may be
// older than this program wants, or not be there at all: then nothing is held.
func KMSKey(ctx context.Context, pool *pgxpool.Pool, uri string) (wrapped []byte, fresh bool, err error) {
	q := dbgen.New(systemScope(pool))
	wrapped, err = q.KMSKey(ctx, uri)
	if err == nil || !errors.Is(err, pgx.ErrNoRows) && !notThereYet(err) {
		return wrapped, false, err
	}
	rows, err := q.WrappedKeysets(ctx)
	if notThereYet(err) {
		err = nil
	}
	return nil, len(rows) == 0, err
}

// AddKMSKey stores what a KMS has wrapped, and returns what is stored: another process may have been faster.
func AddKMSKey(ctx context.Context, pool *pgxpool.Pool, uri string, wrapped []byte) ([]byte, error) {
	q := dbgen.New(systemScope(pool))
	if err := q.AddKMSKey(ctx, uri, wrapped); err != nil {
		return nil, err
	}
	return q.KMSKey(ctx, uri)
}

// notThereYet tells of a table that a migration has not made, or that is not ours yet.
func notThereYet(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "42P01" || pg.Code == "42501")
}
