package support

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/installation"
	"patchbay/internal/postgres"
	"patchbay/internal/queue"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

const (
	// requestTimeout bounds requests to the database and to the running server.
	requestTimeout = 30 * time.Second
	// maxServerResponse is more than any profile or scrape has.
	maxServerResponse = 64 << 20
)

// databaseState is the bundle's file about the database.
type databaseState struct {
	PostgreSQL string             `json:"postgresql"`
	Schema     int64              `json:"schema"`
	Wanted     int64              `json:"schema_wanted"`
	Migrations []appliedMigration `json:"migrations"`
	Waiting    backlogState       `json:"waiting"`
	Jobs       []queue.JobCount   `json:"jobs"`
	Tables     []store.Table      `json:"tables"`
}

// backlogState is the store's backlog with units.
type backlogState struct {
	Due       int     `json:"syncs_due"`
	Late      float64 `json:"syncs_late_seconds"`
	Queued    int     `json:"syncs_queued"`
	Waited    float64 `json:"syncs_queued_seconds"`
	Instances int     `json:"instances"`
}

type appliedMigration struct {
	Version int64     `json:"version"`
	At      time.Time `json:"at"`
}

// addDatabase adds the database's state, if it can be opened.
func (b *Bundle) addDatabase(ctx context.Context, flags config.DatabaseFlags) {
	b.addFile("database.json", func(w io.Writer) error {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		state, err := b.readDatabaseState(ctx, flags)
		if err != nil {
			return err
		}
		text := json.NewEncoder(w)
		text.SetIndent("", "  ")
		return text.Encode(state)
	})
}

func (b *Bundle) readDatabaseState(ctx context.Context, flags config.DatabaseFlags) (state databaseState, err error) {
	d, err := flags.Check()
	if err != nil {
		return state, err
	}
	if d.Embedded() && !postgres.Exists(d.DataDir) {
		return state, fault.Errorf(fault.NotFound, "There is no database yet.")
	}
	keys, err := installation.NewKeySource(d, b.version)
	if err != nil {
		return state, err
	}
	route, stop, err := installation.Attach(ctx, d, slog.New(slog.DiscardHandler))
	if err != nil {
		return state, err
	}
	defer stop()
	if route, err = route.Find(ctx); err != nil {
		return state, err
	}
	pool, err := db.OpenPool(ctx, route.URL, db.PoolOptions{MaxConns: 2, Pooled: route.Pooled()})
	if err != nil {
		return state, err
	}
	defer pool.Close()
	if state.Schema, state.Wanted, err = db.Current(ctx, pool); err != nil {
		return state, err
	}
	if err := pool.QueryRow(ctx, "select current_setting('server_version')").Scan(&state.PostgreSQL); err != nil {
		return state, err
	}
	rows, err := pool.Query(ctx, "select version_id, tstamp from goose_db_version where is_applied and version_id > 0 order by id")
	if err != nil {
		return state, err
	}
	if state.Migrations, err = pgx.CollectRows(rows, pgx.RowToStructByPos[appliedMigration]); err != nil {
		return state, err
	}
	kek, err := keys.OpenKey(ctx, pool)
	if err != nil {
		return state, err
	}
	st, err := store.Open(ctx, pool, kek)
	if err != nil {
		return state, err
	}
	defer st.Close()
	if state.Jobs, err = queue.CountJobs(ctx, pool); err != nil {
		return state, err
	}
	waits, err := st.System().Backlog(ctx)
	if err != nil {
		return state, err
	}
	state.Waiting = backlogState{waits.Due, waits.Late.Seconds(), waits.Queued, waits.Waited.Seconds(), waits.Instances}
	state.Tables, err = st.System().Tables(ctx)
	return state, err
}

// addRunning adds files of the running server, from its private address.
func (b *Bundle) addRunning(ctx context.Context, private string) {
	if private == "" {
		b.missing = append(b.missing, "metrics and profiles of the running server: PATCHBAY_PRIVATE_ADDR isn't set.")
		return
	}
	for _, file := range [][2]string{{"metrics.txt", "/metrics"}, {"goroutines.txt", "/debug/pprof/goroutine?debug=1"}, {"heap.pb.gz", "/debug/pprof/heap"}} {
		b.addFile(file[0], func(w io.Writer) error { return b.fetchPrivate(ctx, w, private, file[1]) })
	}
}

// fetchPrivate sends a request to the operator's own server. A listener on all addresses is reached on
// loopback.
func (b *Bundle) fetchPrivate(ctx context.Context, w io.Writer, private, path string) error {
	host, port, err := net.SplitHostPort(private)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	at := net.JoinHostPort(host, port)
	allow, err := safehttp.ParseAllow(at)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+path, nil)
	if err != nil {
		return err
	}
	res, err := safehttp.New(safehttp.Options{Mode: safehttp.Local, Allow: allow, UserAgent: "Patchbay/" + b.version, Standard: true}).Client().Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", at, res.Status)
	}
	_, err = io.Copy(w, io.LimitReader(res.Body, maxServerResponse))
	return err
}
