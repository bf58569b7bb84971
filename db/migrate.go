package db

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"patchbay/internal/fault"
)

// lockKey is the advisory lock that serializes migrations of one database; "patchbay" as a number.
const lockKey int64 = 0x7061746368626179

// Migrate brings the database of url to this program's schema: the runtime role, our migrations, the job queue's,
// and the role's rights. It changes nothing in a database that is there already, and needs no more than the runtime
// role's rights then. Replicas may call it at the same time: the first does the work, the others wait for it.
//
// A database that has all migrations that the baseline replaces gets the baseline's version, and nothing else changes.
//
// It fails with a fault that says what to do: a server older than PostgreSQL 15, a database newer than this program or
// with some of the migrations that the baseline replaces, a role that may not (then with the statements for an
// administrator), a table that somebody else keeps for minutes.
func Migrate(ctx context.Context, url string, log *slog.Logger) error {
	return migrator{files: Migrations(), patience: lockPatience, log: log}.migrate(ctx, url)
}

// migrator applies migrations.
type migrator struct {
	files    fs.FS
	patience time.Duration // for locks of tables
	log      *slog.Logger
}

func (m migrator) wantedVersions() []int64 { return migrationNumbers(m.files) }

func (m migrator) migrate(ctx context.Context, url string) error {
	config, err := poolConfig(url)
	if err != nil {
		return err
	}
	config.MaxConns = 4 // one holds the lock, goose and river take one each
	config.MinConns = 0
	config.AfterConnect = boundLocks
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("make pool: %w", err)
	}
	defer pool.Close()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return connectFault(err, config.ConnConfig)
	}
	defer conn.Release()

	s, err := readSession(ctx, conn.Conn())
	if err != nil {
		return fmt.Errorf("read the session's rights: %w", err)
	}
	if err := s.check(); err != nil {
		return err
	}
	if done, err := isMigrated(ctx, conn.Conn(), s, m.wantedVersions()); done || err != nil {
		return err
	}
	return m.migrateLocked(ctx, pool, conn.Conn())
}

// migrateLocked does the work under the lock, which ends with the connection at the latest.
func (m migrator) migrateLocked(ctx context.Context, pool *pgxpool.Pool, conn *pgx.Conn) error {
	if err := lockMigrations(ctx, conn); err != nil {
		return err
	}
	defer func() {
		// Where this fails, closing the connection unlocks, too.
		_, _ = conn.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock($1)`, lockKey)
	}()

	// While we waited another process may have done it all, or some of it.
	s, err := readSession(ctx, conn)
	if err != nil {
		return fmt.Errorf("read the session's rights: %w", err)
	}
	if done, err := isMigrated(ctx, conn, s, m.wantedVersions()); done || err != nil {
		return err
	}
	if missing := s.needs(); len(missing) > 0 {
		return needsFault(s, missing, nil)
	}
	if err := mayChangeTables(ctx, conn, s); err != nil {
		return err
	}
	left, do := func() int { return migrationsLeft(ctx, conn, m.wantedVersions()) }, func() error { return m.runAll(ctx, pool, conn, s) }
	if err := takingTurns(ctx, m.patience, m.log, left, do); err != nil {
		if hasCode(err, "42501") {
			return needsFault(s, []string{"alter database " + quote(s.database) + " owner to " + quote(s.user)}, err)
		}
		return err
	}
	m.log.InfoContext(ctx, "database migrated", "database", s.database, "version", slices.Max(m.wantedVersions()))
	return nil
}

// lockMigrations waits for another process that migrates, for as long as that takes: nothing but such a process waits behind this.
func lockMigrations(ctx context.Context, conn *pgx.Conn) error {
	if err := waitForLocks(ctx, conn, 0); err != nil {
		return fmt.Errorf("lock migrations: %w", err)
	}
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, lockKey); err != nil {
		return fmt.Errorf("lock migrations: %w", err)
	}
	return boundLocks(ctx, conn)
}

func (m migrator) runAll(ctx context.Context, pool *pgxpool.Pool, conn *pgx.Conn, s session) error {
	if err := ensureRole(ctx, conn, s, m.log); err != nil {
		return err
	}
	if err := m.stampBaseline(ctx, conn, s.database); err != nil {
		return err
	}
	if err := m.runGoose(ctx, pool); err != nil {
		return err
	}
	if err := runRiver(ctx, pool, m.log); err != nil {
		return err
	}
	return grantRights(ctx, conn, s.schema)
}

func (m migrator) runGoose(ctx context.Context, pool *pgxpool.Pool) error {
	sqlDB := stdlib.OpenDBFromPool(pool)
	defer sqlDB.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, sqlDB, m.files, goose.WithAllowOutofOrder(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	was, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for _, r := range results {
		if r.Source.Version < was {
			m.log.WarnContext(ctx, "an older missing migration was applied", "version", r.Source.Version, "schema", was)
		}
		m.log.DebugContext(ctx, "migration applied", "version", r.Source.Version, "duration_ms", r.Duration.Milliseconds())
	}
	return nil
}

func runRiver(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("read the job queue's migrations: %w", err)
	}
	result, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	if err != nil {
		return fmt.Errorf("migrate the job queue: %w", err)
	}
	for _, v := range result.Versions {
		log.DebugContext(ctx, "job queue migration applied", "version", v.Version)
	}
	return nil
}

// mayChangeTables refuses early where older tables belong to a role that is not ours.
func mayChangeTables(ctx context.Context, conn *pgx.Conn, s session) error {
	var owners []string
	err := conn.QueryRow(ctx, `
		select coalesce(array_agg(distinct pg_get_userbyid(relowner)), '{}')
		from pg_class
		where relnamespace = $1::text::regnamespace and relkind = 'r'
		  and (relname in ('goose_db_version', 'tenants') or relname like 'river\_%')
		  and not pg_has_role(relowner, 'usage')`, quote(s.schema)).Scan(&owners)
	if err != nil {
		return fmt.Errorf("read the tables' owners: %w", err)
	}
	if len(owners) == 0 {
		return nil
	}
	return fault.Errorf(fault.Denied,
		"The database %q is older than this program, and its tables belong to the role %s: run `patchbay migrate` with a DATABASE_URL of that role.",
		s.database, strings.Join(owners, ", "))
}
