package toolcall

import (
	"context"
	"log/slog"
	"time"

	"patchbay/internal/store"
)

const (
	sweepEvery = 5 * time.Second
	sweepTime  = 10 * time.Second
	leftFor    = 3 * time.Second // an approved call that nobody took up: the process that was to do it has died
	maxLeft    = 50              // of them at once
)

// sweepNowAndThen closes what has lapsed, and makes approved calls that were left, until the process stops. Every process does it.
func (c *Caller) sweepNowAndThen() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.Sweep(c.life)
		case <-c.life.Done():
			return
		}
	}
}

// Sweep closes what has lapsed and what dead processes left, tells of it as of any other end, and begins to make approved calls that were
// left.
func (c *Caller) Sweep(ctx context.Context) {
	c.endLeft(ctx)
	system := c.o.Store.System()
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	if others, err := system.OtherInstances(ctx, c.o.Instance); err == nil {
		c.agents.among(others)
		c.servers.among(others)
		c.minutes.among(others)
		c.days.among(others)
	}
	left, err := system.LeftApprovals(ctx, leftFor, maxLeft)
	if err != nil {
		return
	}
	for _, l := range left {
		row, err := c.o.Store.Tenant(l.Tenant).Approval(ctx, l.ID)
		if err == nil {
			c.makeBesides(ctx, l.Tenant, row)
		}
	}
}

// endLeft ends calls that nobody ends any more, some at a time, until there are none or the time is over: the next sweep goes on.
func (c *Caller) endLeft(ctx context.Context) {
	sweep, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	for more := true; more && sweep.Err() == nil; {
		ended, err := c.o.Store.System().SweepGateway(sweep, c.o.Instance)
		if err != nil && ctx.Err() == nil {
			c.o.Log.WarnContext(ctx, "lapsed calls not closed", slog.Any("error", err))
		}
		c.tellLeft(ctx, ended)
		more = err == nil && len(ended) >= store.MostSwept
	}
}

// tellLeft tells of calls that a sweep ended, in a time of its own: they have ended, however long that took.
func (c *Caller) tellLeft(ctx context.Context, ended []store.OwnedCallID) {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	for _, e := range ended {
		c.waits.wake(e.ID)
		c.tellEnded(ctx, e.Tenant, e.ID)
	}
}
