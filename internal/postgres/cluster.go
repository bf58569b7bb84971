package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/fault"
	"patchbay/internal/safe"
)

// Cluster is a PostgreSQL that runs as a child process.
type Cluster struct {
	opts   Options
	layout layout
	bin    Binaries
	id     osIdentity
	lock   *fileLock

	stopOnce sync.Once
	stopCtx  context.Context //nolint:containedctx // Stop's, handed to the supervisor; set before stopping is closed
	stopping chan struct{}   // closed by Stop
	done     chan struct{}   // closed when no postmaster runs any more
	failure  error           // why a dead postmaster was not restarted; set before done is closed
	stopErr  error           // of the shutdown; set before done is closed
}

// Start runs the cluster below opts.Dir, which it creates if there is none, and returns once it accepts
// connections. ctx only bounds the start. A second server on the same directory fails at once with a Conflict.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := makePassable(opts.Dir); err != nil {
		return nil, err
	}
	lock, err := lockForServer(ctx, opts.Dir)
	if err != nil {
		return nil, err
	}
	return startLocked(ctx, opts, lock)
}

// startLocked owns the lock. It is released after a failed start, or else when the cluster ends.
func startLocked(ctx context.Context, opts Options, lock *fileLock) (*Cluster, error) {
	c := &Cluster{
		opts: opts, layout: layout{opts.Dir}, lock: lock,
		stopping: make(chan struct{}), done: make(chan struct{}),
	}
	if err := c.prepareFiles(ctx); err != nil {
		lock.release()
		return nil, err
	}
	began := time.Now()
	p, err := c.startPostmaster(ctx)
	if err != nil {
		lock.release()
		return nil, err
	}
	if err := c.ensureDatabase(ctx); err != nil {
		err = errors.Join(err, p.stop(ctx))
		lock.release()
		return nil, err
	}
	c.opts.Log.InfoContext(ctx, "PostgreSQL started", "postgres_version", c.bin.Version, "pid", p.cmd.Process.Pid,
		"duration_ms", time.Since(began).Milliseconds())
	safe.Go(safe.Database, func() { c.superviseLoop(p) })
	return c, nil
}

// URL is the address of the database, as its owner.
func (c *Cluster) URL() string { return databaseURL(c.layout.socketDir(), databaseName) }

// Done is closed when the cluster has ended: by Stop, or because a dead postmaster could not be restarted.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err returns after Done why the cluster ended; nil after Stop.
func (c *Cluster) Err() error {
	select {
	case <-c.done:
		return c.failure
	default:
		return nil
	}
}

// Stop ends PostgreSQL and unlocks the data directory. It returns within 25 s, and sooner if ctx ends.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stopOnce.Do(func() {
		c.stopCtx = ctx
		close(c.stopping)
	})
	<-c.done
	return c.stopErr
}

// prepareFiles finds the programs and the identity, and creates the directories and the cluster.
func (c *Cluster) prepareFiles(ctx context.Context) error {
	var err error
	if c.bin, err = FindBinaries(ctx, c.opts.Dir, c.opts.BinDir); err != nil {
		return err
	}
	if c.id, err = chooseIdentity(ctx, c.layout, c.bin); err != nil {
		return err
	}
	for _, dir := range []string{c.layout.clusterDir(), c.layout.socketDir()} {
		if err := c.id.makeDirectory(dir); err != nil {
			return err
		}
	}
	if err := c.ensureInitialized(ctx); err != nil {
		return err
	}
	return c.id.chownTree(c.layout.pgData())
}

// startPostmaster starts a postmaster and waits until it accepts connections.
func (c *Cluster) startPostmaster(ctx context.Context) (*childProcess, error) {
	if !c.lock.isCurrent() {
		return nil, fault.Errorf(fault.Unavailable, "The data directory %s was removed or replaced while Patchbay ran.", c.opts.Dir)
	}
	if err := c.clearOrphans(ctx); err != nil {
		return nil, err
	}
	c.clearSocket()
	output, err := c.openLog()
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd := c.id.newCommand(c.bin, "postgres", c.layout.clusterDir(), append([]string{"-D", c.layout.pgData()}, c.opts.commandLineFlags(c.layout.socketDir())...)...)
	cmd.Stdout, cmd.Stderr = output, output
	// The fast shutdown: an orphan writes everything and exits.
	p, err := startChild(cmd, interrupt)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "PostgreSQL cannot be started.")
	}
	if err := c.waitReady(ctx, p); err != nil {
		return nil, errors.Join(err, p.stop(ctx))
	}
	return p, nil
}

// waitReady polls until the server accepts connections. Crash recovery may take long, so only the end of ctx or
// of the process ends the wait.
func (c *Cluster) waitReady(ctx context.Context, p *childProcess) error {
	ticker := time.NewTicker(15 * time.Millisecond)
	defer ticker.Stop()
	for {
		if c.layout.readPIDFile().ready && c.isReady(ctx) {
			return nil
		}
		select {
		case <-p.exited:
			return fault.Wrap(fault.Unavailable, fmt.Errorf("%w: %s", p.err, c.logTail()),
				"PostgreSQL exited at startup; its messages are in "+c.layout.logFile()+".")
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

func (c *Cluster) isReady(ctx context.Context) bool {
	conn, err := connectSocket(ctx, c.layout.socketDir(), "postgres")
	if err != nil {
		return false
	}
	_ = conn.Close(ctx)
	return true
}

func connectSocket(ctx context.Context, socketDir, name string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return pgx.Connect(ctx, databaseURL(socketDir, name))
}

// ensureDatabase creates Patchbay's database in a new cluster.
func (c *Cluster) ensureDatabase(ctx context.Context) error {
	conn, err := connectSocket(ctx, c.layout.socketDir(), "postgres")
	if err != nil {
		return fmt.Errorf("connect to the new cluster: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var there bool
	if err := conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, databaseName).Scan(&there); err != nil {
		return fmt.Errorf("look for the database: %w", err)
	}
	if there {
		return nil
	}
	if _, err := conn.Exec(ctx, "create database "+pgx.Identifier{databaseName}.Sanitize()); err != nil {
		return fmt.Errorf("create the database: %w", err)
	}
	return nil
}

// clearSocket removes a killed postmaster's socket. PostgreSQL would trust the pid in the socket's lock file,
// which may be another program's by now. Under the file lock no other postmaster can listen there.
func (c *Cluster) clearSocket() {
	for _, name := range []string{socketName, socketName + ".lock"} {
		_ = os.Remove(filepath.Join(c.layout.socketDir(), name))
	}
}
