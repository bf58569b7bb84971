package db

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/fault"
)

// Pooler says what stands between us and the database.
type Pooler string

// The poolers.
const (
	PoolerUnknown     Pooler = ""            // Find looks
	PoolerNone        Pooler = "none"        // each connection is one session of the database's
	PoolerTransaction Pooler = "transaction" // each transaction may have another session, as behind PgBouncer in transaction mode
)

// Route is how the database is reached.
type Route struct {
	URL    string
	Direct string // the way past a pooler; empty: there is none, or nobody said which
	Pooler Pooler
	// Own says that the database is Patchbay's own, where the runtime role may sign in. App is the URL at which it does; empty: URL, whose
	// sessions become it.
	Own bool
	App string
}

// Runtime is the address of the sessions that the program works in.
func (r Route) Runtime() string { return cmp.Or(r.App, r.URL) }

// Find looks whether a pooler stands at the URL, where nobody has said it. One that gives each connection a session of its own looks
// the same and is treated as one that does not: that is slower, and right.
func (r Route) Find(ctx context.Context) (Route, error) {
	if r.Pooler != PoolerUnknown {
		return r, nil
	}
	met, err := meetsPooler(ctx, r.URL)
	if err != nil {
		return r, err
	}
	r.Pooler = PoolerNone
	if met {
		r.Pooler = PoolerTransaction
	}
	return r, nil
}

// Pooled reports whether the URL is that of a pooler.
func (r Route) Pooled() bool { return r.Pooler == PoolerTransaction }

// Session is an address where a connection is one session of the database's, as listening and migrating need it.
func (r Route) Session() (url string, ok bool) {
	if r.Direct != "" {
		return r.Direct, true
	}
	return r.URL, !r.Pooled()
}

// meetsPooler compares whom a connection was told to speak with and who answers: a pooler tells each client a process of its own
// invention. The connection sets nothing but its name, since a pooler refuses what it cannot keep for a client.
func meetsPooler(ctx context.Context, url string) (bool, error) {
	pool, err := poolConfig(url)
	if err != nil {
		return false, err
	}
	config := pool.ConnConfig
	delete(config.RuntimeParams, isolation)
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing is prepared
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, connectFault(err, config)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var answers uint32
	if err := conn.QueryRow(ctx, "select pg_backend_pid()").Scan(&answers); err != nil {
		return false, fault.Wrap(fault.Unavailable, err, "The database isn't responding.")
	}
	return answers != conn.PgConn().PID(), nil
}

// behindPooler makes a pool's connections such that it does not matter which session of the database's a transaction has: nothing
// is set at their start, and no statement is prepared there, only described, unless the URL names another way: a pooler may know prepared
// statements.
func behindPooler(config *pgx.ConnConfig, url string) {
	delete(config.RuntimeParams, isolation)
	if !hasParameter(url, "default_query_exec_mode") {
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
}

// checkPooled looks whether the sessions behind the pooler are what a connection of our own would have made of them.
func checkPooled(ctx context.Context, q Querier) error {
	var role, login, level string
	err := q.QueryRow(ctx, "select current_user, session_user, current_setting('"+isolation+"')").Scan(&role, &login, &level)
	switch {
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "The database isn't responding.")
	case role != AppRole:
		return fault.Errorf(fault.Unavailable,
			"The database's pooler uses the role %s. Connect as %s, or ask an administrator to run: alter role %s set role = %s.",
			role, AppRole, quote(login), AppRole)
	case level != readCommitted:
		return fault.Errorf(fault.Unavailable,
			"The database's pooler defaults to %s transactions. Ask an administrator to run: alter role %s set default_transaction_isolation = 'read committed'.",
			level, quote(login))
	}
	return nil
}

// Migrated fails where the database is not at this program's schema, in words for a program that cannot migrate by itself: migrations
// hold a lock over many transactions, which a pooler would give to a stranger.
func Migrated(ctx context.Context, q Querier) error {
	applied, wanted, err := Current(ctx, q)
	switch {
	case err != nil:
		return err
	case applied > wanted:
		return fault.Errorf(fault.Unavailable, "The database has schema version %d, but this program supports %d: start the newer Patchbay.", applied, wanted)
	case applied < wanted:
		return fault.Errorf(fault.Unavailable,
			"The database has schema version %d, but this program needs %d and cannot migrate through a pooler. Run `patchbay migrate` with the database's direct URL.", applied, wanted)
	}
	return nil
}
