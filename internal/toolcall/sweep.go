package toolcall

import (
	"context"
	"log/slog"
	"time"

	"patchbay/internal/store"
)

const (
	sweepInterval  = 5 * time.Second
	sweepTimeout   = 10 * time.Second
	unclaimedAfter = 3 * time.Second // after approval: its process has died
	maxUnclaimed   = 50              // in one sweep
)

// sweeper ends the calls that no process ends.
type sweeper struct {
	o         *Options
	waiters   *waiterSet
	recorder  *callRecorder
	announcer *taskAnnouncer
}

// Sweep ends lapsed calls and those of dead processes, reports them, and runs approved calls that no process
// has claimed. Every process does it, in a loop.
func (c *Executor) Sweep(ctx context.Context) {
	c.sweeper.endAbandoned(ctx)
	system := c.o.Store.System()
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	if peers, err := system.Calls().OtherInstances(ctx, c.o.Instance); err == nil {
		c.limits.setPeers(peers)
	}
	unclaimed, err := system.Calls().AbandonedApprovals(ctx, unclaimedAfter, maxUnclaimed)
	if err != nil {
		return
	}
	for _, l := range unclaimed {
		row, err := c.o.Store.Tenant(l.Tenant).Calls().Approval(ctx, l.ID)
		if err == nil {
			c.runDetached(ctx, l.Tenant, row)
		}
	}
}

// endAbandoned ends lapsed and abandoned calls in batches until none are left or sweepTimeout is over.
func (sw *sweeper) endAbandoned(ctx context.Context) {
	sweepCtx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	for more := true; more && sweepCtx.Err() == nil; {
		ended, err := sw.o.Store.System().Calls().SweepGateway(sweepCtx, sw.o.Instance)
		if err != nil && ctx.Err() == nil {
			sw.o.Log.WarnContext(ctx, "expired calls not closed", slog.Any("error", err))
		}
		sw.reportAbandoned(ctx, ended)
		more = err == nil && len(ended) >= store.MaxSwept
	}
}

// reportAbandoned reports the calls that a sweep ended, with a timeout of its own.
func (sw *sweeper) reportAbandoned(ctx context.Context, ended []store.OwnedCallID) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	for _, e := range ended {
		sw.waiters.wake(e.ID)
		if call, ok := sw.recorder.reportEnded(ctx, e.Tenant, e.ID); ok {
			sw.o.logUnsaved(ctx, sw.announcer.announceTask(ctx, sw.o.Store.Tenant(e.Tenant), e.Tenant, call, nil))
		}
	}
}
