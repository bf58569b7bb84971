package toolcall

import (
	"context"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// A call is charged once: when it is admitted, or when its approval row is inserted. A call that was not sent
// is refunded to its day.

type quotaCharge struct {
	view *agentview.View
	tool *agentview.Tool
	at   time.Time // zero: not charged
}

// applyCallLimits applies all limits. A call that needs approval passes only the rates, and is charged later.
func (l *callLimits) applyCallLimits(a *activeCall) error {
	now := l.o.Now()
	if a.isMultiRound() || a.needsApproval(now) { // a resumed call was charged when it began
		return l.applyRequestLimits(a.request.View, a.connector)
	}
	err := l.applyLimits(a.request.View, a.request.Tool, now)
	if err == nil {
		a.charge = quotaCharge{a.request.View, a.request.Tool, now}
	}
	return err
}

// chargeQuota charges a call unless it was charged.
func (l *callLimits) chargeQuota(a *activeCall) error {
	if !a.charge.at.IsZero() {
		return nil
	}
	now := l.o.Now()
	err := l.applyQuotas(a.request.View, a.request.Tool, now)
	if err == nil {
		a.charge = quotaCharge{a.request.View, a.request.Tool, now}
	}
	return err
}

// refundQuota refunds the day's charge of a call that was not sent.
func (l *callLimits) refundQuota(a *activeCall) {
	if a.charge.at.IsZero() {
		return
	}
	b := quotasFor(a.charge.view, a.charge.tool)
	l.dayQuotas.refundCall(&b, a.charge.at, nil)
	a.charge = quotaCharge{}
}

// refundApproval refunds a call that was denied or lapsed. The process that ends the wait calls it once.
func (l *callLimits) refundApproval(ctx context.Context, t connectors.TenantID, call connectors.ToolCall) {
	row, err := l.o.Store.Tenant(t).Calls().Approval(ctx, call.ID)
	if err != nil || row.Kind != connectors.CallTool || row.State != connectors.ApprovalDenied && row.State != connectors.ApprovalLapsed {
		return
	}
	view, err := l.o.Access.ByAgent(ctx, t, connectors.Ref(row.AgentID.String()))
	if err != nil {
		return
	}
	if tool := findTool(view, row); tool != nil {
		b := quotasFor(view, tool)
		l.dayQuotas.refundCall(&b, call.StartedAt, nil)
	}
}
