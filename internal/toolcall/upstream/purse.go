package upstream

import (
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
)

// unheard is how long a credential is trusted while nobody listens to what the database says.
const unheard = time.Second

// mostHeld bounds the credentials in memory.
const mostHeld = 100_000

// purse holds credentials that were resolved, until the database says that they changed. A call that finds its own there asks the
// database nothing. The pool's mu guards it.
type purse struct {
	held    map[owner]held
	hearing bool   // somebody listens to what the database says
	news    uint64 // how often something was said, or missed
}

type held struct {
	usable  *credentials.Usable
	version int       // of the connector's settings
	since   time.Time // when it was read
}

// remembered finds a credential that can still be trusted. news is to be given to remember.
func (p *Pool) remembered(at owner, w *Want) (u *credentials.Usable, news uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.purse.held[at]
	if !ok || h.version != w.Connector.Version || !p.trusted(h) {
		return nil, p.purse.news, false
	}
	return h.usable, 0, true
}

// trusted: a token that is due is asked for again, once in a second. mu is held.
func (p *Pool) trusted(h held) bool {
	due := h.usable.Due
	if p.purse.hearing && due.IsZero() {
		return true
	}
	now := p.o.Now()
	young := now.Sub(h.since) < unheard
	return young || p.purse.hearing && now.Before(due)
}

// remember keeps a credential, unless something was said while it was read.
func (p *Pool) remember(at owner, w *Want, u *credentials.Usable, news uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.purse.news != news {
		return
	}
	if len(p.purse.held) >= mostHeld {
		clear(p.purse.held)
	}
	p.purse.held[at] = held{usable: u, version: w.Connector.Version, since: p.o.Now()}
}

// Forget has the credentials of a connector read again.
func (p *Pool) Forget(t connectors.TenantID, id connectors.ConnectorID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.purse.news++
	for at := range p.purse.held {
		if at.tenant == t && at.connector == id {
			delete(p.purse.held, at)
		}
	}
}

// Hearing says whether somebody hears what the database says of credentials, and calls Forget. What was said before is lost.
func (p *Pool) Hearing(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.purse.hearing = yes
	p.purse.news++
	clear(p.purse.held)
}
