package upstream

import (
	"container/list"
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
)

// maxClosers bounds how many unused sessions are closed at once.
const maxClosers = 64

// EndCredential ends the sessions that were opened with a credential, and what is under way in them.
func (p *Pool) EndCredential(tenant connectors.TenantID, id connectors.CredentialID) {
	p.end(func(e *entry) bool { return e.place.tenant == tenant && e.edition.credential == id })
}

// EndConnector ends the sessions with a connector's server, and what is under way in them.
func (p *Pool) EndConnector(tenant connectors.TenantID, id connectors.ConnectorID) {
	p.end(func(e *entry) bool { return e.place.tenant == tenant && e.place.connector == id })
}

// LeaveConnector ends the unused sessions with a connector's server, and each other one with its last user: the connector is not what it
// was, or is gone. Whoever comes next opens another.
func (p *Pool) LeaveConnector(tenant connectors.TenantID, id connectors.ConnectorID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := range p.living {
		if e.place.tenant == tenant && e.place.connector == id {
			p.retire(e, false)
		}
	}
}

// EndTenant ends a tenant's sessions, and what is under way in them.
func (p *Pool) EndTenant(tenant connectors.TenantID) {
	p.end(func(e *entry) bool { return e.place.tenant == tenant })
}

// end cuts off the sessions that are meant, also those that were retired and only wait for their last user.
func (p *Pool) end(meant func(*entry) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := range p.living {
		if meant(e) {
			p.retire(e, true)
		}
	}
}

// retireOlder ends what was opened with older settings of the connector, whoever's it is. mu is held. Looking at all is cheap beside
// the opening that follows.
func (p *Pool) retireOlder(at place, ed edition) {
	for other, e := range p.at {
		if other.tenant == at.tenant && other.connector == at.connector && e.edition.settings < ed.settings {
			p.retire(e, true)
		}
	}
}

// retire takes an entry out of at. It is closed now where it is unused or what is under way in it is cut off, else by its last user.
// mu is held.
func (p *Pool) retire(e *entry, cut bool) {
	if !e.retired {
		e.retired = true
		delete(p.at, e.place)
		if p.of[e.place.tenant]--; p.of[e.place.tenant] == 0 {
			delete(p.of, e.place.tenant)
		}
	}
	if e.unused != nil {
		p.idle.Remove(e.unused)
		e.unused = nil
	}
	e.cut = e.cut || cut
	if cut || e.users == 0 {
		p.dismiss(e)
	}
}

// dismiss has an entry closed: at once where somebody uses it, else by one of a few who do that for all. mu is held.
func (p *Pool) dismiss(e *entry) {
	if e.leaves {
		return
	}
	e.leaves = true
	e.halt()
	if e.users > 0 {
		safe.GoIn(&p.crew, safe.Upstream, func() { p.close(e) })
		return
	}
	p.leaving = append(p.leaving, e)
	if p.closers < maxClosers {
		p.closers++
		safe.GoIn(&p.crew, safe.Upstream, p.closeLeaving)
	}
}

func (p *Pool) closeLeaving() {
	for e := p.nextLeaving(); e != nil; e = p.nextLeaving() {
		p.close(e)
	}
}

// nextLeaving takes the next entry to be closed; nil: there is none, and one closer less.
func (p *Pool) nextLeaving() *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.leaving) == 0 {
		p.closers--
		return nil
	}
	e := p.leaving[0]
	p.leaving = p.leaving[1:]
	return e
}

// close ends the session on the server, as a courtesy.
func (p *Pool) close(e *entry) {
	defer safe.Recover(safe.Upstream)
	defer p.open.Done()
	<-e.opened
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.living, e)
	}()
	if e.stand != nil {
		defer e.stand()
	}
	if e.session != nil {
		e.session.Close(context.Background())
	}
}

// makeRoom ends unused sessions until the tenant may have another one. mu is held.
func (p *Pool) makeRoom(tenant connectors.TenantID) error {
	own := func(e *entry) bool { return e.place.tenant == tenant }
	if p.of[tenant] >= p.o.PerTenant && !p.retireUnused(own) {
		return full("Your organisation has too many conversations with servers under way. Try again in a moment.")
	}
	if len(p.at) >= p.o.Most && !p.retireUnused(func(*entry) bool { return true }) {
		return full("Patchbay has too many conversations with servers under way. Try again in a moment.")
	}
	return nil
}

func full(message string) error {
	f := fault.Errorf(fault.Unavailable, "%s", message)
	f.Code, f.RetryAfter = "too_many_sessions", 1
	return f
}

// retireUnused ends the one that is unused for longest, of those that are meant.
func (p *Pool) retireUnused(meant func(*entry) bool) bool {
	for at := p.idle.Front(); at != nil; at = at.Next() {
		if e := entryAt(at); meant(e) {
			p.retire(e, false)
			return true
		}
	}
	return false
}

// watch has the one that is unused for longest swept when its time is up. mu is held.
func (p *Pool) watch() {
	if p.sweep != nil || p.stopped || p.idle.Len() == 0 {
		return
	}
	left := p.o.Idle - p.o.Now().Sub(entryAt(p.idle.Front()).since)
	p.sweep = time.AfterFunc(max(left, time.Second), p.sweepIdle)
}

// sweepIdle ends what is unused for too long.
func (p *Pool) sweepIdle() {
	defer safe.Recover(safe.Timer)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep = nil
	for now := p.o.Now(); p.idle.Len() > 0; {
		e := entryAt(p.idle.Front())
		if now.Sub(e.since) < p.o.Idle {
			break
		}
		p.retire(e, false)
	}
	p.watch()
}

func entryAt(at *list.Element) *entry {
	e, _ := at.Value.(*entry) // nothing else is in the list
	return e
}
