package postgres

import (
	"context"
	"slices"
	"syscall"
	"time"

	"patchbay/internal/fault"
)

// clearOrphans ends the processes of an earlier postmaster of this cluster. The caller holds the lock, so no
// running server owns them. A new postmaster beside an old backend would destroy the data. PostgreSQL has a
// check of its own, which this avoids.
func (c *Cluster) clearOrphans(ctx context.Context) error {
	began := time.Now()
	asked := syscall.Signal(0)
	for {
		pids := c.orphanPIDs(ctx)
		if len(pids) == 0 {
			return c.dropStalePIDFile()
		}
		signal := c.orphanSignal(pids, time.Since(began))
		if signal != asked {
			c.opts.Log.WarnContext(ctx, "stopping an orphaned PostgreSQL", "processes", len(pids), "signal", signal.String())
			for _, pid := range c.orphanTargets(pids, signal) {
				_ = syscall.Kill(pid, signal)
			}
			asked = signal
		}
		if time.Since(began) > fastTimeout+3*immediateTimeout {
			return fault.Errorf(fault.Unavailable, "An earlier PostgreSQL (process %d) still uses %s and does not stop.", pids[0], c.layout.pgData())
		}
		if err := sleepOrDone(ctx, 25*time.Millisecond); err != nil {
			return err
		}
	}
}

// orphanSignal escalates with time. Backends without a postmaster exit within moments, so they get no graceful
// signal.
func (c *Cluster) orphanSignal(pids []int, waited time.Duration) syscall.Signal {
	fast := fastTimeout
	if !slices.Contains(pids, c.layout.readPIDFile().pid) {
		fast = 2 * time.Second
	}
	switch {
	case waited < fast:
		return syscall.SIGINT
	case waited < fast+immediateTimeout:
		return syscall.SIGQUIT
	}
	return syscall.SIGKILL
}

// orphanTargets are the processes to signal. The postmaster passes a shutdown on. Only if it does not act, the
// others are killed.
func (c *Cluster) orphanTargets(pids []int, signal syscall.Signal) []int {
	if pid := c.layout.readPIDFile().pid; signal != syscall.SIGKILL && slices.Contains(pids, pid) {
		return []int{pid}
	}
	return pids
}
