package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/installation"
	"patchbay/internal/postgres"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/telemetry"
	"patchbay/internal/toolsync"
)

// Options are the flags of a benchmark.
type Options struct {
	Connectors int           `name:"connectors" default:"10000" help:"How many connectors (${default})."`
	Tenants    int           `name:"tenants" default:"500" help:"Of how many tenants they are (${default})."`
	Tools      int           `name:"tools" default:"20" help:"How many tools each server lists (${default})."`
	Rounds     int           `name:"rounds" default:"3" help:"How often all are due, for each kind of list (${default})."`
	Hung       int           `name:"hung" default:"0" help:"How many connectors, of one more tenant, have servers that never answer (${default})."`
	Small      int           `name:"small" default:"0" help:"How many connectors one more tenant has, whose times are told apart (${default})."`
	Only       string        `name:"only" enum:"unchanged,changed,both" default:"both" help:"Lists that are as before, lists with every tool changed, or both (${default})."`
	Era        string        `name:"era" enum:"handshake,modern" default:"handshake" help:"What the servers speak: 2025-11-25 with its handshake and sessions, or 2026-07-28 without (${default})."`
	Steady     time.Duration `name:"steady" default:"0" help:"Instead: connectors are due by and by, all of them every 15 minutes, for so long."`
	Apart      bool          `name:"apart" help:"With --steady: the servers are a process of their own, whose CPU and memory are not this program's."`
	Database   string        `name:"database" placeholder:"URL" help:"An empty database, as its owner. Unset: one of its own, removed afterwards."`
	Throwaway  bool          `name:"throwaway" help:"Its own database syncs nothing to disk, so that CPU is measured and no disk."`
	Profile    string        `name:"profile" placeholder:"FILE" help:"Where to write a CPU profile of the measured rounds."`
}

// Program has what the benchmark takes of the program.
type Program struct {
	Stdout, Stderr io.Writer
	Version        string
	StartJobs      StartJobs
}

// StartJobs starts the workers of syncs and the scheduler. stop is set if some may have started.
type StartJobs func(ctx context.Context, o JobOptions) (stop func(context.Context) error, err error)

// JobOptions are what the jobs work with.
type JobOptions struct {
	Pool   *pgxpool.Pool
	Store  *store.Store
	Syncer *toolsync.Syncer
	Log    *slog.Logger
}

// stopTimeout bounds the end of the services, and that of PostgreSQL.
const stopTimeout = 20 * time.Second

// Run syncs many due connectors by the server's jobs, against its own servers, and prints the figures.
func Run(ctx context.Context, o Options, p Program) error {
	log := telemetry.NewLogger(p.Stderr, slog.LevelWarn, telemetry.Text)
	url, stop, err := o.startDatabase(ctx, log)
	if err != nil {
		return err
	}
	defer stop()
	b := &benchmark{Options: o, Program: p, done: make(chan finishedSync, 1024), closing: make(chan struct{})}
	if err := b.openDatabase(ctx, url, log); err != nil {
		return err
	}
	defer b.close(ctx)
	printLine(b.Stdout, "%d connectors of %d tenants, %d tools each, servers of the %s era; making them.", o.Connectors, o.Tenants, o.Tools, o.Era)
	if err := b.createTenants(ctx); err != nil {
		return err
	}
	return b.runBenchmark(ctx)
}

// startDatabase starts a throwaway PostgreSQL with production settings, or uses --database.
func (o Options) startDatabase(ctx context.Context, log *slog.Logger) (url string, stop func(), err error) {
	if o.Database != "" {
		return o.Database, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "patchbay-bench-")
	if err != nil {
		return "", nil, err
	}
	settings := installation.PostgresOptions(config.Database{DataDir: dir}, log)
	if settings.Throwaway = o.Throwaway; settings.Throwaway {
		settings.Settings = map[string]string{"wal_level": "replica", "max_wal_size": "4GB", "autovacuum": "on"}
	}
	cluster, err := postgres.Start(ctx, settings)
	if err != nil {
		return "", nil, err
	}
	return cluster.URL(), func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		_ = cluster.Stop(stopping)
		_ = os.RemoveAll(dir)
	}, nil
}

// openDatabase prepares the database and starts a server's services. After a failure nothing is open.
func (b *benchmark) openDatabase(ctx context.Context, url string, log *slog.Logger) error {
	if err := db.Migrate(ctx, url, log); err != nil {
		return err
	}
	kek, err := secret.NewKEK()
	if err != nil {
		return err
	}
	b.pool, err = db.OpenPool(ctx, url, db.PoolOptions{Tracer: &b.queries})
	if err != nil {
		return err
	}
	if err := b.startServices(ctx, kek, log); err != nil {
		b.close(ctx)
		return fmt.Errorf("start what is measured: %w", err)
	}
	return nil
}

// withProfile writes a CPU profile of fn if --profile is set.
func (o Options) withProfile(fn func() error) error {
	if o.Profile == "" {
		return fn()
	}
	file, err := os.Create(o.Profile)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return fn()
}

func printLine(out io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(out, format+"\n", args...)
}
