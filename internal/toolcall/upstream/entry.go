package upstream

import (
	"container/list"
	"context"
	"log/slog"
	"time"

	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/tracing"
)

// entry is one session, from its opening to its close.
type entry struct {
	key           sessionKey
	version       sessionVersion
	request       SessionRequest // of the first use
	cancelOpening context.CancelFunc

	opened      chan struct{} // closed after the opening, when session or err is set
	session     *mcp.Session
	err         error
	releaseSlot func() // nil: no slot

	// The pool's mu guards the fields below.
	era         string // the session's own; empty until it is open
	users       int
	idleElement *list.Element // in the pool's idle list; nil: in use, or retired
	idleSince   time.Time     // time of the last use
	retired     bool          // removed from the pool's sessions
	aborted     bool          // requests were aborted, too
	isClosing   bool
}

func (e *entry) waitOpen(ctx context.Context) (*mcp.Session, error) {
	select {
	case <-e.opened:
		return e.session, e.err
	default:
	}
	select {
	case <-e.opened:
		return e.session, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// acquireEntry finds the session of the request's version, or starts to open it. Each acquireEntry needs a
// releaseEntry.
func (p *Pool) acquireEntry(ctx context.Context, w *SessionRequest, u *credentials.Credential) (*entry, error) {
	version := newSessionVersion(w, u)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := p.sessionKey(w)
	e := p.sessions[key]
	switch {
	case p.stopped:
		return nil, newStoppedError()
	case e == nil:
	case e.hasVersion(version), version.isOlder(e.version):
		return p.addUser(e), nil
	case version.connectorVersion < e.version.connectorVersion:
		return nil, fault.Errorf(fault.Conflict, "The connector %q just changed. Try again.", w.Connector.Name)
	default:
		p.retireEntry(e, !version.isCompatible(e.version, u))
	}
	p.retireOldVersions(key, version)
	if err := p.ensureCapacity(key.tenant); err != nil {
		return nil, err
	}
	return p.startOpening(ctx, u, &entry{key: key, version: version, request: w.withoutUseFields(), opened: make(chan struct{})}), nil
}

// hasVersion reports whether the session serves requests of a version. A session that opened before its era was remembered
// has that era already. The caller holds mu.
func (e *entry) hasVersion(version sessionVersion) bool {
	if version.era == "" || e.era == "" || version.era == e.era {
		version.era = e.version.era
	}
	return version == e.version
}

// addUser counts one more user. The caller holds mu.
func (p *Pool) addUser(e *entry) *entry {
	e.users++
	if e.idleElement != nil {
		p.idle.Remove(e.idleElement)
		e.idleElement = nil
	}
	return e
}

// startOpening opens a session for all its waiters. The opening outlives the first one. The caller holds mu.
func (p *Pool) startOpening(ctx context.Context, u *credentials.Credential, e *entry) *entry {
	p.sessions[e.key], p.live[e] = e, struct{}{}
	p.perTenant[e.key.tenant]++
	p.liveSessions.Add(1)
	ctx, e.cancelOpening = context.WithCancel(context.WithoutCancel(ctx))
	safe.GoIn(&p.background, safe.Upstream, func() { p.openEntry(ctx, u, e) })
	return p.addUser(e)
}

func (p *Pool) openEntry(ctx context.Context, u *credentials.Credential, e *entry) {
	defer e.cancelOpening()
	w := &e.request
	ctx, span := tracing.Child(ctx, "open session")
	defer span.End()
	start := time.Now()
	err := p.openSession(ctx, u, e)
	if err != nil {
		span.Fail("not opened")
	}
	p.finishOpening(e, err)
	p.o.Log.LogAttrs(ctx, slog.LevelDebug, "mcp session opened",
		slog.String("tenant_id", w.Tenant.String()), slog.String("connector_id", w.Connector.ID.String()),
		slog.Bool("open", err == nil), slog.Int64("duration_ms", time.Since(start).Milliseconds()))
}

// finishOpening wakes the waiters of an opening.
func (p *Pool) finishOpening(e *entry, err error) {
	defer close(e.opened)
	e.err = err
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		e.era = string(e.session.Era())
		p.recordState(e)
	} else if !e.retired { // the next use opens again
		p.retireEntry(e, false)
	}
}

// openSession sets the entry's session. A panic becomes an error.
func (p *Pool) openSession(ctx context.Context, u *credentials.Credential, e *entry) (err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	w := &e.request
	var headers []credentials.Header
	if u != nil {
		headers = u.Headers
	}
	target, err := p.o.Target(ctx, w.Tenant, w.Connector, headers)
	if err == nil && p.o.AcquireSlot != nil {
		e.releaseSlot, err = p.acquireSlot(ctx, w)
	}
	if err == nil {
		target.Capabilities, target.Resume = []byte(w.Capabilities), w.Resume
		e.session, err = p.o.Dialer.Dial(ctx, target)
	}
	return err
}

// releaseEntry counts one user less. The last user of a retired session closes it. content: the server accepted
// the request.
func (p *Pool) releaseEntry(e *entry, content bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if content {
		delete(p.forcedRevisions, e.key)
	}
	e.users--
	switch {
	case e.users > 0:
	case e.retired:
		p.scheduleClose(e)
	case p.isAwaited(e):
		p.retireEntry(e, false)
	default:
		e.idleSince = p.o.Now()
		e.idleElement = p.idle.PushBack(e)
		p.scheduleSweep()
	}
}
