package main

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/postgres"
	"patchbay/internal/store"
)

// attach finds the database: the one of DATABASE_URL, the embedded one of a server that runs, or the embedded one
// started for as long as this command takes.
func attach(ctx context.Context, d config.Database, log *slog.Logger) (route db.Route, stop func(), err error) {
	if !d.Embedded() {
		return external(d), func() {}, nil
	}
	url, stop, err := postgres.Attach(ctx, postgresOptions(d, log))
	return direct(url), stop, err
}

// direct leads to a database of our own, at its owner's address.
func direct(url string) db.Route { return db.Route{URL: url, Pooler: db.PoolerNone, Own: true} }

func external(d config.Database) db.Route {
	return db.Route{URL: d.URL.Reveal(), Direct: d.DirectURL.Reveal(), Pooler: db.Pooler(d.Pooler)}
}

// migrate checks the key and brings the schema up to date where a session can be had, and says whether there is a pooler. With a way
// past it that comes first: the role that the pooler signs in as may be what a migration makes.
func migrate(ctx context.Context, route db.Route, keys *keyHolder, log *slog.Logger) (db.Route, error) {
	if route.Direct == "" {
		found, err := route.Find(ctx)
		if err != nil || found.Pooled() {
			return found, err
		}
		route = found
	}
	session, _ := route.Session()
	if err := checkKey(ctx, session, keys); err != nil {
		return route, err
	}
	if err := db.Migrate(ctx, session, log); err != nil {
		return route, err
	}
	if route.Own {
		var err error
		if route.App, err = db.LetAppSignIn(ctx, session); err != nil {
			return route, err
		}
	}
	return route.Find(ctx)
}

// connect opens the pools and the store.
func (d *database) connect(ctx context.Context, route db.Route, keys *keyHolder, tracer pgx.QueryTracer) (err error) {
	if d.pool, err = db.OpenPool(ctx, route.Runtime(), db.PoolOptions{Pooled: route.Pooled(), Tracer: tracer}); err != nil {
		return err
	}
	switch {
	case !route.Pooled():
		d.listens = d.pool
	case route.Direct == "":
		if err := db.Migrated(ctx, d.pool); err != nil {
			return err
		}
		d.log.WarnContext(ctx, "database has a pooler and no direct address: other processes are not heard")
	default:
		if d.listens, err = db.OpenPool(ctx, route.Direct, db.PoolOptions{MaxConns: 1}); err != nil {
			return err
		}
	}
	kek, err := keys.open(ctx, d.pool)
	if err != nil {
		return err
	}
	d.store, err = store.OpenPooled(ctx, d.pool, d.listens, kek)
	return err
}
