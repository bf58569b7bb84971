package installation

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/postgres"
	"patchbay/internal/store"
)

// FirstTenant is the slug of a fresh database's tenant.
const FirstTenant = "default"

// Database is an open store and what to close after it.
type Database struct {
	Pool       *pgxpool.Pool
	ListenPool *pgxpool.Pool // for LISTEN: the pool, another one past a pooler, or nil
	Store      *store.Store
	Log        *slog.Logger
	stop       func()
}

// Options are how a database is opened.
type Options struct {
	Route  db.Route
	Keys   *KeySource
	Log    *slog.Logger
	Tracer pgx.QueryTracer // of statements; nil: none
}

// OpenAttached finds the database, or starts the embedded one for the caller, and opens it. It works with or
// without a running server on the same database.
func OpenAttached(ctx context.Context, settings config.Database, version string, log *slog.Logger) (*Database, error) {
	keys, err := NewKeySource(settings, version)
	if err != nil {
		return nil, err
	}
	route, stop, err := Attach(ctx, settings, log)
	if err != nil {
		return nil, err
	}
	d, err := Open(ctx, Options{Route: route, Keys: keys, Log: log})
	if err != nil {
		stop()
		return nil, err
	}
	d.stop = stop
	return d, nil
}

// PostgresOptions are those of the embedded PostgreSQL.
func PostgresOptions(d config.Database, log *slog.Logger) postgres.Options {
	return postgres.Options{Dir: d.DataDir, BinDir: d.PostgresBin, Log: log}
}

// Open migrates the schema and opens the store. After a failure nothing is open, and with a wrong key nothing is
// written. Behind a pooler it migrates only with a direct address. It makes the first tenant of a fresh database:
// the first command on a fresh machine need not be serve.
func Open(ctx context.Context, o Options) (*Database, error) {
	route, err := migrateRoute(ctx, o.Route, o.Keys, o.Log)
	if err != nil {
		return nil, err
	}
	d := &Database{Log: o.Log, stop: func() {}}
	err = d.openPools(ctx, route, o.Keys, o.Tracer)
	if err == nil {
		err = d.ensureTenant(ctx)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// checkKey fails if the key does not open the existing data, before the schema is migrated.
func checkKey(ctx context.Context, url string, keys *KeySource) error {
	pool, err := db.OpenPool(ctx, url, db.PoolOptions{MaxConns: 1})
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && slices.Contains([]string{"22023", "42501", "42704"}, refused.Code) {
		return nil // before the first migration the runtime role is missing or not granted
	}
	if err != nil {
		return err
	}
	defer pool.Close()
	return keys.CheckKey(ctx, pool)
}

// ensureTenant creates the first tenant of a fresh database. It does not recreate one that the operator
// deleted.
func (d *Database) ensureTenant(ctx context.Context) error {
	_, err := d.Store.System().TenantByRef(ctx, FirstTenant)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	all, err := d.Store.System().Tenants(ctx)
	if err != nil || len(all) > 0 {
		return err
	}
	_, err = d.Store.System().CreateTenant(ctx, "Default", FirstTenant, &store.Event{ActorType: "system", ActorName: "Patchbay"})
	if fault.Is(err, fault.Conflict) {
		return nil // another replica was faster
	}
	return err
}

// Close closes the store and the pools, and stops what was started for them.
func (d *Database) Close() {
	if d.Store != nil {
		d.Store.Close()
	}
	for _, pool := range []*pgxpool.Pool{d.ListenPool, d.Pool} {
		if pool != nil {
			pool.Close()
		}
	}
	d.stop()
}
