package toolcall

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// maxCountsPerBatch bounds the counts in one statement.
const maxCountsPerBatch = 1000

type countBatch struct {
	keys   []dayKey
	counts []store.QuotaCount
}

// collectDue takes the due counts, and drops days that are over.
func (d *dayCounts) collectDue(now time.Time) (m countBatch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	today := toDay(now)
	for key, c := range d.due {
		if len(m.keys) == maxCountsPerBatch {
			break
		}
		delete(d.due, key)
		if key.day < today-1 {
			continue // unwritten for a day: the tenant was deleted
		}
		m.keys = append(m.keys, key)
		m.counts = append(m.counts, store.QuotaCount{
			QuotaOwner: c.owner, Day: time.Unix(int64(key.day)*24*60*60, 0).UTC(), Calls: c.unsaved, OverMinute: c.overMinute, OverDay: c.overDay,
		})
		c.inFlight, c.unsaved, c.overMinute, c.overDay = c.unsaved, 0, 0, 0
	}
	for key, c := range d.byKey {
		if key.day < today && c.inFlight == 0 && d.due[key] == nil {
			delete(d.byKey, key)
		}
	}
	return m
}

// applyWritten applies the totals from the database. Unwritten counts become due again.
func (d *dayCounts) applyWritten(m countBatch, written []store.QuotaCount) {
	type ownerDay struct {
		store.QuotaOwner
		day int32
	}
	calls := make(map[ownerDay]int, len(written))
	for _, a := range written {
		calls[ownerDay{a.QuotaOwner, toDay(a.Day)}] = a.Calls
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, key := range m.keys {
		c, sent := d.countAt(key), m.counts[i]
		c.owner, c.inFlight = sent.QuotaOwner, 0
		n, ok := calls[ownerDay{sent.QuotaOwner, key.day}]
		if !ok {
			c.unsaved, c.overMinute, c.overDay = c.unsaved+sent.Calls, c.overMinute+sent.OverMinute, c.overDay+sent.OverDay
			if d.due == nil {
				d.due = map[dayKey]*dayCount{}
			}
			d.due[key] = c
			continue
		}
		c.total = n
		if d.peers > 0 {
			d.updates = append(d.updates, dayUpdate{sent.Tenant, key, n})
		}
	}
}

// drainUpdates returns the unpublished updates.
func (d *dayCounts) drainUpdates() []dayUpdate {
	d.mu.Lock()
	defer d.mu.Unlock()
	updates := d.updates
	d.updates = nil
	return updates
}

// formatUpdate writes the update for a notification.
func (n dayUpdate) formatUpdate() string {
	return "d" + n.key.name.String() + "=" + strconv.Itoa(int(n.key.day)) + "." + strconv.Itoa(n.calls)
}

// handleDayUse applies another process's update: "20414.17" means 17 calls on day 20414.
func (l *callLimits) handleDayUse(name uuid.UUID, number string) {
	day, calls, _ := strings.Cut(number, ".")
	dayNumber, err := strconv.ParseInt(day, 10, 32)
	n, errCalls := strconv.Atoi(calls)
	if err == nil && errCalls == nil {
		l.dayQuotas.raiseTotal(dayKey{name, int32(dayNumber)}, n)
	}
}

// CountQuotas adds the counts since the last time to the database. If the response is lost it adds them again:
// a quota may end early, but never late.
func (c *Executor) CountQuotas(ctx context.Context) { c.limits.countQuotas(ctx) }

func (l *callLimits) countQuotas(ctx context.Context) {
	for more := true; more; { // else the next interval retries
		more = l.countBatch(ctx)
	}
}

// countBatch adds one batch of counts, and reports whether there may be more.
func (l *callLimits) countBatch(ctx context.Context) (more bool) {
	m := l.dayQuotas.collectDue(l.o.Now())
	if len(m.keys) == 0 {
		return false
	}
	var written []store.QuotaCount
	defer func() { l.dayQuotas.applyWritten(m, written) }() // after a panic too, or the counts are lost
	callCtx, cancel := context.WithTimeout(ctx, usePublishTimeout)
	defer cancel()
	counts, err := l.o.Store.System().Calls().CountQuotas(callCtx, m.counts)
	if err != nil {
		l.o.Log.WarnContext(ctx, "calls under quotas not counted yet", slog.Int("quotas", len(m.keys)), slog.Any("error", err))
		return false
	}
	written = counts
	return len(written) > 0 && len(m.keys) == maxCountsPerBatch
}

// loadQuotas loads today's counts before the first call.
func (l *callLimits) loadQuotas(ctx context.Context) (ok bool) {
	ctx, cancel := context.WithTimeout(ctx, usePublishTimeout)
	defer cancel()
	now := l.o.Now()
	counts, err := l.o.Store.System().Calls().QuotasOfDay(ctx, now)
	if err != nil {
		l.o.Log.WarnContext(ctx, "today's quotas not read yet", slog.Any("error", err))
		return false
	}
	for _, q := range counts {
		l.dayQuotas.raiseTotal(dayKey{quotaName(q.QuotaOwner), toDay(now)}, q.Calls)
	}
	return true
}

func quotaName(o store.QuotaOwner) uuid.UUID {
	if o.Tool == "" {
		return o.Tenant.UUID
	}
	return connectors.QuotaName(o.Connector, o.Tool)
}
