package postgres

import (
	"context"
	"errors"
	"syscall"
	"time"

	"patchbay/internal/fault"
)

// attachTimeout bounds the wait for a server that holds the lock and does not respond yet.
const attachTimeout = 60 * time.Second

// Attach is for commands beside the server. It returns the address of the running server's cluster in opts.Dir,
// or starts the cluster for itself if no server runs. The caller has to call stop, which stops what Attach
// started.
func Attach(ctx context.Context, opts Options) (url string, stop func(), err error) {
	opts, err = opts.withDefaults()
	if err != nil {
		return "", nil, err
	}
	if err := makePassable(opts.Dir); err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, attachTimeout,
		fault.Errorf(fault.Unavailable, "The Patchbay process that uses %s has no database yet.", opts.Dir))
	defer cancel()
	for {
		a, err := tryAttach(ctx, opts)
		if err != nil || a != nil {
			return a.complete(err)
		}
		if err := sleepOrDone(ctx, 50*time.Millisecond); err != nil {
			return "", nil, err
		}
	}
}

type attachment struct {
	url  string
	stop func()
}

func (a *attachment) complete(err error) (string, func(), error) {
	if err != nil {
		return "", nil, err
	}
	return a.url, a.stop, nil
}

// tryAttach returns nil without an error if the lock's holder is not ready, or is ending.
func tryAttach(ctx context.Context, opts Options) (*attachment, error) {
	// Locked first: a command that runs the cluster for itself waits for its users before it stops it.
	using, err := tryLock(usersLock(opts.Dir), syscall.LOCK_SH)
	if using == nil {
		return nil, err
	}
	lock, err := tryClusterLock(opts.Dir, purposeCommand)
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
	conn, err := connectSocket(ctx, p.socketDir, databaseName)
	if err != nil {
		using.release()
		return nil, context.Cause(ctx) // nil while there is time left
	}
	_ = conn.Close(ctx)
	return &attachment{url: databaseURL(p.socketDir, databaseName), stop: using.release}, nil
}

func startPrivately(ctx context.Context, opts Options, lock *fileLock) (*attachment, error) {
	c, err := startLocked(ctx, opts, lock)
	if err != nil {
		return nil, err
	}
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), fastTimeout+2*immediateTimeout)
		defer cancel()
		c.stopAfterUsers(ctx)
	}
	return &attachment{url: c.URL(), stop: stop}, nil
}

// stopAfterUsers waits a while for attached commands, and stops.
func (c *Cluster) stopAfterUsers(ctx context.Context) {
	waiting, cancel := context.WithTimeout(ctx, fastTimeout)
	defer cancel()
	for {
		// Held until PostgreSQL has ended, so that no command attaches to what is about to stop.
		alone, err := tryLock(usersLock(c.opts.Dir), syscall.LOCK_EX)
		if alone != nil {
			defer alone.release()
		}
		if alone != nil || err != nil || sleepOrDone(waiting, 20*time.Millisecond) != nil {
			break
		}
	}
	if err := c.Stop(ctx); err != nil && !errors.Is(err, context.Canceled) {
		c.opts.Log.Error("PostgreSQL did not stop", "error", err)
	}
}
