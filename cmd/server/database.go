package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
	"patchbay/internal/auth"
	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/postgres"
	"patchbay/internal/secret"
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
	pool  *pgxpool.Pool
	store *store.Store
	log   *slog.Logger
	stop  func()
}

// open works whether or not a server runs on the same database. It brings the schema up to date, because the first
// command on a fresh machine need not be serve.
func (c databaseCommand) open(ctx context.Context, p program) (*database, error) {
	settings, err := c.DatabaseFlags.Check()
	if err != nil {
		return nil, err
	}
	kek, err := keyset(settings)
	if err != nil {
		return nil, err
	}
	log := telemetry.NewLogger(p.stderr, slog.LevelWarn, telemetry.Text)
	url, stop, err := attach(ctx, settings, log)
	if err != nil {
		return nil, err
	}
	d, err := openDatabase(ctx, url, kek, log)
	if err != nil {
		stop()
		return nil, err
	}
	d.stop = stop
	return d, nil
}

// attach finds the database: the one of DATABASE_URL, the embedded one of a server that runs, or the embedded one
// started for as long as this command takes.
func attach(ctx context.Context, d config.Database, log *slog.Logger) (url string, stop func(), err error) {
	if !d.Embedded() {
		return d.URL.Reveal(), func() {}, nil
	}
	return postgres.Attach(ctx, postgresOptions(d, log))
}

func postgresOptions(d config.Database, log *slog.Logger) postgres.Options {
	return postgres.Options{Dir: d.DataDir, BinDir: d.PostgresBin, Log: log}
}

// openDatabase migrates and opens the store. It leaves nothing open where it fails, and writes nothing where the key is wrong.
func openDatabase(ctx context.Context, url string, kek secret.KEK, log *slog.Logger) (*database, error) {
	if err := checkKey(ctx, url, kek); err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx, url, log); err != nil {
		return nil, err
	}
	pool, err := db.OpenPool(ctx, url, db.PoolOptions{})
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, pool, kek)
	if err != nil {
		pool.Close()
		return nil, err
	}
	d := &database{pool: pool, store: st, log: log, stop: func() {}}
	if err := d.ensureTenant(ctx); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// checkKey refuses a key that does not open what is there, before the schema is touched.
func checkKey(ctx context.Context, url string, kek secret.KEK) error {
	pool, err := db.OpenPool(ctx, url, db.PoolOptions{MaxConns: 1})
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && slices.Contains([]string{"22023", "42501", "42704"}, refused.Code) {
		return nil // before the first migration there is no runtime role, or it is not ours yet
	}
	if err != nil {
		return err
	}
	defer pool.Close()
	return store.CheckKey(ctx, pool, kek)
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
	_, err = d.store.System().CreateTenant(ctx, "Default", firstTenant)
	if fault.Is(err, fault.Conflict) {
		return nil // another replica was faster
	}
	return err
}

func (d *database) close() {
	d.store.Close()
	d.pool.Close()
	d.stop()
}

// auth is the service for commands: it opens no browser session.
func (d *database) auth() *auth.Service {
	return auth.New(auth.Options{Store: d.store, Log: d.log})
}
