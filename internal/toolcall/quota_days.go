package toolcall

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// A day quota spans all processes and restarts, without waiting for the database. Each process adds its calls
// there once a second (quota_count.go), gets the total back and publishes it. In between it lets through its
// share of the rest. So other processes can overrun a quota by one second of calls. A single process does not
// overrun it, nor does an outage: shares are not renewed then.

type callQuota struct {
	name  uuid.UUID
	owner store.QuotaOwner
	quota connectors.Quota
}

// callQuotas are the quotas of a call: its tool's and its tenant's.
type callQuotas [2]callQuota

func quotasFor(v *agentview.View, t *agentview.Tool) (b callQuotas) {
	tenant := v.Tenant.ID
	b[0] = callQuota{t.QuotaName, store.QuotaOwner{Tenant: tenant, Connector: t.Connector.Connector.ID, Tool: t.Name}, t.Quota}
	b[1] = callQuota{tenant.UUID, store.QuotaOwner{Tenant: tenant}, v.Tenant.Calls()}
	return b
}

// dayKey identifies a quota on a day.
type dayKey struct {
	name uuid.UUID
	day  int32 // days since 1970
}

// dayCount holds the counts of a quota on a day.
type dayCount struct {
	owner    store.QuotaOwner
	total    int // of all processes, last seen in the database
	unsaved  int // calls of this process that are not written yet
	inFlight int // calls that are being written

	overMinute, overDay int // refusals that are not written yet
}

// dayCounts holds the day counts of this process. The zero value works, for one process.
type dayCounts struct {
	mu      sync.Mutex
	byKey   map[dayKey]*dayCount // guarded by mu, as the fields below
	due     map[dayKey]*dayCount // counts to write
	peers   int                  // other processes
	updates []dayUpdate          // to publish
}

// dayUpdate is the new total of a quota.
type dayUpdate struct {
	tenant connectors.TenantID
	key    dayKey
	calls  int
}

func toDay(t time.Time) int32 { return int32(t.Unix() / (24 * 60 * 60)) }

func nextDay(now time.Time) time.Time { return connectors.QuotaDay(now).Add(24 * time.Hour) }

// takeCall counts a call, or returns the exhausted quota and the wait.
func (d *dayCounts) takeCall(b *callQuotas, now time.Time) (exhausted *callQuota, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range b {
		if !b[i].quota.Bounds() {
			continue
		}
		c := d.findCount(&b[i], now)
		if wait := d.retryDelay(c, b[i].quota.PerDay, now); wait > 0 {
			if wait != usePublishInterval {
				c.overDay++
				d.markDue(&b[i], c, now)
			}
			return &b[i], wait
		}
	}
	d.addCalls(b, now, 1)
	return nil, 0
}

// refundCall takes back a call that was refused by another limit, or by over, a minute quota.
func (d *dayCounts) refundCall(b *callQuotas, now time.Time, refusedBy *callQuota) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if refusedBy != nil {
		d.findCount(refusedBy, now).overMinute++
	}
	d.addCalls(b, now, -1)
}

// addCalls adds n to the counts. The caller holds mu.
func (d *dayCounts) addCalls(b *callQuotas, now time.Time, n int) {
	for i := range b {
		if b[i].quota.Bounds() {
			c := d.findCount(&b[i], now)
			c.unsaved += n
			d.markDue(&b[i], c, now)
		}
	}
}

// retryDelay is the wait for the next call; 0: none. The caller holds mu.
func (d *dayCounts) retryDelay(c *dayCount, perDay int, now time.Time) time.Duration {
	local := c.unsaved + c.inFlight
	switch remaining := perDay - c.total; {
	case perDay == 0:
		return 0
	case local >= remaining:
		return nextDay(now).Sub(now)
	case d.peers > 0 && local >= (remaining+d.peers)/(1+d.peers):
		return usePublishInterval
	}
	return 0
}

// findCount finds or adds a count. The caller holds mu.
func (d *dayCounts) findCount(b *callQuota, now time.Time) *dayCount {
	c := d.countAt(dayKey{b.name, toDay(now)})
	c.owner = b.owner
	return c
}

func (d *dayCounts) countAt(key dayKey) *dayCount {
	c := d.byKey[key]
	if c == nil {
		c = &dayCount{}
		if d.byKey == nil {
			d.byKey = map[dayKey]*dayCount{}
		}
		d.byKey[key] = c
	}
	return c
}

// markDue marks a count for writing. The caller holds mu.
func (d *dayCounts) markDue(b *callQuota, c *dayCount, now time.Time) {
	if d.due == nil {
		d.due = map[dayKey]*dayCount{}
	}
	d.due[dayKey{b.name, toDay(now)}] = c
}

// raiseTotal applies a total from another process. Late updates do not lower it.
func (d *dayCounts) raiseTotal(key dayKey, calls int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.byKey) >= maxBuckets && d.byKey[key] == nil {
		return
	}
	c := d.countAt(key)
	c.total = max(c.total, calls)
}

func (d *dayCounts) setPeers(peers int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peers = peers
}
