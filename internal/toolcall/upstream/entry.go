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

// entry is one session, from the beginning of its opening until it is closed.
type entry struct {
	place   place
	edition edition
	want    Want               // whose use began it
	halt    context.CancelFunc // ends the opening

	opened  chan struct{} // closed when the opening is over; then session or err is set
	session *mcp.Session
	err     error
	stand   func() // gives the seat back; nil: there is none

	// The pool's mu guards what follows.
	users   int
	unused  *list.Element // in the pool's idle; nil: in use, or not in at
	since   time.Time     // when it was used last, where it is unused
	retired bool          // not in at any more
	cut     bool          // what was under way was ended, too
	leaves  bool          // it is being closed
}

// wait returns the session when it is open.
func (e *entry) wait(ctx context.Context) (*mcp.Session, error) {
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

// enter finds the session of an edition, or begins to open it. Each enter needs a leave.
func (p *Pool) enter(ctx context.Context, w *Want, u *credentials.Usable) (*entry, error) {
	at, ed := placeOf(w), editionOf(w, u)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.at[at]
	switch {
	case p.stopped:
		return nil, stopped()
	case e == nil:
	case e.edition == ed, ed.outdated(e.edition):
		return p.used(e), nil
	case ed.settings < e.edition.settings:
		return nil, fault.Errorf(fault.Conflict, "The connector %q was changed just now. Try again.", w.Connector.Name)
	default:
		p.retire(e, !ed.continues(e.edition, u))
	}
	p.retireOlder(at, ed)
	if err := p.makeRoom(at.tenant); err != nil {
		return nil, err
	}
	return p.begin(ctx, u, &entry{place: at, edition: ed, want: w.kept(), opened: make(chan struct{})}), nil
}

// used counts one more user. mu is held.
func (p *Pool) used(e *entry) *entry {
	e.users++
	if e.unused != nil {
		p.idle.Remove(e.unused)
		e.unused = nil
	}
	return e
}

// begin opens a session for all who come for it: the opening goes on where the first one leaves. mu is held.
func (p *Pool) begin(ctx context.Context, u *credentials.Usable, e *entry) *entry {
	p.at[e.place], p.living[e] = e, struct{}{}
	p.of[e.place.tenant]++
	p.open.Add(1)
	ctx, e.halt = context.WithCancel(context.WithoutCancel(ctx))
	safe.GoIn(&p.crew, safe.Upstream, func() { p.dial(ctx, u, e) })
	return p.used(e)
}

func (p *Pool) dial(ctx context.Context, u *credentials.Usable, e *entry) {
	defer e.halt()
	w := &e.want
	ctx, span := tracing.Child(ctx, "open session")
	defer span.End()
	began := time.Now()
	err := p.openSession(ctx, u, e)
	if err != nil {
		span.Fail("not opened")
	}
	p.opened(e, err)
	p.o.Log.LogAttrs(ctx, slog.LevelDebug, "mcp session opened",
		slog.String("tenant_id", w.Tenant.String()), slog.String("connector_id", w.Connector.ID.String()),
		slog.Bool("open", err == nil), slog.Int64("duration_ms", time.Since(began).Milliseconds()))
}

// opened lets those go on who wait for an opening.
func (p *Pool) opened(e *entry, err error) {
	defer close(e.opened)
	e.err = err
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil && !e.retired { // the next one tries anew
		p.retire(e, false)
	}
}

// openSession sets the entry's session. A panic is an error like any other.
func (p *Pool) openSession(ctx context.Context, u *credentials.Usable, e *entry) (err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	w := &e.want
	var headers []credentials.Header
	if u != nil {
		headers = u.Headers
	}
	target, err := p.o.Target(ctx, w.Tenant, w.Connector, headers)
	if err == nil && p.o.Seat != nil {
		e.stand, err = p.o.Seat(ctx, w.Tenant, w.Connector)
	}
	if err == nil {
		target.Capabilities = []byte(w.Capabilities)
		e.session, err = p.o.Dialer.Dial(ctx, target)
	}
	return err
}

// leave counts one user less. The last one of a session that is retired closes it. content: the server took what was sent.
func (p *Pool) leave(e *entry, content bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if content {
		delete(p.forced, e.place)
	}
	e.users--
	switch {
	case e.users > 0:
	case e.retired:
		p.dismiss(e)
	default:
		e.since = p.o.Now()
		e.unused = p.idle.PushBack(e)
		p.watch()
	}
}
