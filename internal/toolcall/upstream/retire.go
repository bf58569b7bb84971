package upstream

import (
	"container/list"
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
)

// maxClosers bounds concurrent closes of idle sessions.
const maxClosers = 64

// EndCredential ends the sessions of a credential, and aborts their requests.
func (p *Pool) EndCredential(tenant connectors.TenantID, id connectors.CredentialID) {
	p.abortSessions(func(e *entry) bool { return e.key.tenant == tenant && e.version.credential == id })
}

// EndConnector ends the sessions of a connector, and aborts their requests.
func (p *Pool) EndConnector(tenant connectors.TenantID, id connectors.ConnectorID) {
	p.abortSessions(func(e *entry) bool { return e.key.tenant == tenant && e.key.connector == id })
}

// RetireConnector ends a changed connector's idle sessions now, and the others after their last use. The next
// use opens a new one.
func (p *Pool) RetireConnector(tenant connectors.TenantID, id connectors.ConnectorID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.stateless, id)
	for e := range p.live {
		if e.key.tenant == tenant && e.key.connector == id {
			p.retireEntry(e, false)
		}
	}
}

// EndTenant ends a tenant's sessions, and aborts their requests.
func (p *Pool) EndTenant(tenant connectors.TenantID) {
	p.abortSessions(func(e *entry) bool { return e.key.tenant == tenant })
}

// abortSessions ends matching sessions, also retired ones in use.
func (p *Pool) abortSessions(matches func(*entry) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := range p.live {
		if matches(e) {
			p.retireEntry(e, true)
		}
	}
}

// retireOldVersions ends the sessions of older connector versions. The scan is cheap beside the opening that
// follows. The caller holds mu.
func (p *Pool) retireOldVersions(key sessionKey, version sessionVersion) {
	for other, e := range p.sessions {
		if other.tenant == key.tenant && other.connector == key.connector && e.version.connectorVersion < version.connectorVersion {
			p.retireEntry(e, true)
		}
	}
}

// retireEntry removes an entry from sessions. It is closed now if idle or aborted, else by its last user. The
// caller holds mu.
func (p *Pool) retireEntry(e *entry, abort bool) {
	if !e.retired {
		e.retired = true
		delete(p.sessions, e.key)
		if p.perTenant[e.key.tenant]--; p.perTenant[e.key.tenant] == 0 {
			delete(p.perTenant, e.key.tenant)
		}
	}
	if e.idleElement != nil {
		p.idle.Remove(e.idleElement)
		e.idleElement = nil
	}
	e.aborted = e.aborted || abort
	if abort || e.users == 0 {
		p.scheduleClose(e)
	}
}

// scheduleClose closes an entry in use at once, an idle one by one of maxClosers workers. The caller holds mu.
func (p *Pool) scheduleClose(e *entry) {
	if e.isClosing {
		return
	}
	e.isClosing = true
	e.cancelOpening()
	if e.users > 0 {
		safe.GoIn(&p.background, safe.Upstream, func() { p.closeEntry(e) })
		return
	}
	p.closing = append(p.closing, e)
	if p.closers < maxClosers {
		p.closers++
		safe.GoIn(&p.background, safe.Upstream, p.closeLoop)
	}
}

func (p *Pool) closeLoop() {
	for e := p.nextClosing(); e != nil; e = p.nextClosing() {
		p.closeEntry(e)
	}
}

// nextClosing takes the next entry to close; nil: none, and the worker ends.
func (p *Pool) nextClosing() *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.closing) == 0 {
		p.closers--
		return nil
	}
	e := p.closing[0]
	p.closing = p.closing[1:]
	return e
}

// closeEntry ends the session at the server.
func (p *Pool) closeEntry(e *entry) {
	defer safe.Recover(safe.Upstream)
	defer p.liveSessions.Done()
	<-e.opened
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.live, e)
	}()
	if e.releaseSlot != nil {
		defer e.releaseSlot()
	}
	if e.session != nil {
		e.session.Close(context.Background())
	}
}

// ensureCapacity ends idle sessions until the tenant may open one. The caller holds mu.
func (p *Pool) ensureCapacity(tenant connectors.TenantID) error {
	isOfTenant := func(e *entry) bool { return e.key.tenant == tenant }
	if p.perTenant[tenant] >= p.o.MaxPerTenant && !p.retireIdle(isOfTenant) {
		return newFullError("Your organisation has too many open server connections. Try again in a moment.")
	}
	if len(p.sessions) >= p.o.MaxSessions && !p.retireIdle(func(*entry) bool { return true }) {
		return newFullError("Patchbay has too many open server connections. Try again in a moment.")
	}
	return nil
}

func newFullError(message string) error {
	f := fault.Errorf(fault.Unavailable, "%s", message)
	f.Code, f.RetryAfter = "too_many_sessions", 1
	return f
}

// retireIdle ends the longest idle session that matches.
func (p *Pool) retireIdle(matches func(*entry) bool) bool {
	for element := p.idle.Front(); element != nil; element = element.Next() {
		if e := entryFromElement(element); matches(e) {
			p.retireEntry(e, false)
			return true
		}
	}
	return false
}

// scheduleSweep sets the timer for the longest idle session. The caller holds mu.
func (p *Pool) scheduleSweep() {
	if p.sweepTimer != nil || p.stopped || p.idle.Len() == 0 {
		return
	}
	remaining := p.o.IdleTimeout - p.o.Now().Sub(entryFromElement(p.idle.Front()).idleSince)
	p.sweepTimer = time.AfterFunc(max(remaining, time.Second), p.sweepIdle)
}

// sweepIdle ends sessions that were idle for too long.
func (p *Pool) sweepIdle() {
	defer safe.Recover(safe.Timer)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweepTimer = nil
	for now := p.o.Now(); p.idle.Len() > 0; {
		e := entryFromElement(p.idle.Front())
		if now.Sub(e.idleSince) < p.o.IdleTimeout {
			break
		}
		p.retireEntry(e, false)
	}
	p.scheduleSweep()
}

func entryFromElement(element *list.Element) *entry {
	e, _ := element.Value.(*entry) // the list holds entries only
	return e
}
