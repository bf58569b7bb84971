package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/installation"
	"patchbay/internal/operator"
	"patchbay/internal/postgres"
	"patchbay/internal/secret"
	"patchbay/internal/telemetry"
)

// benchCommand syncs many due connectors by the server's jobs, against its own servers in this process.
type benchCommand struct {
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

func (benchCommand) Help() string {
	return "The figures are of this process, servers in it included where they are not --apart, and of PostgreSQL beside it. A sync is due when its round begins, and done when its end is stored."
}

// Run measures and prints.
func (c benchCommand) Run(ctx context.Context, p operator.IO) error {
	if c.Connectors < 1 || c.Tenants < 1 || c.Tools < 1 || c.Rounds < 1 || c.Hung < 0 || c.Small < 0 {
		return fault.Errorf(fault.Invalid, "A benchmark needs at least one connector, tenant, tool and round.")
	}
	if c.Apart && c.Steady == 0 {
		return fault.Errorf(fault.Invalid, "--apart goes with --steady.")
	}
	setGCPercent()
	log := telemetry.NewLogger(p.Stderr, slog.LevelWarn, telemetry.Text)
	url, stop, err := c.startDatabase(ctx, log)
	if err != nil {
		return err
	}
	defer stop()
	b, err := c.openBench(ctx, url, log)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	printLine(p, "%d connectors of %d tenants, %d tools each, servers of the %s era; making them.", c.Connectors, c.Tenants, c.Tools, c.Era)
	if err := b.createTenants(ctx); err != nil {
		return err
	}
	return b.runBenchmark(ctx, p)
}

// startDatabase starts a throwaway PostgreSQL with production settings, or uses --database.
func (c benchCommand) startDatabase(ctx context.Context, log *slog.Logger) (url string, stop func(), err error) {
	if c.Database != "" {
		return c.Database, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "patchbay-bench-")
	if err != nil {
		return "", nil, err
	}
	o := installation.PostgresOptions(config.Database{DataDir: dir}, log)
	if o.Throwaway = c.Throwaway; o.Throwaway {
		o.Settings = map[string]string{"wal_level": "replica", "max_wal_size": "4GB", "autovacuum": "on"}
	}
	cluster, err := postgres.Start(ctx, o)
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

// openBench prepares the database and starts a server's services.
func (c benchCommand) openBench(ctx context.Context, url string, log *slog.Logger) (*benchRun, error) {
	if err := db.Migrate(ctx, url, log); err != nil {
		return nil, err
	}
	kek, err := secret.NewKEK()
	if err != nil {
		return nil, err
	}
	b := &benchRun{benchCommand: c, done: make(chan benchSync, 1024), closing: make(chan struct{})}
	b.pool, err = db.OpenPool(ctx, url, db.PoolOptions{Tracer: &b.queries})
	if err != nil {
		return nil, err
	}
	if err := b.startServices(ctx, kek, log); err != nil {
		b.close(ctx)
		return nil, fmt.Errorf("start what is measured: %w", err)
	}
	return b, nil
}

// withProfile writes a CPU profile of fn if --profile is set.
func (c benchCommand) withProfile(fn func() error) error {
	if c.Profile == "" {
		return fn()
	}
	file, err := os.Create(c.Profile)
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

func printLine(p operator.IO, format string, args ...any) {
	_, _ = fmt.Fprintf(p.Stdout, format+"\n", args...)
}
