package pgtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
)

// shared is what the tests of one binary share: the server and its templates.
type shared struct {
	address *url.URL
	pool    *pgxpool.Pool // to the maintenance database, as its owner
	drops   chan string
	made    atomic.Int64
	prefix  string // of our databases' names

	templatesMu sync.Mutex
	templates   map[string]bool // those that are there; guarded by templatesMu
}

// open connects to the server once per binary.
var open = sync.OnceValues(func() (*shared, error) {
	raw, err := server()
	if err != nil {
		return nil, err
	}
	return connectServer(raw)
})

func connectServer(raw string) (*shared, error) {
	address, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("TEST_DATABASE_URL is no postgres:// URL")
	}
	config, err := pgxpool.ParseConfig(raw)
	if err != nil {
		return nil, errors.New("TEST_DATABASE_URL is no postgres:// URL")
	}
	config.MaxConns = 6
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("connect to the test server: %w", err)
	}
	s := &shared{
		address: address, pool: pool,
		templates: map[string]bool{},
		drops:     make(chan string, 4096),
		prefix:    fmt.Sprintf("patchbay_test_%d_%d_", time.Now().Unix(), os.Getpid()),
	}
	go s.dropAll()
	return s, nil
}

func (s *shared) url(name string) string {
	u := *s.address
	u.Path = "/" + name
	return u.String()
}

func (s *shared) create(ctx context.Context, template string) (string, error) {
	name := fmt.Sprintf("%s%d", s.prefix, s.made.Add(1))
	// Copied files cost half of a copy through the log, where nothing is synced.
	// Not cancelled with the test: a half-made database would have no name to drop it by.
	_, err := s.pool.Exec(context.WithoutCancel(ctx), fmt.Sprintf("create database %s template %s strategy file_copy", quote(name), quote(template)))
	if err != nil {
		return "", fmt.Errorf("clone %s: %w", template, err)
	}
	return name, nil
}

// dropLater never waits: a drop takes longer than a clone.
func (s *shared) dropLater(name string) {
	select {
	case s.drops <- name:
	default: // the server goes with the binary anyway
	}
}

func (s *shared) dropAll() {
	for name := range s.drops {
		_, _ = s.pool.Exec(context.Background(), "drop database if exists "+quote(name)+" with (force)")
	}
}

// migratedTemplate returns the name of the template that the migrations made.
func (s *shared) migratedTemplate(ctx context.Context) (string, error) {
	return s.ensureTemplate(ctx, "patchbay_template_"+db.Fingerprint(), "template1", func(ctx context.Context, url string) error {
		return db.Migrate(ctx, url, slog.New(slog.DiscardHandler))
	})
}

// resettableTemplate returns the name of a copy of it that has fixture.reset.
func (s *shared) resettableTemplate(ctx context.Context) (string, error) {
	migrated, err := s.migratedTemplate(ctx)
	if err != nil {
		return "", err
	}
	return s.ensureTemplate(ctx, migrated+"_"+resetFingerprint(), migrated, func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return fmt.Errorf("connect to a template: %w", err)
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, resetSQL); err != nil {
			return fmt.Errorf("remember the rows of the migrations: %w", err)
		}
		return nil
	})
}

// ensureTemplate returns name once that database is there: from's copy, which fill has changed.
func (s *shared) ensureTemplate(ctx context.Context, name, from string, fill func(ctx context.Context, url string) error) (string, error) {
	s.templatesMu.Lock()
	defer s.templatesMu.Unlock()
	if s.templates[name] {
		return name, nil
	}
	if err := s.makeTemplate(context.WithoutCancel(ctx), name, from, fill); err != nil {
		return "", err
	}
	s.templates[name] = true
	return name, nil
}

// makeTemplate fills a database beside the template's name and renames it when whole: binaries that share a server
// must not clone a half-made one.
func (s *shared) makeTemplate(ctx context.Context, name, from string, fill func(ctx context.Context, url string) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `select pg_advisory_lock(hashtext('patchbay templates'))`); err != nil {
		return fmt.Errorf("lock templates: %w", err)
	}
	defer conn.Exec(ctx, `select pg_advisory_unlock(hashtext('patchbay templates'))`) //nolint:errcheck // ends with the connection, too

	var there bool
	if err := conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, name).Scan(&there); err != nil || there {
		return err
	}
	unfinished := name + "_new"
	for _, statement := range []string{
		"drop database if exists " + quote(unfinished) + " with (force)", "create database " + quote(unfinished) + " template " + quote(from),
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("make a database: %w", err)
		}
	}
	if err := fill(ctx, s.url(unfinished)); err != nil {
		return err
	}
	return rename(ctx, conn, unfinished, name)
}

// rename waits for the last connections of what filled it to be gone.
func rename(ctx context.Context, conn *pgxpool.Conn, from, to string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := conn.Exec(ctx, "alter database "+quote(from)+" rename to "+quote(to))
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "55006" {
			return err
		}
		_, _ = conn.Exec(ctx, "select pg_sleep(0.01)")
	}
}

// dropOldDatabases clears a server that outlives its test binaries of what killed ones left an hour ago.
func dropOldDatabases(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to TEST_DATABASE_URL: %w", err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `
		select datname from pg_database
		where datname ~ '^patchbay_test_\d+_' and split_part(datname, '_', 3)::bigint < extract(epoch from now()) - 3600`)
	if err != nil {
		return fmt.Errorf("list old test databases: %w", err)
	}
	old, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list old test databases: %w", err)
	}
	for _, name := range old {
		if _, err := conn.Exec(ctx, "drop database if exists "+quote(name)+" with (force)"); err != nil {
			return fmt.Errorf("drop an old test database: %w", err)
		}
	}
	return nil
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
