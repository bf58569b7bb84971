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
	system := c.o.Store.System()
	ended, err := c.endLeft(ctx)
	ctx, cancel := context.WithTimeout(ctx, sweepTime) // what was ended is told in a time of its own
	defer cancel()
	if err != nil && ctx.Err() == nil {
		c.o.Log.WarnContext(ctx, "lapsed calls not closed", slog.Any("error", err))
	}
	for _, e := range ended {
		c.waits.wake(e.ID)
		c.tellEnded(ctx, e.Tenant, e.ID)
	}
	if others, err := system.OtherInstances(ctx, c.o.Instance); err == nil {
		c.agents.among(others)
		c.servers.among(others)
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

func (c *Caller) endLeft(ctx context.Context) ([]store.OwnedCallID, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	return c.o.Store.System().SweepGateway(ctx, c.o.Instance)
}
