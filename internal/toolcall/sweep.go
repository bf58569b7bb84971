package toolcall

import (
	"context"
	"log/slog"
	"time"
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
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	system := c.o.Store.System()
	ended, err := system.SweepGateway(ctx, c.o.Instance)
	if err != nil {
		if ctx.Err() == nil {
			c.o.Log.WarnContext(ctx, "lapsed calls not closed", slog.Any("error", err))
		}
		return
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
