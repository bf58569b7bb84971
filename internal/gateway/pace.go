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

// pacer is who has a pace: an agent, or, with its address, a tenant.
type pacer struct {
	tenant connectors.TenantID
	agent  connectors.AgentID
	from   netip.Addr
}

// purse is what somebody may ask at once.
type purse struct {
	left float64
	at   time.Time
}

const (
	savedUp    = 4 // seconds' worth, that may come at once after a pause
	atAddress  = 8 // agents' worth, that may come from one address of a tenant
	mostPacers = 100_000
)

// wait is how long a request came too soon; 0: it did not, and counts. An agent that an admin lets make more calls than that is let make them, and
// as many requests beside them; it then takes nothing of its address.
func (p *pace) wait(tenant connectors.TenantID, a *connectors.Agent, from netip.Addr, now time.Time) time.Duration {
	if p.perSecond <= 0 {
		return 0
	}
	own, shared, from := p.perSecond, atAddress*p.perSecond, middleware.Network(from)
	p.mu.Lock()
	defer p.mu.Unlock()
	if calls := 2 * float64(a.CallsPerMinute) / 60; calls > own {
		return p.purse(pacer{tenant: tenant, agent: a.ID}, calls, now).take(calls, nil, 0)
	}
	address := p.purse(pacer{tenant: tenant, from: from}, shared, now)
	return p.purse(pacer{tenant: tenant, agent: a.ID}, own, now).take(own, address, shared)
}

// purse is what somebody has by now. mu is held.
func (p *pace) purse(who pacer, perSecond float64, now time.Time) *purse {
	most := savedUp * perSecond
	one := p.of[who]
	if one == nil {
		p.makeRoom(now)
		one = &purse{left: most, at: now}
		p.of[who] = one
		return one
	}
	if passed := now.Sub(one.at).Seconds(); passed > 0 {
		one.left, one.at = one.left+passed*perSecond, now
	}
	one.left = min(most, one.left)
	return one
}

// take takes one of a purse and of another, which may be nil, or tells how long it is until there is one in both.
func (one *purse) take(perSecond float64, other *purse, others float64) time.Duration {
	wait := one.lacks(perSecond)
	if other != nil {
		wait = max(wait, other.lacks(others))
	}
	if wait > 0 {
		return wait
	}
	if one.left--; other != nil {
		other.left--
	}
	return 0
}

func (one *purse) lacks(perSecond float64) time.Duration {
	if one.left >= 1 {
		return 0
	}
	return time.Duration(math.Ceil((1 - one.left) / perSecond * float64(time.Second)))
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
		if now.Sub(one.at) > savedUp*time.Second {
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

// tooSoon turns away a request that came too soon, before anything of it is read, with the reason that calls have.
func (h *Handler) tooSoon(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	if h.throttled != nil {
		h.throttled()
	}
	seconds := int(math.Ceil(wait.Seconds()))
	why, _ := json.Marshal(map[string]reason{reasonMember: {Code: string(toolcall.CodeRateLimited), RetryAfter: seconds}}) // it always marshals
	w.Header().Set("Retry-After", fmt.Sprint(seconds))
	h.server.TurnAway(w, r, &serve.RPCError{
		Code: codeRefused, Status: http.StatusTooManyRequests, Data: why,
		Message: fmt.Sprintf("This agent makes more requests than it may. Try again in %d s.", seconds),
	})
}
