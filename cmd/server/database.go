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

// firstTenant is the slug of the tenant that a fresh database has.
const firstTenant = "default"

// databaseCommand is embedded in the short commands, which open the database, do one thing and end.
type databaseCommand struct {
	config.DatabaseFlags
}

// database is an open store, and what has to be closed after it.
type database struct {
	pool    *pgxpool.Pool
	listens *pgxpool.Pool // where notices come: the pool, another one past a pooler, or nil
	store   *store.Store
	log     *slog.Logger
	stop    func()
}

// open works whether or not a server runs on the same database. It brings the schema up to date, because the first
// command on a fresh machine need not be serve.
func (c databaseCommand) open(ctx context.Context, p program) (*database, error) {
	settings, err := c.DatabaseFlags.Check()
	if err != nil {
		return nil, err
	}
	keys, err := holderOf(settings)
	if err != nil {
		return nil, err
	}
	log := telemetry.NewLogger(p.stderr, slog.LevelWarn, telemetry.Text)
	route, stop, err := attach(ctx, settings, log)
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

// openDatabase migrates and opens the store. It leaves nothing open where it fails, and writes nothing where the key is wrong. Behind
// a pooler nothing is migrated without a way past it.
func openDatabase(ctx context.Context, route db.Route, keys *keyHolder, log *slog.Logger) (*database, error) {
	return openTraced(ctx, route, keys, log, nil)
}

// openTraced is openDatabase with somebody who is told of statements; nil: nobody.
func openTraced(ctx context.Context, route db.Route, keys *keyHolder, log *slog.Logger, tracer pgx.QueryTracer) (*database, error) {
	route, err := migrate(ctx, route, keys, log)
	if err != nil {
		return nil, err
	}
	d := &database{log: log, stop: func() {}}
	err = d.connect(ctx, route, keys, tracer)
	if err == nil {
		err = d.ensureTenant(ctx)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// checkKey refuses a key that does not open what is there, before the schema is touched.
func checkKey(ctx context.Context, url string, keys *keyHolder) error {
	pool, err := db.OpenPool(ctx, url, db.PoolOptions{MaxConns: 1})
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && slices.Contains([]string{"22023", "42501", "42704"}, refused.Code) {
		return nil // before the first migration there is no runtime role, or it is not ours yet
	}
	if err != nil {
		return err
	}
	defer pool.Close()
	return keys.check(ctx, pool)
}

// ensureTenant makes the first tenant of a fresh database. One that an operator has emptied of it stays without.
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
	for _, pool := range []*pgxpool.Pool{d.listens, d.pool} {
		if pool != nil {
			pool.Close()
		}
	}
	d.stop()
}

// auth is the service for commands: it opens no browser session.
func (d *database) auth() *auth.Service {
	return auth.New(auth.Options{Store: d.store, Log: d.log})
}
