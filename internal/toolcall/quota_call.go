package toolcall

import (
	"context"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
)

// A call counts once, when nothing stands against it any more: one that is made at once when it is let through, one that waits for a person when
// its row is made, and not when it is asked after. One that was never sent is given back to its day.

// counted is under what a call was counted, and when.
type counted struct {
	view *access.View
	tool *access.Tool
	at   time.Time // zero: it was not
}

// pace lets a call through, or tells which limit stands against it. One that waits for a person is bound as requests are, and counts later.
func (a *attempt) pace() error {
	if a.talks() || a.asks() { // what is answered in a talk counted when that began
		return a.hurried(a.order.View, a.reach)
	}
	now := a.o.Now()
	err := a.paced(a.order.View, a.order.Tool, now)
	if err == nil {
		a.counted = counted{a.order.View, a.order.Tool, now}
	}
	return err
}

// countOnce counts a call that has not counted yet.
func (a *attempt) countOnce() error {
	if !a.counted.at.IsZero() {
		return nil
	}
	now := a.o.Now()
	err := a.underQuotas(a.order.View, a.order.Tool, now)
	if err == nil {
		a.counted = counted{a.order.View, a.order.Tool, now}
	}
	return err
}

// giveBack gives the day a call back that was counted and not sent.
func (a *attempt) giveBack() {
	if a.counted.at.IsZero() {
		return
	}
	b := boundsOf(a.counted.view, a.counted.tool)
	a.days.giveBack(&b, a.counted.at, nil)
	a.counted = counted{}
}

// giveBackAsked does that for a call that waited for a person, who denied it or did not decide. Whoever ends the waiting calls it, once.
func (c *Caller) giveBackAsked(ctx context.Context, t connectors.TenantID, call connectors.ToolCall) {
	row, err := c.o.Store.Tenant(t).Approval(ctx, call.ID)
	if err != nil || row.State != connectors.ApprovalDenied && row.State != connectors.ApprovalLapsed {
		return
	}
	view, err := c.o.Access.ByAgent(ctx, t, connectors.Ref(row.AgentID.String()))
	if err != nil {
		return
	}
	if tool := findTool(view, row); tool != nil {
		b := boundsOf(view, tool)
		c.days.giveBack(&b, call.StartedAt, nil)
	}
}
