package store

import (
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
)

const (
	answerCountTTL  = time.Minute
	maxAnswerCounts = 5_000 // tenants of a generation; a forgotten one is counted anew
)

// answerCounts bounds the whole answers that each tenant keeps. A process counts a tenant's answers once a minute and adds the ones
// that it stores itself. So a tenant exceeds its bound by at most what all processes store in a minute.
type answerCounts struct {
	mu      sync.Mutex
	tenants *limit.Recent[connectors.TenantID, *answerCount] // guarded by mu
}

// answerCount is what one tenant keeps.
type answerCount struct {
	countedAt     time.Time // start of the last count
	number, bytes int64     // then
	added, size   int64     // number and bytes stored by this process since then
}

func newAnswerCounts() *answerCounts {
	return &answerCounts{tenants: limit.NewRecent[connectors.TenantID, *answerCount](maxAnswerCounts)}
}

// checkBound reports whether the tenant may keep another answer, and whether this caller is to count its answers. Other callers use
// the previous figures until then.
func (c *answerCounts) checkBound(tenant connectors.TenantID, maxBytes int64, now time.Time) (recount, fits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenants.Get(tenant)
	if t == nil {
		t = &answerCount{}
		c.tenants.Put(tenant, t)
	}
	if now.Sub(t.countedAt) >= answerCountTTL {
		t.countedAt, t.added, t.size = now, 0, 0
		return true, true
	}
	return false, t.number+t.added < maxTenantAnswers && t.bytes+t.size < maxBytes
}

// setCounted sets the figures of a count. After an error the next caller counts.
func (c *answerCounts) setCounted(tenant connectors.TenantID, number, bytes int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenants.Get(tenant)
	switch {
	case t == nil:
	case err != nil:
		t.countedAt = time.Time{}
	default:
		t.number, t.bytes = number, bytes
	}
}

// addAnswer adds an answer that was stored.
func (c *answerCounts) addAnswer(tenant connectors.TenantID, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tenants.Get(tenant); t != nil {
		t.added, t.size = t.added+1, t.size+bytes
	}
}
