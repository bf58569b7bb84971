package toolcall

import (
	"fmt"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// applyLimits takes the call from all limits, or returns the refusal. Narrow limits come first, so that a
// refused tool call takes nothing from wider ones. A day's count is refunded if another limit refuses.
func (c *Executor) applyLimits(v *agentview.View, t *agentview.Tool, now time.Time) error {
	if err := c.limitAgent(v, now); err != nil {
		return err
	}
	if !t.Quota.Bounds() && !v.Tenant.Calls().Bounds() {
		return c.limitConnector(v, t.Connector, now)
	}
	b := quotasFor(v, t)
	if exhausted, wait := c.dayQuotas.takeCall(&b, now); exhausted != nil {
		return c.dayQuotaRefusal(t, exhausted, wait, now)
	}
	exhausted, err := c.limitMinute(v, t, &b, now)
	if err != nil {
		c.dayQuotas.refundCall(&b, now, exhausted)
	}
	return err
}

// limitMinute applies the limits by minute. over is the quota that refused; nil: it was no quota.
func (c *Executor) limitMinute(v *agentview.View, t *agentview.Tool, b *callQuotas, now time.Time) (exhausted *callQuota, err error) {
	if err := c.takeMinuteToken(t, &b[0], now); err != nil {
		return &b[0], err
	}
	if err := c.limitConnector(v, t.Connector, now); err != nil {
		return nil, err
	}
	if err := c.takeMinuteToken(t, &b[1], now); err != nil {
		return &b[1], err
	}
	return nil, nil
}

// takeMinuteToken takes a call from a minute quota, or refuses it.
func (c *Executor) takeMinuteToken(t *agentview.Tool, b *callQuota, now time.Time) error {
	wait := c.minuteQuotas.takeToken(b.owner.Tenant, b.name, b.quota.PerMinute, now)
	if wait <= 0 {
		return nil
	}
	limit := fmt.Sprintf("This organisation may make %s a minute.", formatCalls(b.quota.PerMinute))
	if b.owner.Tool != "" {
		limit = fmt.Sprintf("The tool %q of %q takes %s a minute.", t.Name, t.Connector.Connector.Name, formatCalls(b.quota.PerMinute))
	}
	return c.quotaRefusal(b.owner, "minute", wait, now, limit)
}

// applyQuotas charges only the quotas, for a call that passed the other limits.
func (c *Executor) applyQuotas(v *agentview.View, t *agentview.Tool, now time.Time) error {
	if !t.Quota.Bounds() && !v.Tenant.Calls().Bounds() {
		return nil
	}
	b := quotasFor(v, t)
	if exhausted, wait := c.dayQuotas.takeCall(&b, now); exhausted != nil {
		return c.dayQuotaRefusal(t, exhausted, wait, now)
	}
	for i := range b {
		if err := c.takeMinuteToken(t, &b[i], now); err != nil {
			c.dayQuotas.refundCall(&b, now, &b[i])
			return err
		}
	}
	return nil
}

func (c *Executor) dayQuotaRefusal(t *agentview.Tool, exhausted *callQuota, wait time.Duration, now time.Time) error {
	limit := fmt.Sprintf("This organisation may make %s a day.", formatCalls(exhausted.quota.PerDay))
	if exhausted.owner.Tool != "" {
		limit = fmt.Sprintf("The tool %q of %q takes %s a day.", t.Name, t.Connector.Connector.Name, formatCalls(exhausted.quota.PerDay))
	}
	if wait == usePublishInterval { // calls are left, but not in this process's share
		return rateRefusal(limit, wait)
	}
	return c.quotaRefusal(exhausted.owner, "day", wait, now, limit)
}

func (c *Executor) quotaRefusal(owner store.QuotaOwner, period string, wait time.Duration, now time.Time, limit string) *RefusalError {
	ownerKind := "tenant"
	if owner.Tool != "" {
		ownerKind = "tool"
	}
	if c.o.OnOverQuota != nil {
		c.o.OnOverQuota(ownerKind, period)
	}
	r := rateRefusal(limit, wait)
	r.Code, r.RetryAt = CodeQuotaExceeded, now.Add(r.RetryAfter).UTC()
	if day := nextDay(now); r.RetryAt.Equal(day) {
		r.Sentence = fmt.Sprintf("%s Calls go on at %s UTC, in %s.", limit, day.Format("2006-01-02 15:04"), formatDuration(r.RetryAfter))
	}
	return r
}

// applyRequestLimits applies the rates of agent and connector.
func (c *Executor) applyRequestLimits(v *agentview.View, connector *agentview.ConnectorView) error {
	now := c.o.Now()
	if err := c.limitAgent(v, now); err != nil {
		return err
	}
	return c.limitConnector(v, connector, now)
}

func (c *Executor) limitAgent(v *agentview.View, now time.Time) error {
	if wait := c.agentRates.takeToken(v.Tenant.ID, v.Agent.ID, v.Agent.CallsPerMinute, now); wait > 0 {
		return rateRefusal(fmt.Sprintf("This agent may make %s a minute.", formatCalls(v.Agent.CallsPerMinute)), wait)
	}
	return nil
}

func (c *Executor) limitConnector(v *agentview.View, connector *agentview.ConnectorView, now time.Time) error {
	if wait := c.connectorRates.takeToken(v.Tenant.ID, connector.Connector.ID, connector.Connector.CallsPerMinute, now); wait > 0 {
		return rateRefusal(fmt.Sprintf("The connector %q takes %s a minute.", connector.Connector.Name, formatCalls(connector.Connector.CallsPerMinute)), wait)
	}
	return nil
}

func formatCalls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

func rateRefusal(limit string, wait time.Duration) *RefusalError {
	wait = max(wait, time.Second)
	return &RefusalError{Code: CodeRateLimited, Sentence: fmt.Sprintf("%s Try again in %s.", limit, formatDuration(wait)), RetryAfter: wait}
}

// MinuteLeft is the number of calls left this minute of a tool or, if the owner has no tool, of the tenant, as
// known to this process.
func (c *Executor) MinuteLeft(o store.QuotaOwner, q connectors.Quota) int {
	return c.minuteQuotas.tokensLeft(quotaName(o), q.PerMinute, c.o.Now())
}
