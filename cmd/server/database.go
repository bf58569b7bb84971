package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
	"patchbay/internal/auth"
	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/postgres"
	"patchbay/internal/store"
	"patchbay/internal/telemetry"
)

// firstTenant is the slug of a fresh database's tenant.
const firstTenant = "default"

// databaseCommand is embedded in short commands, which open the database, do one thing and end.
type databaseCommand struct {
	config.DatabaseFlags
}

// database is an open store and what to close after it.
type database struct {
	pool       *pgxpool.Pool
	listenPool *pgxpool.Pool // for LISTEN: the pool, another one past a pooler, or nil
	store      *store.Store
	log        *slog.Logger
	stop       func()
}

// openDatabase works with or without a running server on the same database. It migrates the schema, because the
// first command on a fresh machine need not be serve.
func (c databaseCommand) openDatabase(ctx context.Context, p commandIO) (*database, error) {
	settings, err := c.DatabaseFlags.Check()
	if err != nil {
		return nil, err
	}
	keys, err := newKeyHolder(settings)
	if err != nil {
		return nil, err
	}
	log := telemetry.NewLogger(p.stderr, slog.LevelWarn, telemetry.Text)
	route, stop, err := attachDatabase(ctx, settings, log)
	if err != nil {
		return nil, err
	}
	d, err := openDatabase(ctx, route, keys, log)
	if err != nil {
		stop()
		return nil, err
	}
	d.stop = stop
	return d, nil
}

func postgresOptions(d config.Database, log *slog.Logger) postgres.Options {
	return postgres.Options{Dir: d.DataDir, BinDir: d.PostgresBin, Log: log}
}

// openDatabase migrates and opens the store. After a failure nothing is open, and with a wrong key nothing is
// written. Behind a pooler it migrates only with a direct address.
func openDatabase(ctx context.Context, route db.Route, keys *kekSource, log *slog.Logger) (*database, error) {
	return openDatabaseTraced(ctx, route, keys, log, nil)
}

// openDatabaseTraced is openDatabase with a tracer of statements; nil: none.
func openDatabaseTraced(ctx context.Context, route db.Route, keys *kekSource, log *slog.Logger, tracer pgx.QueryTracer) (*database, error) {
	route, err := migrateRoute(ctx, route, keys, log)
	if err != nil {
		return nil, err
	}
	d := &database{log: log, stop: func() {}}
	err = d.openPools(ctx, route, keys, tracer)
	if err == nil {
		err = d.ensureTenant(ctx)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// checkKey fails if the key does not open the existing data, before the schema is migrated.
func checkKey(ctx context.Context, url string, keys *kekSource) error {
	pool, err := db.OpenPool(ctx, url, db.PoolOptions{MaxConns: 1})
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && slices.Contains([]string{"22023", "42501", "42704"}, refused.Code) {
		return nil // before the first migration the runtime role is missing or not granted
	}
	if err != nil {
		return err
	}
	defer pool.Close()
	return keys.checkKey(ctx, pool)
}

// ensureTenant creates the first tenant of a fresh database. It does not recreate one that the operator
// deleted.
func (d *database) ensureTenant(ctx context.Context) error {
	_, err := d.store.System().TenantByRef(ctx, firstTenant)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	all, err := d.store.System().Tenants(ctx)
	if err != nil || len(all) > 0 {
		return err
	}
	_, err = d.store.System().CreateTenant(ctx, "Default", firstTenant, &store.Event{ActorType: "system", ActorName: "Patchbay"})
	if fault.Is(err, fault.Conflict) {
		return nil // another replica was faster
	}
	return err
}

func (d *database) close() {
	if d.store != nil {
		d.store.Close()
	}
	for _, pool := range []*pgxpool.Pool{d.listenPool, d.pool} {
		if pool != nil {
			pool.Close()
		}
	}
	d.stop()
}

// newAuthService returns the service for commands, which open no browser session.
func (d *database) newAuthService() *auth.Service {
	return auth.New(auth.Options{Store: d.store, Log: d.log})
}
