package doctor

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
	"patchbay/internal/installation"
	"patchbay/internal/postgres"
	"patchbay/internal/store"
)

const (
	// minFreeDisk is a limit near which PostgreSQL stops: its WAL may take 512 MB.
	minFreeDisk = 1 << 30
	// maxClockSkew is the difference of two clocks above which expiries are wrong.
	maxClockSkew = 5 * time.Second
	// checkTimeout bounds the wait for a database.
	checkTimeout = 15 * time.Second
)

// checkDatabase checks everything below the store.
func (r *report) checkDatabase(ctx context.Context, d config.Database) {
	log := slog.New(slog.DiscardHandler)
	if d.Embedded() {
		if !r.findPostgres(ctx, d) || !r.checkDirectory(d) {
			return
		}
		if !postgres.Exists(d.DataDir) {
			r.reportNote("database", "there is none yet in %s; the first start creates it.", d.DataDir)
			return
		}
	}
	keys, ok := r.checkKeyset(d)
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	route, stop, err := installation.Attach(ctx, d, log)
	if err != nil {
		r.reportError("database", err)
		return
	}
	defer stop()
	if socket := socketDir(route.URL); d.Embedded() && socket != "" {
		r.reportOK("socket", "%s, for pg_dump and psql: host=%s user=patchbay dbname=patchbay", socket, socket)
	}
	if route, err = route.Find(ctx); err != nil {
		r.reportError("database", err)
		return
	}
	pool, err := db.OpenPool(ctx, route.URL, db.PoolOptions{MaxConns: 2, Pooled: route.Pooled()})
	if err != nil {
		r.reportError("database", err)
		return
	}
	defer pool.Close()
	r.checkClock(ctx, pool)
	if !route.Own {
		r.checkLogin(ctx, pool)
	}
	r.checkPooler(ctx, route, pool)
	if r.checkSchema(ctx, pool) && ok {
		r.checkKeyOpens(ctx, pool, keys)
	}
}

// checkLogin reports a login role of an external database that can become superuser.
func (r *report) checkLogin(ctx context.Context, pool *pgxpool.Pool) {
	const what = "database role"
	var user string
	var super bool
	err := pool.QueryRow(ctx, "select session_user, (select rolsuper or rolbypassrls from pg_roles where rolname = session_user)").Scan(&user, &super)
	switch {
	case err != nil:
		r.reportError(what, err)
	case super:
		r.reportNote(what, "connections sign in as %s, which bypasses row-level security, and work as %s: a statement that resets the role sees all tenants. Use %s or another role without superuser rights in DATABASE_URL.", user, db.AppRole, db.AppRole)
	default:
		r.reportOK(what, "signs in as %s", user)
	}
}

// checkPooler reports what is slower or missing behind a pooler.
func (r *report) checkPooler(ctx context.Context, route db.Route, pool *pgxpool.Pool) {
	const what = "pooler"
	if !route.Pooled() {
		return
	}
	if _, ok := route.Session(); !ok {
		r.reportNote(what, "there is one, without a direct connection: queued syncs start up to a second later, agents' permissions are read once a second, and processes can't notify each other. Set PATCHBAY_DATABASE_DIRECT_URL, or run one process only.")
	} else {
		r.reportOK(what, "there is one, and PATCHBAY_DATABASE_DIRECT_URL bypasses it")
	}
	var role string
	var unbounded bool
	err := pool.QueryRow(ctx, `select session_user, '0' in (current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'))`).Scan(&role, &unbounded)
	switch name := (pgx.Identifier{role}).Sanitize(); {
	case err != nil:
		r.reportError(what, err)
	case unbounded:
		r.reportNote(what, "statements and idle transactions have no timeout. Have an administrator run: alter role %s set statement_timeout = '60s'; alter role %s set idle_in_transaction_session_timeout = '60s'", name, name)
	}
}

// socketDir is the embedded PostgreSQL's socket directory, from its address.
func socketDir(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get("host")
}

// findPostgres finds PostgreSQL's programs.
func (r *report) findPostgres(ctx context.Context, d config.Database) bool {
	bin, err := postgres.FindBinaries(ctx, d.DataDir, d.PostgresBin)
	if err != nil {
		r.reportError("PostgreSQL", err)
		return false
	}
	r.reportOK("PostgreSQL", "%s in %s", bin.Version, bin.Dir)
	return true
}

// checkDirectory checks the nearest existing directory: the first start creates the data directory itself.
func (r *report) checkDirectory(d config.Database) bool {
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
		r.reportProblem(what, "%s can't be read. Choose another with PATCHBAY_DATA_DIR.", dir)
		return false
	case !info.IsDir():
		r.reportProblem(what, "%s is not a directory. Choose another with PATCHBAY_DATA_DIR.", dir)
		return false
	case syscall.Access(dir, writable) != nil:
		r.reportProblem(what, "%s isn't writable for this user. Change its owner, or choose another with PATCHBAY_DATA_DIR.", dir)
		return false
	}
	r.reportOK(what, "%s", d.DataDir)
	r.checkDisk(dir)
	return true
}

func (r *report) checkDisk(dir string) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		r.reportNote("disk", "the free space in %s is unknown.", dir)
		return
	}
	free := stat.Bavail * uint64(stat.Bsize)
	if free < minFreeDisk {
		r.reportProblem("disk", "%d MiB are free in %s. Free up space: PostgreSQL stops when the disk is full.", free>>20, dir)
		return
	}
	r.reportOK("disk", "%d GiB free", free>>30)
}

func (r *report) checkKeyset(d config.Database) (*installation.KeySource, bool) {
	if d.Keyset.Empty() {
		info, err := os.Stat(d.KeysetFile())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.reportProblem("keyset", "%s is missing, and nothing else opens the database. Restore it from a backup, or set PATCHBAY_KEYSET.", d.KeysetFile())
			return nil, false
		case err == nil && info.Mode().Perm()&0o077 != 0:
			r.reportProblem("keyset", "%s can be read by others. Run chmod 600 on it.", d.KeysetFile())
		}
	}
	keys, err := installation.NewKeySource(d, r.version)
	if err != nil {
		r.reportError("keyset", err)
		return nil, false
	}
	return keys, true
}

func (r *report) checkClock(ctx context.Context, pool *pgxpool.Pool) {
	var there time.Time
	var version string
	asked := time.Now()
	if err := pool.QueryRow(ctx, `select clock_timestamp(), current_setting('server_version')`).Scan(&there, &version); err != nil {
		r.reportError("database", err)
		return
	}
	r.reportOK("database", "PostgreSQL %s answers", version)
	// The database's time lies between the request and now: a slow network is no skew.
	if there.Before(asked.Add(-maxClockSkew)) || there.After(time.Now().Add(maxClockSkew)) {
		r.reportProblem("clock", "this machine and the database differ by %s. Synchronize both clocks with NTP.", time.Since(there).Abs().Round(time.Second))
		return
	}
	r.reportOK("clock", "agrees with the database")
}

func (r *report) checkSchema(ctx context.Context, pool *pgxpool.Pool) bool {
	applied, wanted, err := db.Current(ctx, pool)
	var missing []int64
	if err == nil {
		missing, err = db.Missing(ctx, pool)
	}
	if err != nil {
		r.reportError("schema", err)
		return false
	}
	return r.reportSchema(applied, wanted, missing)
}

// reportSchema reports whether the schema is this program's.
func (r *report) reportSchema(applied, wanted int64, missing []int64) bool {
	switch {
	case applied < wanted:
		r.reportProblem("schema", "version %d, but this program needs %d. Run patchbay migrate.", applied, wanted)
		return false
	case applied > wanted:
		r.reportProblem("schema", "version %d, but this program supports %d: a newer Patchbay migrated it. Run that version, or restore a backup from before the upgrade.", applied, wanted)
		return false
	case len(missing) > 0:
		r.reportProblem("schema", "version %d, without the earlier versions %s. Run patchbay migrate.", applied, strings.Trim(fmt.Sprint(missing), "[]"))
		return false
	}
	r.reportOK("schema", "version %d", applied)
	return true
}

// checkKeyOpens reports whether the keyset is the database's, and the state of the keys in it.
func (r *report) checkKeyOpens(ctx context.Context, pool *pgxpool.Pool, keys *installation.KeySource) {
	kek, err := keys.OpenKey(ctx, pool)
	if err != nil {
		r.reportError("keyset", err)
		return
	}
	st, err := store.Open(ctx, pool, kek)
	if err != nil {
		r.reportError("keyset", err)
		return
	}
	defer st.Close()
	r.reportOK("keyset", "opens the database%s", keys.DescribeKMS())
	if st.KeysMoving() {
		r.reportNote("keyset", "the installation is moving to another PATCHBAY_KEYSET, and both open the database. Restart each server with the new one, then run patchbay keys rewrap again.")
	}
	r.checkSealingKeys(st)
	if r.allowedRead {
		r.checkStoredPrograms(ctx, st)
	}
}

// checkSealingKeys reports whether a rotation is complete, and whether tenants have their own keys.
func (r *report) checkSealingKeys(st *store.Store) {
	const what = "sealing keys"
	n, unfinished, perTenant := st.SealingKeys()
	switch {
	case unfinished:
		r.reportNote(what, "%d: a rotation is running or was interrupted. Run patchbay keys rotate to finish it.", n)
		return
	case !perTenant:
		r.reportNote(what, "%d, which encrypts the secrets of all tenants. Run patchbay keys rotate to give each tenant its own key; after that you can't go back to earlier versions.", n)
		return
	}
	r.reportOK(what, "%d", n)
}
