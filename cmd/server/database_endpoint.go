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

// attachDatabase finds the database: that of DATABASE_URL, the embedded one of a running server, or the
// embedded one, started for this command.
func attachDatabase(ctx context.Context, d config.Database, log *slog.Logger) (route db.Route, stop func(), err error) {
	if !d.Embedded() {
		return externalRoute(d), func() {}, nil
	}
	url, stop, err := postgres.Attach(ctx, postgresOptions(d, log))
	return databaseEndpoint(url), stop, err
}

// databaseEndpoint leads to the embedded database, as its owner.
func databaseEndpoint(url string) db.Route {
	return db.Route{URL: url, Pooler: db.PoolerNone, Own: true}
}

func externalRoute(d config.Database) db.Route {
	return db.Route{URL: d.URL.Reveal(), Direct: d.DirectURL.Reveal(), Pooler: db.Pooler(d.Pooler)}
}

// migrateRoute checks the key, migrates the schema if a session is available, and finds out whether there is a
// pooler. A direct address is used first: a migration may create the role that signs in through the pooler.
func migrateRoute(ctx context.Context, route db.Route, keys *kekSource, log *slog.Logger) (db.Route, error) {
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

// openPools opens the pools and the store.
func (d *database) openPools(ctx context.Context, route db.Route, keys *kekSource, tracer pgx.QueryTracer) (err error) {
	if d.pool, err = db.OpenPool(ctx, route.Runtime(), db.PoolOptions{Pooled: route.Pooled(), Tracer: tracer}); err != nil {
		return err
	}
	switch {
	case !route.Pooled():
		d.listenPool = d.pool
	case route.Direct == "":
		if err := db.Migrated(ctx, d.pool); err != nil {
			return err
		}
		d.log.WarnContext(ctx, "database has a pooler and no direct address: other processes are not heard")
	default:
		if d.listenPool, err = db.OpenPool(ctx, route.Direct, db.PoolOptions{MaxConns: 1}); err != nil {
			return err
		}
	}
	kek, err := keys.openKey(ctx, d.pool)
	if err != nil {
		return err
	}
	d.store, err = store.OpenPooled(ctx, d.pool, d.listenPool, kek)
	return err
}
