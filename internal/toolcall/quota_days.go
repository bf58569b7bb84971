package toolcall

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// A day's bound is for all processes together, outlives them, and no call waits for the database: each process adds once a second what it has let
// through to what is counted there (quota_count.go), and is answered what there is of all; it tells the others, too. In between it lets through its
// share of what was left when it heard last. So a quota may be overrun by what the other processes let through in the second before they are
// heard, and by nothing more where one process runs, or where the database is away: shares are not renewed then.

// bound is a quota that a call is under.
type bound struct {
	name  uuid.UUID
	owner store.QuotaOwner
	quota connectors.Quota
}

// bounds are those of a call: its tool's and its tenant's.
type bounds [2]bound

func boundsOf(v *access.View, t *access.Tool) (b bounds) {
	tenant := v.Tenant.ID
	b[0] = bound{t.QuotaName, store.QuotaOwner{Tenant: tenant, Connector: t.Reach.Connector.ID, Tool: t.Name}, t.Quota}
	b[1] = bound{tenant.UUID, store.QuotaOwner{Tenant: tenant}, v.Tenant.Calls()}
	return b
}

// dayKey is a quota on a day.
type dayKey struct {
	name uuid.UUID
	day  int32 // since 1970
}

// dayCount is what is known of a quota on a day.
type dayCount struct {
	owner store.QuotaOwner
	known int // of all processes, in the database, as was heard last
	here  int // let through by this process since
	moves int // likewise, and on its way into the database

	overMinute, overDay int // refused here, not in the database yet
}

// days are the counts of this process. The zero value works, and is alone.
type days struct {
	mu     sync.Mutex
	of     map[dayKey]*dayCount // guarded by mu, as what follows
	due    map[dayKey]*dayCount // those of which something is to be written
	others int                  // other processes
	news   []dayNews            // for the others
}

// dayNews is how many calls are counted of a quota.
type dayNews struct {
	tenant connectors.TenantID
	key    dayKey
	calls  int
}

func dayOf(at time.Time) int32 { return int32(at.Unix() / (24 * 60 * 60)) }

// nextDay is when another day begins.
func nextDay(now time.Time) time.Time { return connectors.QuotaDay(now).Add(24 * time.Hour) }

// take counts a call under its quotas, or tells which one is used up, and after how long there may be more.
func (d *days) take(b *bounds, now time.Time) (over *bound, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range b {
		if !b[i].quota.Bounds() {
			continue
		}
		c := d.count(&b[i], now)
		if wait := d.room(c, b[i].quota.PerDay, now); wait > 0 {
			if wait != tellUsesEvery {
				c.overDay++
				d.isDue(&b[i], c, now)
			}
			return &b[i], wait
		}
	}
	d.add(b, now, 1)
	return nil, 0
}

// giveBack takes a call back that something else has refused.
func (d *days) giveBack(b *bounds, now time.Time, over *bound) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if over != nil {
		d.count(over, now).overMinute++
	}
	d.add(b, now, -1)
}

// add counts calls. mu is held.
func (d *days) add(b *bounds, now time.Time, n int) {
	for i := range b {
		if b[i].quota.Bounds() {
			c := d.count(&b[i], now)
			c.here += n
			d.isDue(&b[i], c, now)
		}
	}
}

// room tells after how long a quota may have room for a call; 0: it has. mu is held.
func (d *days) room(c *dayCount, perDay int, now time.Time) time.Duration {
	here := c.here + c.moves
	switch left := perDay - c.known; {
	case perDay == 0:
		return 0
	case here >= left:
		return nextDay(now).Sub(now)
	case d.others > 0 && here >= (left+d.others)/(1+d.others):
		return tellUsesEvery
	}
	return 0
}

// count finds or makes one. mu is held.
func (d *days) count(b *bound, now time.Time) *dayCount {
	c := d.at(dayKey{b.name, dayOf(now)})
	c.owner = b.owner
	return c
}

func (d *days) at(key dayKey) *dayCount {
	c := d.of[key]
	if c == nil {
		c = &dayCount{}
		if d.of == nil {
			d.of = map[dayKey]*dayCount{}
		}
		d.of[key] = c
	}
	return c
}

// isDue has a count written. mu is held.
func (d *days) isDue(b *bound, c *dayCount, now time.Time) {
	if d.due == nil {
		d.due = map[dayKey]*dayCount{}
	}
	d.due[dayKey{b.name, dayOf(now)}] = c
}

// know takes how many calls somebody else has found counted of a quota. Words may be late: there are not fewer than was known.
func (d *days) know(key dayKey, calls int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.of) >= mostBuckets && d.of[key] == nil {
		return
	}
	c := d.at(key)
	c.known = max(c.known, calls)
}

// among says how many other processes there are.
func (d *days) among(others int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.others = others
}
