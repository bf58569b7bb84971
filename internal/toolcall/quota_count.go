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

// mostCounted is how many counts one statement takes.
const mostCounted = 1000

// moving are counts on their way into the database.
type moving struct {
	keys   []dayKey
	counts []store.QuotaCount
}

// collect takes what is due, and forgets days that are over.
func (d *days) collect(now time.Time) (m moving) {
	d.mu.Lock()
	defer d.mu.Unlock()
	today := dayOf(now)
	for key, c := range d.due {
		if len(m.keys) == mostCounted {
			break
		}
		delete(d.due, key)
		if key.day < today-1 {
			continue // nobody could write it for a day: its tenant is gone
		}
		m.keys = append(m.keys, key)
		m.counts = append(m.counts, store.QuotaCount{
			QuotaOwner: c.owner, Day: time.Unix(int64(key.day)*24*60*60, 0).UTC(), Calls: c.here, OverMinute: c.overMinute, OverDay: c.overDay,
		})
		c.moves, c.here, c.overMinute, c.overDay = c.here, 0, 0, 0
	}
	for key, c := range d.of {
		if key.day < today && c.moves == 0 && d.due[key] == nil {
			delete(d.of, key)
		}
	}
	return m
}

// settle takes what the database has answered; what it has not answered is due again.
func (d *days) settle(m moving, answered []store.QuotaCount) {
	type place struct {
		store.QuotaOwner
		day int32
	}
	calls := make(map[place]int, len(answered))
	for _, a := range answered {
		calls[place{a.QuotaOwner, dayOf(a.Day)}] = a.Calls
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, key := range m.keys {
		c, was := d.at(key), m.counts[i]
		c.owner, c.moves = was.QuotaOwner, 0
		n, written := calls[place{was.QuotaOwner, key.day}]
		if !written {
			c.here, c.overMinute, c.overDay = c.here+was.Calls, c.overMinute+was.OverMinute, c.overDay+was.OverDay
			if d.due == nil {
				d.due = map[dayKey]*dayCount{}
			}
			d.due[key] = c
			continue
		}
		c.known = n
		if d.others > 0 {
			d.news = append(d.news, dayNews{was.Tenant, key, n})
		}
	}
}

// tell returns what the others are to hear, once.
func (d *days) tell() []dayNews {
	d.mu.Lock()
	defer d.mu.Unlock()
	news := d.news
	d.news = nil
	return news
}

// words are how one process tells another.
func (n dayNews) words() string {
	return "d" + n.key.name.String() + "=" + strconv.Itoa(int(n.key.day)) + "." + strconv.Itoa(n.calls)
}

// hearDay takes what another process says: "20414.17" are 17 calls on the day 20414.
func (c *Caller) hearDay(name uuid.UUID, number string) {
	day, calls, _ := strings.Cut(number, ".")
	of, err := strconv.ParseInt(day, 10, 32)
	n, errCalls := strconv.Atoi(calls)
	if err == nil && errCalls == nil {
		c.days.know(dayKey{name, int32(of)}, n)
	}
}

// CountQuotas has the database add what was let through and refused under quotas since the last time. Where its answer is lost it may have added it, and
// is asked again: a quota is used up earlier then, and never later.
func (c *Caller) CountQuotas(ctx context.Context) {
	for {
		m := c.days.collect(c.o.Now())
		if len(m.keys) == 0 {
			return
		}
		within, cancel := context.WithTimeout(ctx, tellUsesTime)
		answered, err := c.o.Store.System().CountQuotas(within, m.counts)
		cancel()
		if err != nil {
			answered = nil
			c.o.Log.WarnContext(ctx, "calls under quotas not counted yet", slog.Int("quotas", len(m.keys)), slog.Any("error", err))
		}
		c.days.settle(m, answered)
		if len(answered) == 0 || len(m.keys) < mostCounted { // what cannot be written now may be the next time
			return
		}
	}
}

// recallQuotas reads what was counted today, before the first call; a process that is started again goes on where others are.
func (c *Caller) recallQuotas(ctx context.Context) (ok bool) {
	ctx, cancel := context.WithTimeout(ctx, tellUsesTime)
	defer cancel()
	now := c.o.Now()
	counts, err := c.o.Store.System().QuotasOfDay(ctx, now)
	if err != nil {
		c.o.Log.WarnContext(ctx, "quotas of today not read yet", slog.Any("error", err))
		return false
	}
	for _, q := range counts {
		c.days.know(dayKey{quotaName(q.QuotaOwner), dayOf(now)}, q.Calls)
	}
	return true
}

func quotaName(o store.QuotaOwner) uuid.UUID {
	if o.Tool == "" {
		return o.Tenant.UUID
	}
	return connectors.QuotaName(o.Connector, o.Tool)
}
