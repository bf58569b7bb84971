package postgres

import (
	"context"
	"errors"
	"syscall"
	"time"

	"patchbay/internal/fault"
)

// attachPatience bounds the wait for a server that holds the lock and does not answer yet.
const attachPatience = 60 * time.Second

// Attach is for commands beside the server: it returns the address of the cluster of opts.Dir as the running server
// has it, or starts the cluster privately where no server runs. stop must be called at the end; it stops what was
// started.
func Attach(ctx context.Context, opts Options) (url string, stop func(), err error) {
	opts, err = opts.complete()
	if err != nil {
		return "", nil, err
	}
	if err := passable(opts.Dir); err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, attachPatience,
		fault.Errorf(fault.Unavailable, "The Patchbay that uses %s does not have its database ready.", opts.Dir))
	defer cancel()
	for {
		a, err := tryAttach(ctx, opts)
		if err != nil || a != nil {
			return a.result(err)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return "", nil, err
		}
	}
}

type attached struct {
	url  string
	stop func()
}

func (a *attached) result(err error) (string, func(), error) {
	if err != nil {
		return "", nil, err
	}
	return a.url, a.stop, nil
}

// tryAttach returns nil without an error where the holder of the lock is not ready, or is about to end.
func tryAttach(ctx context.Context, opts Options) (*attached, error) {
	// Registered first: a command that runs the cluster for itself waits for its users before it stops it.
	using, err := tryLock(usersLock(opts.Dir), syscall.LOCK_SH)
	if using == nil {
		return nil, err
	}
	lock, err := tryCluster(opts.Dir, command)
	if err != nil {
		using.release()
		return nil, err
	}
	if lock != nil {
		using.release()
		return startPrivately(ctx, opts, lock)
	}
	p := layout{opts.Dir}.readPIDFile()
	if !p.ready {
		using.release()
		return nil, nil //nolint:nilnil // not yet
	}
	conn, err := connect(ctx, p.socketDir, databaseName)
	if err != nil {
		using.release()
		return nil, context.Cause(ctx) // nil while there is time left
	}
	_ = conn.Close(ctx)
	return &attached{url: address(p.socketDir, databaseName), stop: using.release}, nil
}

func startPrivately(ctx context.Context, opts Options, lock *fileLock) (*attached, error) {
	c, err := startLocked(ctx, opts, lock)
	if err != nil {
		return nil, err
	}
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), fastPatience+2*immediatePatience)
		defer cancel()
		c.stopAfterUsers(ctx)
	}
	return &attached{url: c.URL(), stop: stop}, nil
}

// stopAfterUsers waits a while for the commands that attached to our cluster.
func (c *Cluster) stopAfterUsers(ctx context.Context) {
	waiting, cancel := context.WithTimeout(ctx, fastPatience)
	defer cancel()
	for {
		// Held until PostgreSQL has ended: nobody attaches to what is about to stop.
		alone, err := tryLock(usersLock(c.opts.Dir), syscall.LOCK_EX)
		if alone != nil {
			defer alone.release()
		}
		if alone != nil || err != nil || pause(waiting, 20*time.Millisecond) != nil {
			break
		}
	}
	if err := c.Stop(ctx); err != nil && !errors.Is(err, context.Canceled) {
		c.opts.Log.Error("PostgreSQL did not stop", "error", err)
	}
}
