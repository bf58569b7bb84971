package toolcall

import (
	"fmt"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// paced tells whether too many calls are made: by the agent, of the tool, to the connector, or by the tenant. What is narrower comes first, so that who has
// had enough of one tool takes nothing from the others; and what counts for a day comes back where something else refuses the call.
func (c *Caller) paced(v *access.View, t *access.Tool, now time.Time) error {
	if err := c.hurriedAgent(v, now); err != nil {
		return err
	}
	if !t.Quota.Bounds() && !v.Tenant.Calls().Bounds() {
		return c.hurriedConnector(v, t.Reach, now)
	}
	b := boundsOf(v, t)
	if over, wait := c.days.take(&b, now); over != nil {
		return c.overDay(t, over, wait, now)
	}
	over, err := c.paceMinute(v, t, &b, now)
	if err != nil {
		c.days.giveBack(&b, now, over)
	}
	return err
}

// paceMinute tells whether too many calls are made in a minute, and under which quota; nil: it is no quota.
func (c *Caller) paceMinute(v *access.View, t *access.Tool, b *bounds, now time.Time) (over *bound, err error) {
	if err := c.overMinute(t, &b[0], now); err != nil {
		return &b[0], err
	}
	if err := c.hurriedConnector(v, t.Reach, now); err != nil {
		return nil, err
	}
	if err := c.overMinute(t, &b[1], now); err != nil {
		return &b[1], err
	}
	return nil, nil
}

// overMinute takes a call of a minute, or refuses it.
func (c *Caller) overMinute(t *access.Tool, b *bound, now time.Time) error {
	wait := c.minutes.take(b.owner.Tenant, b.name, b.quota.PerMinute, now)
	if wait <= 0 {
		return nil
	}
	limit := fmt.Sprintf("This organisation may make %s a minute.", calls(b.quota.PerMinute))
	if b.owner.Tool != "" {
		limit = fmt.Sprintf("The tool %q of %q takes %s a minute.", t.Name, t.Reach.Connector.Name, calls(b.quota.PerMinute))
	}
	return c.overQuota(b.owner, "minute", wait, now, limit)
}

// underQuotas counts a call under its quotas alone, or refuses it: it has passed the other limits.
func (c *Caller) underQuotas(v *access.View, t *access.Tool, now time.Time) error {
	if !t.Quota.Bounds() && !v.Tenant.Calls().Bounds() {
		return nil
	}
	b := boundsOf(v, t)
	if over, wait := c.days.take(&b, now); over != nil {
		return c.overDay(t, over, wait, now)
	}
	for i := range b {
		if err := c.overMinute(t, &b[i], now); err != nil {
			c.days.giveBack(&b, now, &b[i])
			return err
		}
	}
	return nil
}

// overDay is the refusal of a call for which a day has no room.
func (c *Caller) overDay(t *access.Tool, over *bound, wait time.Duration, now time.Time) error {
	limit := fmt.Sprintf("This organisation may make %s a day.", calls(over.quota.PerDay))
	if over.owner.Tool != "" {
		limit = fmt.Sprintf("The tool %q of %q takes %s a day.", t.Name, t.Reach.Connector.Name, calls(over.quota.PerDay))
	}
	if wait == tellUsesEvery { // there is room, and this process has had its share until it hears of the others
		return tooFast(limit, wait)
	}
	return c.overQuota(over.owner, "day", wait, now, limit)
}

func (c *Caller) overQuota(owner store.QuotaOwner, period string, wait time.Duration, now time.Time, limit string) *Refusal {
	whose := "tenant"
	if owner.Tool != "" {
		whose = "tool"
	}
	if c.o.OverQuota != nil {
		c.o.OverQuota(whose, period)
	}
	r := tooFast(limit, wait)
	r.Code, r.RetryAt = CodeQuotaExceeded, now.Add(r.RetryAfter).UTC()
	if day := nextDay(now); r.RetryAt.Equal(day) {
		r.Sentence = fmt.Sprintf("%s Calls go on at %s UTC, in %s.", limit, day.Format("2006-01-02 15:04"), spoken(r.RetryAfter))
	}
	return r
}

// hurried tells whether too many requests are made: by the agent, or to the connector.
func (c *Caller) hurried(v *access.View, r *access.Reach) error {
	now := c.o.Now()
	if err := c.hurriedAgent(v, now); err != nil {
		return err
	}
	return c.hurriedConnector(v, r, now)
}

func (c *Caller) hurriedAgent(v *access.View, now time.Time) error {
	if wait := c.agents.take(v.Tenant.ID, v.Agent.ID, v.Agent.CallsPerMinute, now); wait > 0 {
		return tooFast(fmt.Sprintf("This agent may make %s a minute.", calls(v.Agent.CallsPerMinute)), wait)
	}
	return nil
}

func (c *Caller) hurriedConnector(v *access.View, r *access.Reach, now time.Time) error {
	if wait := c.servers.take(v.Tenant.ID, r.Connector.ID, r.Connector.CallsPerMinute, now); wait > 0 {
		return tooFast(fmt.Sprintf("The connector %q takes %s a minute.", r.Connector.Name, calls(r.Connector.CallsPerMinute)), wait)
	}
	return nil
}

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

func tooFast(limit string, wait time.Duration) *Refusal {
	wait = max(wait, time.Second)
	return &Refusal{Code: CodeRateLimited, Sentence: fmt.Sprintf("%s Try again in %s.", limit, spoken(wait)), RetryAfter: wait}
}

// MinuteLeft is how many calls a tool or, where connector is zero, the tenant may make now, as far as this process has heard.
func (c *Caller) MinuteLeft(o store.QuotaOwner, q connectors.Quota) int {
	return c.minutes.left(quotaName(o), q.PerMinute, c.o.Now())
}
