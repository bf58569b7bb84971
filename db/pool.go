package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/fault"
)

// DefaultMaxConns is how many connections a pool opens at most where neither the options nor the URL
// (pool_max_conns) say another number.
const DefaultMaxConns = 16

const (
	// connectTimeout bounds the making of a connection, for each host of the URL.
	connectTimeout = 5 * time.Second
	// pingTimeout is how long a connection that was idle may take to show that it lives, before it is asked for something.
	pingTimeout = 3 * time.Second
)

// The level at which all our transactions run that write. Snapshots, which only read, name another one when they begin.
const (
	isolation     = "default_transaction_isolation"
	readCommitted = "read committed"
)

// PoolOptions say how a pool differs from the usual one. The zero value is useful.
type PoolOptions struct {
	MaxConns int32           // 0: pool_max_conns of the URL, else DefaultMaxConns
	Pooled   bool            // a pooler stands at the URL, which may give each transaction another session
	Tracer   pgx.QueryTracer // nil: none
}

// OpenPool connects to the database of url as the runtime role and waits until the first connection stands. The pool
// survives restarts of the database: a dead connection is replaced when it is next asked for.
func OpenPool(ctx context.Context, url string, opts PoolOptions) (*pgxpool.Pool, error) {
	config, err := poolConfig(url)
	if err != nil {
		return nil, err
	}
	if opts.Pooled {
		behindPooler(config.ConnConfig, url)
	} else {
		asApp(config.ConnConfig)
	}
	if opts.MaxConns > 0 {
		config.MaxConns = opts.MaxConns
	}
	config.ConnConfig.Tracer = opts.Tracer
	config.AfterConnect = learnTypes

	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The database pool cannot be created.")
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, connectFault(err, config.ConnConfig)
	}
	if opts.Pooled {
		if err := checkPooled(ctx, pool); err != nil {
			pool.Close()
			return nil, err
		}
	}
	return pool, nil
}

// asApp has a session begin as the runtime role.
func asApp(config *pgx.ConnConfig) {
	if config.User != AppRole {
		config.RuntimeParams["role"] = AppRole
	}
	// A transaction that its owner forgot must not hold its locks for ever.
	setDefault(config.RuntimeParams, "idle_in_transaction_session_timeout", "60s")
	setDefault(config.RuntimeParams, "statement_timeout", "60s")
}

// poolConfig reads the URL and sets what all our connections share.
func poolConfig(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// pgx leaves the password out of its message, but a URL that it cannot take apart may hold it anywhere.
		return nil, fault.Errorf(fault.Invalid, "DATABASE_URL must look like postgres://user:password@host:5432/database.")
	}
	if !hasParameter(url, "pool_max_conns") {
		config.MaxConns = DefaultMaxConns
	}
	config.MaxConnLifetimeJitter = 5 * time.Minute
	config.ConnConfig.ConnectTimeout = connectTimeout
	config.ConnConfig.DialFunc = dialer().DialContext
	if config.PingTimeout == 0 {
		config.PingTimeout = pingTimeout
	}
	setDefault(config.ConnConfig.RuntimeParams, "application_name", "patchbay")
	// Whatever the server, the role or the URL says: the trigger that refuses what a retired key sealed looks again after it has
	// waited for the rotation, and would see the time before in a transaction of any other level.
	config.ConnConfig.RuntimeParams[isolation] = readCommitted
	return config, nil
}

func setDefault(params map[string]string, name, value string) {
	if _, ok := params[name]; !ok {
		params[name] = value
	}
}
