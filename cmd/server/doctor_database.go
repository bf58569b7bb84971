package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/postgres"
	"patchbay/internal/store"
)

const (
	// leastDisk is where PostgreSQL soon stops: its log of changes alone may take 512 MB.
	leastDisk = 1 << 30
	// mostSkew is how far two clocks may differ before expiries become wrong.
	mostSkew = 5 * time.Second
	// doctorPatience bounds the wait for a database.
	doctorPatience = 15 * time.Second
)

// database looks at all that lies below the store.
func (e *examination) database(ctx context.Context, d config.Database) {
	log := slog.New(slog.DiscardHandler)
	if d.Embedded() {
		if !e.programs(ctx, d) || !e.directory(d) {
			return
		}
		if !postgres.Exists(d.DataDir) {
			e.note("database", "there is none yet in %s; the first start makes it.", d.DataDir)
			return
		}
	}
	keys, ok := e.keyset(d)
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	route, stop, err := attach(ctx, d, log)
	if err != nil {
		e.failed("database", err)
		return
	}
	defer stop()
	if socket := socketDir(route.URL); d.Embedded() && socket != "" {
		e.ok("socket", "%s, for pg_dump and psql: host=%s user=patchbay dbname=patchbay", socket, socket)
	}
	if route, err = route.Find(ctx); err != nil {
		e.failed("database", err)
		return
	}
	pool, err := db.OpenPool(ctx, route.URL, db.PoolOptions{MaxConns: 2, Pooled: route.Pooled()})
	if err != nil {
		e.failed("database", err)
		return
	}
	defer pool.Close()
	e.clock(ctx, pool)
	if !route.Own {
		e.login(ctx, pool)
	}
	e.pooler(ctx, route, pool)
	if e.schema(ctx, pool) && ok {
		e.opens(ctx, pool, keys)
	}
}

// login says where a session of an operator's database could become a superuser's again.
func (e *examination) login(ctx context.Context, pool *pgxpool.Pool) {
	const what = "database role"
	var user string
	var super bool
	err := pool.QueryRow(ctx, "select session_user, (select rolsuper or rolbypassrls from pg_roles where rolname = session_user)").Scan(&user, &super)
	switch {
	case err != nil:
		e.failed(what, err)
	case super:
		e.note(what, "connections sign in as %s, which bypasses row-level security, and work as %s: a statement that resets the role sees all tenants. Let DATABASE_URL sign in as %s itself, or as a role that is no superuser.", user, db.AppRole, db.AppRole)
	default:
		e.ok(what, "signs in as %s", user)
	}
}

// pooler says what is slower behind a pooler, and what a session there lacks.
func (e *examination) pooler(ctx context.Context, route db.Route, pool *pgxpool.Pool) {
	const what = "pooler"
	if !route.Pooled() {
		return
	}
	if _, ok := route.Session(); !ok {
		e.note(what, "there is one, and no way past it: queued syncs begin up to a second later, and what an agent may do is read once a second, and one process does not hear another. Set PATCHBAY_DATABASE_DIRECT_URL, or run one process alone.")
	} else {
		e.ok(what, "there is one, and PATCHBAY_DATABASE_DIRECT_URL leads past it")
	}
	var role string
	var unbounded bool
	err := pool.QueryRow(ctx, `select session_user, '0' in (current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'))`).Scan(&role, &unbounded)
	switch name := (pgx.Identifier{role}).Sanitize(); {
	case err != nil:
		e.failed(what, err)
	case unbounded:
		e.note(what, "a statement or a forgotten transaction may last for ever. Let an administrator run: alter role %s set statement_timeout = '60s'; alter role %s set idle_in_transaction_session_timeout = '60s'", name, name)
	}
}

// socketDir is where the embedded PostgreSQL listens, out of its address.
func socketDir(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get("host")
}

// programs finds PostgreSQL.
func (e *examination) programs(ctx context.Context, d config.Database) bool {
	bin, err := postgres.FindBinaries(ctx, d.DataDir, d.PostgresBin)
	if err != nil {
		e.failed("PostgreSQL", err)
		return false
	}
	e.ok("PostgreSQL", "%s in %s", bin.Version, bin.Dir)
	return true
}

// directory looks at the nearest directory there is: the data directory itself is made at the first start.
func (e *examination) directory(d config.Database) bool {
	const what = "data directory"
	dir := d.DataDir
	info, err := os.Stat(dir)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	const writable = 2 // W_OK of access(2)
	switch {
	case err != nil:
		e.problem(what, "%s cannot be read. Choose another with PATCHBAY_DATA_DIR.", dir)
		return false
	case !info.IsDir():
		e.problem(what, "%s is no directory. Choose another with PATCHBAY_DATA_DIR.", dir)
		return false
	case syscall.Access(dir, writable) != nil:
		e.problem(what, "%s is not writable for this user. Change its owner, or choose another with PATCHBAY_DATA_DIR.", dir)
		return false
	}
	e.ok(what, "%s", d.DataDir)
	e.disk(dir)
	return true
}

func (e *examination) disk(dir string) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		e.note("disk", "how much is free below %s is not known.", dir)
		return
	}
	free := stat.Bavail * uint64(stat.Bsize)
	if free < leastDisk {
		e.problem("disk", "%d MiB are free below %s. Make room: PostgreSQL stops when the disk is full.", free>>20, dir)
		return
	}
	e.ok("disk", "%d GiB free", free>>30)
}

func (e *examination) keyset(d config.Database) (*keyHolder, bool) {
	if d.Keyset.Empty() {
		info, err := os.Stat(d.KeysetFile())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.problem("keyset", "%s is gone, and nothing else opens the database. Restore it from a backup, or set PATCHBAY_KEYSET.", d.KeysetFile())
			return nil, false
		case err == nil && info.Mode().Perm()&0o077 != 0:
			e.problem("keyset", "%s can be read by others. Run chmod 600 on it.", d.KeysetFile())
		}
	}
	keys, err := holderOf(d)
	if err != nil {
		e.failed("keyset", err)
		return nil, false
	}
	return keys, true
}

func (e *examination) clock(ctx context.Context, pool *pgxpool.Pool) {
	var there time.Time
	var version string
	asked := time.Now()
	if err := pool.QueryRow(ctx, `select clock_timestamp(), current_setting('server_version')`).Scan(&there, &version); err != nil {
		e.failed("database", err)
		return
	}
	e.ok("database", "PostgreSQL %s answers", version)
	// The answer was made between asking and now; a slow network is no wrong clock.
	if there.Before(asked.Add(-mostSkew)) || there.After(time.Now().Add(mostSkew)) {
		e.problem("clock", "this machine and the database differ by %s. Set both clocks by NTP.", time.Since(there).Abs().Round(time.Second))
		return
	}
	e.ok("clock", "agrees with the database")
}

func (e *examination) schema(ctx context.Context, pool *pgxpool.Pool) bool {
	applied, wanted, err := db.Current(ctx, pool)
	var missing []int64
	if err == nil {
		missing, err = db.Missing(ctx, pool)
	}
	switch {
	case err != nil:
		e.failed("schema", err)
		return false
	case applied < wanted:
		e.problem("schema", "version %d, and this program wants %d. Run patchbay migrate.", applied, wanted)
		return false
	case applied > wanted:
		e.problem("schema", "version %d, and this program knows %d: a newer Patchbay has migrated it. Run that version's programs, or restore a backup from before its upgrade.", applied, wanted)
		return false
	case len(missing) > 0:
		e.problem("schema", "version %d, without these that come before: %s. Run patchbay migrate.", applied, strings.Trim(fmt.Sprint(missing), "[]"))
		return false
	}
	e.ok("schema", "version %d", applied)
	return true
}

// opens tells whether the keyset is the one that the database was made with, and how the keys in it are.
func (e *examination) opens(ctx context.Context, pool *pgxpool.Pool, keys *keyHolder) {
	kek, err := keys.open(ctx, pool)
	if err != nil {
		e.failed("keyset", err)
		return
	}
	st, err := store.Open(ctx, pool, kek)
	if err != nil {
		e.failed("keyset", err)
		return
	}
	defer st.Close()
	e.ok("keyset", "opens the database%s", keys.by())
	if st.KeysMoving() {
		e.note("keyset", "the installation is being moved to another PATCHBAY_KEYSET, and both open the database. Restart each server with the new one, and run patchbay keys rewrap again.")
	}
	e.sealingKeys(st)
	if e.allowedKnown {
		e.storedPrograms(ctx, st)
	}
}

// sealingKeys tells whether a rotation is at its end, and whether tenants have keys of their own.
func (e *examination) sealingKeys(st *store.Store) {
	const what = "sealing keys"
	n, unfinished, perTenant := st.SealingKeys()
	switch {
	case unfinished:
		e.note(what, "%d: a rotation is under way, or was interrupted. Run patchbay keys rotate to end it.", n)
		return
	case !perTenant:
		e.note(what, "%d, which seals the secrets of all tenants. Run patchbay keys rotate to give each tenant a key of its own; there is no way back to a version before that.", n)
		return
	}
	e.ok(what, "%d", n)
}
