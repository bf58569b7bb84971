package postgres

import (
	"context"
	"slices"
	"syscall"
	"time"

	"patchbay/internal/fault"
)

// clearOrphans ends what is left of an earlier postmaster of this cluster; the caller holds the lock, so none of it
// belongs to anybody. A new postmaster beside an old backend would destroy the data: PostgreSQL refuses that by
// itself, and we see to it that it need not.
func (c *Cluster) clearOrphans(ctx context.Context) error {
	began := time.Now()
	asked := syscall.Signal(0)
	for {
		left := c.leftovers(ctx)
		if len(left) == 0 {
			return c.dropStalePIDFile()
		}
		signal := c.orphanSignal(left, time.Since(began))
		if signal != asked {
			c.opts.Log.WarnContext(ctx, "stopping an orphaned PostgreSQL", "processes", len(left), "signal", signal.String())
			for _, pid := range c.orphanTargets(left, signal) {
				_ = syscall.Kill(pid, signal)
			}
			asked = signal
		}
		if time.Since(began) > fastPatience+3*immediatePatience {
			return fault.Errorf(fault.Unavailable, "An earlier PostgreSQL (process %d) still uses %s and does not end.", left[0], c.layout.data())
		}
		if err := pause(ctx, 25*time.Millisecond); err != nil {
			return err
		}
	}
}

// orphanSignal grows harder with time. Backends without a postmaster leave by themselves within moments, so they get
// no polite one.
func (c *Cluster) orphanSignal(left []int, waited time.Duration) syscall.Signal {
	fast := fastPatience
	if !slices.Contains(left, c.layout.readPIDFile().pid) {
		fast = 2 * time.Second
	}
	switch {
	case waited < fast:
		return syscall.SIGINT
	case waited < fast+immediatePatience:
		return syscall.SIGQUIT
	}
	return syscall.SIGKILL
}

// orphanTargets: the postmaster passes a shutdown on; only where it does not act are the others killed.
func (c *Cluster) orphanTargets(left []int, signal syscall.Signal) []int {
	if pid := c.layout.readPIDFile().pid; signal != syscall.SIGKILL && slices.Contains(left, pid) {
		return []int{pid}
	}
	return left
}
