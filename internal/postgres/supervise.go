package postgres

import (
	"context"
	"syscall"
	"time"

	"patchbay/internal/safe"
)

const (
	interrupt = syscall.SIGINT // PostgreSQL's fast shutdown

	minRetry   = 100 * time.Millisecond
	maxRetry   = 5 * time.Second
	maxFailing = 2 * time.Minute // of consecutive failed starts
)

// superviseLoop restarts the postmaster when it ends unexpectedly, until Stop or until restarts fail for
// maxFailing.
func (c *Cluster) superviseLoop(p *childProcess) {
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

// keepRunning returns when Stop is called, or PostgreSQL cannot be restarted. running is the current process.
func (c *Cluster) keepRunning(running **childProcess) {
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
		c.opts.Log.Error("PostgreSQL exited, restarting it", "reason", p.err, "last_messages", c.logTail())
		next, err := c.retryPostmaster()
		if err != nil {
			c.failure = err
			c.opts.Log.Error("PostgreSQL cannot be restarted", "error", err)
			return
		}
		if next == nil {
			return
		}
		*running = next
	}
}

// retryPostmaster retries with growing delays. It returns nil and no error if Stop came first.
func (c *Cluster) retryPostmaster() (*childProcess, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	safe.Go(safe.Database, func() {
		select {
		case <-c.stopping:
			cancel()
		case <-ctx.Done():
		}
	})
	wait, began := minRetry, time.Now()
	for {
		p, err := c.startPostmaster(ctx)
		switch {
		case err == nil:
			c.opts.Log.Info("PostgreSQL restarted", "pid", p.cmd.Process.Pid, "duration_ms", time.Since(began).Milliseconds())
			return p, nil
		case c.isStopping():
			return nil, nil //nolint:nilnil // stopped: neither a process nor a failure
		case time.Since(began) > maxFailing:
			return nil, err
		}
		c.opts.Log.Warn("PostgreSQL did not start", "error", err, "retry_in_ms", wait.Milliseconds())
		if sleepOrDone(ctx, wait) != nil {
			return nil, nil //nolint:nilnil // stopped
		}
		wait = min(2*wait, maxRetry)
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
