package gateway

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/middleware"
	"patchbay/internal/toolcall"
)

// pace bounds how often an agent makes any request at all, and how often all agents of a tenant do from one address, in this process. Calls
// of tools have limits of their own, which are everywhere the same; this one is for what they do not count: lists, pings, subscriptions, what
// is no request at all.
type pace struct {
	perSecond float64 // of an agent; 0: there is no limit

	mu sync.Mutex
	of map[pacer]*purse // guarded by mu
}

// pacer is who has a pace: an agent; or a tenant, at an address or altogether.
type pacer struct {
	tenant     connectors.TenantID
	agent      connectors.AgentID
	from       netip.Addr
	everywhere bool
}

// purse is what somebody may ask at once. It is less than nothing after a batch, which may be longer than what was saved up.
type purse struct {
	perSecond float64
	left      float64
	at        time.Time
}

const (
	savedUp    = 4 // seconds' worth, that may come at once after a pause
	atAddress  = 8 // agents' worth, that may come from one address of a tenant, or of one agent that an admin lets call so often
	ofTenant   = 16
	mostPacers = 100_000
)

// wait is how long a request came too soon; 0: it did not, and counts. An agent that an admin lets make more calls than that is let make them, and
// as many requests beside them, up to what an address may; it then takes nothing of its address, and like all others of what its tenant has: the
// operator's limit is no admin's to lift.
func (p *pace) wait(tenant connectors.TenantID, a *connectors.Agent, from netip.Addr, now time.Time) time.Duration {
	return p.take(tenant, a, from, now, 1, 1)
}

// charge counts more messages of a request that did not come too soon, or is how long they did. Who owes nothing may send more than is left, and
// waits for longer then: few could ever send a long batch otherwise.
func (p *pace) charge(tenant connectors.TenantID, a *connectors.Agent, from netip.Addr, now time.Time, more int) time.Duration {
	return p.take(tenant, a, from, now, 0, more)
}

// take takes so many out of all purses of an agent that have the least, or tells how long it is until they have one again.
func (p *pace) take(tenant connectors.TenantID, a *connectors.Agent, from netip.Addr, now time.Time, least float64, many int) time.Duration {
	if p.perSecond <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	purses := append(make([]*purse, 0, 3), p.purse(pacer{tenant: tenant, everywhere: true}, ofTenant*p.perSecond, now))
	if calls := min(2*float64(a.CallsPerMinute)/60, atAddress*p.perSecond); calls > p.perSecond {
		purses = append(purses, p.purse(pacer{tenant: tenant, agent: a.ID}, calls, now))
	} else {
		purses = append(purses, p.purse(pacer{tenant: tenant, from: middleware.Network(from)}, atAddress*p.perSecond, now),
			p.purse(pacer{tenant: tenant, agent: a.ID}, p.perSecond, now))
	}
	var wait time.Duration
	for _, one := range purses {
		wait = max(wait, one.lacks(least))
	}
	if wait > 0 {
		return wait
	}
	for _, one := range purses {
		one.left -= float64(many)
	}
	return 0
}

// purse is what somebody has by now. mu is held.
func (p *pace) purse(who pacer, perSecond float64, now time.Time) *purse {
	most := savedUp * perSecond
	one := p.of[who]
	if one == nil {
		p.makeRoom(now)
		one = &purse{perSecond: perSecond, left: most, at: now}
		p.of[who] = one
		return one
	}
	one.perSecond, one.left, one.at = perSecond, one.by(now), later(one.at, now)
	return one
}

// by is what there is at a time.
func (one *purse) by(now time.Time) float64 {
	return min(savedUp*one.perSecond, one.left+max(0, now.Sub(one.at).Seconds())*one.perSecond)
}

func (one *purse) lacks(least float64) time.Duration {
	if one.left >= least {
		return 0
	}
	return time.Duration(math.Ceil((1 - one.left) / one.perSecond * float64(time.Second)))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// makeRoom forgets those who have saved up all that they may, who are as if they had never asked, where there are too many; and whoever it
// happens to be, where that is not enough. mu is held.
func (p *pace) makeRoom(now time.Time) {
	if p.of == nil {
		p.of = map[pacer]*purse{}
	}
	if len(p.of) < mostPacers {
		return
	}
	for who, one := range p.of {
		if one.by(now) >= savedUp*one.perSecond {
			delete(p.of, who)
		}
	}
	for who := range p.of {
		if len(p.of) < mostPacers {
			return
		}
		delete(p.of, who)
	}
}

// tooSoon turns away a request that came too soon, before anything of it is read.
func (h *Handler) tooSoon(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	h.server.TurnAway(w, r, h.refusedPace(w.Header(), wait))
}

var _ serve.Meter = (*backend)(nil)

// Charge counts the messages that come with the first of a request.
func (b *backend) Charge(header http.Header, more int) *serve.RPCError {
	if wait := b.h.pace.charge(b.view.Tenant.ID, &b.view.Agent, b.from.Address, b.h.now(), more); wait > 0 {
		return b.h.refusedPace(header, wait)
	}
	return nil
}

// refusedPace is what who comes too soon is told, with the reason that calls have.
func (h *Handler) refusedPace(header http.Header, wait time.Duration) *serve.RPCError {
	if h.throttled != nil {
		h.throttled()
	}
	seconds := int(math.Ceil(wait.Seconds()))
	why, _ := json.Marshal(map[string]reason{reasonMember: {Code: string(toolcall.CodeRateLimited), RetryAfter: seconds}}) // it always marshals
	header.Set("Retry-After", fmt.Sprint(seconds))
	return &serve.RPCError{
		Code: codeRefused, Status: http.StatusTooManyRequests, Data: why,
		Message: fmt.Sprintf("This agent makes more requests than it may. Try again in %d s.", seconds),
	}
}
