package installation

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/postgres"
	"patchbay/internal/store"
)

// Attach finds the database: that of DATABASE_URL, the embedded one of a running server, or the
// embedded one, started for this command.
func Attach(ctx context.Context, d config.Database, log *slog.Logger) (route db.Route, stop func(), err error) {
	if !d.Embedded() {
		return ExternalRoute(d), func() {}, nil
	}
	url, stop, err := postgres.Attach(ctx, PostgresOptions(d, log))
	return EmbeddedRoute(url), stop, err
}

// EmbeddedRoute leads to the embedded database, as its owner.
func EmbeddedRoute(url string) db.Route {
	return db.Route{URL: url, Pooler: db.PoolerNone, Own: true}
}

// ExternalRoute leads to the database of DATABASE_URL.
func ExternalRoute(d config.Database) db.Route {
	return db.Route{URL: d.URL.Reveal(), Direct: d.DirectURL.Reveal(), Pooler: db.Pooler(d.Pooler)}
}

// migrateRoute checks the key, migrates the schema if a session is available, and finds out whether there is a
// pooler. A direct address is used first: a migration may create the role that signs in through the pooler.
func migrateRoute(ctx context.Context, route db.Route, keys *KeySource, log *slog.Logger) (db.Route, error) {
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
func (d *Database) openPools(ctx context.Context, route db.Route, keys *KeySource, tracer pgx.QueryTracer) (err error) {
	if d.Pool, err = db.OpenPool(ctx, route.Runtime(), db.PoolOptions{Pooled: route.Pooled(), Tracer: tracer}); err != nil {
		return err
	}
	switch {
	case !route.Pooled():
		d.ListenPool = d.Pool
	case route.Direct == "":
		if err := db.Migrated(ctx, d.Pool); err != nil {
			return err
		}
		d.Log.WarnContext(ctx, "database pooler without direct address: no notifications from other processes")
	default:
		if d.ListenPool, err = db.OpenPool(ctx, route.Direct, db.PoolOptions{MaxConns: 1}); err != nil {
			return err
		}
	}
	kek, err := keys.OpenKey(ctx, d.Pool)
	if err != nil {
		return err
	}
	d.Store, err = store.OpenPooled(ctx, d.Pool, d.ListenPool, kek)
	return err
}
