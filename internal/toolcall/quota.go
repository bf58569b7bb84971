package toolcall

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/store"
)

// callLimits counts calls under the limits of agent, connector, tool and tenant.
type callLimits struct {
	o              *Options
	agentRates     limiter[connectors.AgentID]
	connectorRates limiter[connectors.ConnectorID]
	minuteQuotas   limiter[uuid.UUID]
	dayQuotas      dayCounts
	loaded         bool // the day's counts; of Start, then of its loop
	inFlight       *limit.Gate[connectors.AgentID]
}

func newCallLimits(o *Options) *callLimits {
	return &callLimits{o: o, inFlight: limit.NewGate[connectors.AgentID](maxCallsInFlight, 0)}
}

// setPeers sets the number of other processes, which share the limits.
func (l *callLimits) setPeers(peers int) {
	l.agentRates.setPeers(peers)
	l.connectorRates.setPeers(peers)
	l.minuteQuotas.setPeers(peers)
	l.dayQuotas.setPeers(peers)
}

// applyLimits takes the call from all limits, or returns the refusal. Narrow limits come first, so that a
// refused tool call takes nothing from wider ones. A day's count is refunded if another limit refuses.
func (l *callLimits) applyLimits(v *agentview.View, t *agentview.Tool, now time.Time) error {
	if err := l.limitAgent(v, now); err != nil {
		return err
	}
	if !t.Quota.Bounds() && !v.Tenant.Calls().Bounds() {
		return l.limitConnector(v, t.Connector, now)
	}
	b := quotasFor(v, t)
	if exhausted, wait := l.dayQuotas.takeCall(&b, now); exhausted != nil {
		return l.dayQuotaRefusal(t, exhausted, wait, now)
	}
	exhausted, err := l.limitMinute(v, t, &b, now)
	if err != nil {
		l.dayQuotas.refundCall(&b, now, exhausted)
	}
	return err
}

// limitMinute applies the limits by minute. over is the quota that refused; nil: it was no quota.
func (l *callLimits) limitMinute(v *agentview.View, t *agentview.Tool, b *callQuotas, now time.Time) (exhausted *callQuota, err error) {
	if err := l.takeMinuteToken(t, &b[0], now); err != nil {
		return &b[0], err
	}
	if err := l.limitConnector(v, t.Connector, now); err != nil {
		return nil, err
	}
	if err := l.takeMinuteToken(t, &b[1], now); err != nil {
		return &b[1], err
	}
	return nil, nil
}

// takeMinuteToken takes a call from a minute quota, or refuses it.
func (l *callLimits) takeMinuteToken(t *agentview.Tool, b *callQuota, now time.Time) error {
	wait := l.minuteQuotas.takeToken(b.owner.Tenant, b.name, b.quota.PerMinute, now)
	if wait <= 0 {
		return nil
	}
	limit := fmt.Sprintf("This organisation may make %s per minute.", formatCalls(b.quota.PerMinute))
	if b.owner.Tool != "" {
		limit = fmt.Sprintf("The tool %q of %q allows %s per minute.", t.Name, t.Connector.Connector.Name, formatCalls(b.quota.PerMinute))
	}
	return l.quotaRefusal(b.owner, "minute", wait, now, limit)
}

// applyQuotas charges only the quotas, for a call that passed the other limits.
func (l *callLimits) applyQuotas(v *agentview.View, t *agentview.Tool, now time.Time) error {
	if !t.Quota.Bounds() && !v.Tenant.Calls().Bounds() {
		return nil
	}
	b := quotasFor(v, t)
	if exhausted, wait := l.dayQuotas.takeCall(&b, now); exhausted != nil {
		return l.dayQuotaRefusal(t, exhausted, wait, now)
	}
	for i := range b {
		if err := l.takeMinuteToken(t, &b[i], now); err != nil {
			l.dayQuotas.refundCall(&b, now, &b[i])
			return err
		}
	}
	return nil
}

func (l *callLimits) dayQuotaRefusal(t *agentview.Tool, exhausted *callQuota, wait time.Duration, now time.Time) error {
	limit := fmt.Sprintf("This organisation may make %s per day.", formatCalls(exhausted.quota.PerDay))
	if exhausted.owner.Tool != "" {
		limit = fmt.Sprintf("The tool %q of %q allows %s per day.", t.Name, t.Connector.Connector.Name, formatCalls(exhausted.quota.PerDay))
	}
	if wait == usePublishInterval { // calls are left, but not in this process's share
		return rateRefusal(limit, wait)
	}
	return l.quotaRefusal(exhausted.owner, "day", wait, now, limit)
}

func (l *callLimits) quotaRefusal(owner store.QuotaOwner, period string, wait time.Duration, now time.Time, limit string) *RefusalError {
	ownerKind := "tenant"
	if owner.Tool != "" {
		ownerKind = "tool"
	}
	if l.o.OnOverQuota != nil {
		l.o.OnOverQuota(ownerKind, period)
	}
	r := rateRefusal(limit, wait)
	r.Code, r.RetryAt = CodeQuotaExceeded, now.Add(r.RetryAfter).UTC()
	if day := nextDay(now); r.RetryAt.Equal(day) {
		r.Sentence = fmt.Sprintf("%s Calls resume at %s UTC, in %s.", limit, day.Format("2006-01-02 15:04"), formatDuration(r.RetryAfter))
	}
	return r
}

// applyRequestLimits applies the rates of agent and connector.
func (l *callLimits) applyRequestLimits(v *agentview.View, connector *agentview.ConnectorView) error {
	now := l.o.Now()
	if err := l.limitAgent(v, now); err != nil {
		return err
	}
	return l.limitConnector(v, connector, now)
}

func (l *callLimits) limitAgent(v *agentview.View, now time.Time) error {
	if wait := l.agentRates.takeToken(v.Tenant.ID, v.Agent.ID, v.Agent.CallsPerMinute, now); wait > 0 {
		return rateRefusal(fmt.Sprintf("This agent may make %s per minute.", formatCalls(v.Agent.CallsPerMinute)), wait)
	}
	return nil
}

func (l *callLimits) limitConnector(v *agentview.View, connector *agentview.ConnectorView, now time.Time) error {
	if wait := l.connectorRates.takeToken(v.Tenant.ID, connector.Connector.ID, connector.Connector.CallsPerMinute, now); wait > 0 {
		return rateRefusal(fmt.Sprintf("The connector %q allows %s per minute.", connector.Connector.Name, formatCalls(connector.Connector.CallsPerMinute)), wait)
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

func (l *callLimits) minuteLeft(o store.QuotaOwner, q connectors.Quota) int {
	return l.minuteQuotas.tokensLeft(quotaName(o), q.PerMinute, l.o.Now())
}

// MinuteLeft is the number of calls left this minute of a tool or, if the owner has no tool, of the tenant, as
// known to this process.
func (c *Executor) MinuteLeft(o store.QuotaOwner, q connectors.Quota) int {
	return c.limits.minuteLeft(o, q)
}
