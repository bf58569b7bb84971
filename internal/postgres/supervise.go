package postgres

import (
	"context"
	"syscall"
	"time"

	"patchbay/internal/safe"
)

const (
	interrupt = syscall.SIGINT // PostgreSQL's fast shutdown

	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
	giveUp     = 2 * time.Minute // of starts that fail in a row
)

// supervise starts the postmaster again whenever it ends unasked, until Stop or until that fails for too long.
func (c *Cluster) supervise(p *process) {
	defer close(c.done)
	defer c.lock.release()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	safe.Go(safe.Database, func() {
		defer cancel()
		select {
		case <-c.stopping:
		case <-ctx.Done():
		}
	})
	safe.RunLoop(ctx, "postgresql", func(context.Context) { c.keepRunning(&p) })
	select {
	case <-c.stopping:
		c.stopErr = p.stop(c.stopCtx)
	default:
	}
}

// keepRunning returns when Stop is called, or PostgreSQL does not start any more. p is the process that runs.
func (c *Cluster) keepRunning(running **process) {
	for {
		p := *running
		select {
		case <-p.exited:
		case <-c.stopping:
			return
		}
		if c.isStopping() {
			return
		}
		c.opts.Log.Error("PostgreSQL ended by itself, starting it again", "reason", p.err, "last_messages", c.logTail())
		next, err := c.relaunch()
		if err != nil {
			c.failure = err
			c.opts.Log.Error("PostgreSQL does not start any more", "error", err)
			return
		}
		if next == nil {
			return
		}
		*running = next
	}
}

// relaunch tries with growing pauses. It returns nil and no error when Stop came first.
func (c *Cluster) relaunch() (*process, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	safe.Go(safe.Database, func() {
		select {
		case <-c.stopping:
			cancel()
		case <-ctx.Done():
		}
	})
	wait, began := firstRetry, time.Now()
	for {
		p, err := c.launch(ctx)
		switch {
		case err == nil:
			c.opts.Log.Info("PostgreSQL started again", "pid", p.cmd.Process.Pid, "duration_ms", time.Since(began).Milliseconds())
			return p, nil
		case c.isStopping():
			return nil, nil //nolint:nilnil // stopped: neither a process nor a failure
		case time.Since(began) > giveUp:
			return nil, err
		}
		c.opts.Log.Warn("PostgreSQL did not start", "error", err, "retry_in_ms", wait.Milliseconds())
		if pause(ctx, wait) != nil {
			return nil, nil //nolint:nilnil // stopped
		}
		wait = min(2*wait, lastRetry)
	}
}

func (c *Cluster) isStopping() bool {
	select {
	case <-c.stopping:
		return true
	default:
		return false
	}
}
