package upstream

import (
	"cmp"
	"container/list"
	"context"
	"log/slog"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

const (
	defaultIdle      = 10 * time.Minute
	defaultMost      = 10_000
	defaultPerTenant = 1_000
)

// Options are what a Pool needs. Dialer, Credentials and Target are required.
type Options struct {
	Dialer      *mcp.Dialer
	Credentials *credentials.Resolver
	// Target is the connector's server as package mcp is told of it, with the headers that authenticate.
	Target func(context.Context, connectors.TenantID, connectors.Connector, []credentials.Header) (mcp.Target, error)
	// Seat is a place for the conversation with a program, which the session keeps until leave is called; nil: there is room for all.
	Seat func(context.Context, connectors.TenantID, connectors.Connector) (leave func(), err error)

	Store     *store.Store     // for uses that wait while the database is away; nil: there are none
	Log       *slog.Logger     // nil: nowhere
	Now       func() time.Time // nil: time.Now
	Idle      time.Duration    // after which an unused session ends; 0: 10 minutes
	Most      int              // open sessions in this process; 0: 10 000
	PerTenant int              // open sessions of one tenant; 0: 1 000
}

// Pool keeps open sessions. It is safe for concurrent use.
type Pool struct {
	o Options

	mu      sync.Mutex // guards what follows, and what entries say that it guards
	stopped bool
	at      map[place]*entry
	of      map[connectors.TenantID]int // sessions in at
	living  map[*entry]struct{}         // those in at, and those that are not closed yet
	forced  map[place]int               // revisions of tokens that were got by force and have not served yet
	idle    list.List                   // of those in at, whoever is unused for longest first
	sweep   *time.Timer                 // nil: nothing to sweep
	leaving []*entry                    // unused ones that wait to be closed
	closers int
	open    sync.WaitGroup // one for each living; Add only under mu and while not stopped
	crew    sync.WaitGroup // goroutines: they begin while something is open
	purse   purse
}

// New makes a Pool.
func New(o Options) *Pool {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Idle = cmp.Or(o.Idle, defaultIdle)
	o.Most, o.PerTenant = cmp.Or(o.Most, defaultMost), cmp.Or(o.PerTenant, defaultPerTenant)
	return &Pool{o: o, at: map[place]*entry{}, of: map[connectors.TenantID]int{}, living: map[*entry]struct{}{}, forced: map[place]int{}, purse: purse{held: map[owner]held{}}}
}

// Want says whose session is used.
type Want struct {
	Tenant    connectors.TenantID
	Connector connectors.Connector
	Agent     *connectors.AgentID // nil: nobody's, which serves for shared credentials
	// Capabilities are what whoever uses the session can answer when its server asks, an object; empty: nothing. Sessions with other
	// capabilities are others: in the handshake era they are said once.
	Capabilities string
	// Private keeps the session for the agent, also where the credential is shared: what the server asks on a stream that all share
	// is for nobody else.
	Private bool
	// Sent, where set, is told which credential goes out, before it does: nil where there is none.
	Sent **credentials.Usable
	// Safe allows that do runs twice: what it does may happen twice, or has no effect.
	Safe bool
	// Wait lets the use wait for its credential while the database is away; nil: it does not.
	Wait *store.WaitBudget
}

// kept is w without what belongs to one use.
func (w *Want) kept() Want {
	kept := *w
	kept.Sent, kept.Wait = nil, nil
	return kept
}

// Use runs do with the open session of what is wanted, opened if there is none. do must not keep it. Where the server refuses the
// token with 401, which it does before it looks at the request, the token is renewed, once for each version, and do runs again with
// the next one. It runs again, too, where it is safe and its session was lost, broke off or ended meanwhile, and where it has not run
// yet. Errors are do's own, those of mcp and credentials as they are, and Unavailable where there is no room.
func (p *Pool) Use(ctx context.Context, w Want, do func(*mcp.Session) error) error {
	ran, mended, err := p.try(ctx, &w, do)
	if !ran && w.Wait != nil && store.Away(err) && p.databaseBack(ctx, w.Wait, err) {
		ran, mended, err = p.try(ctx, &w, do)
	}
	if mended && (w.Safe || !ran || unauthorized(err)) && ctx.Err() == nil {
		_, _, err = p.try(ctx, &w, do)
	}
	return err
}

// databaseBack waits for the database after a session could not be opened without it, and reports whether it is back.
func (p *Pool) databaseBack(ctx context.Context, wait *store.WaitBudget, err error) bool {
	return p.o.Store.Retry(ctx, wait, func(context.Context) error {
		was := err
		err = nil
		return was
	}) == nil
}

// try is Use without a second time. ran: do was begun. mended: what it failed of is not there any more.
func (p *Pool) try(ctx context.Context, w *Want, do func(*mcp.Session) error) (ran, mended bool, err error) {
	u, err := p.resolve(ctx, w)
	if err != nil {
		return false, false, err
	}
	if w.Sent != nil {
		*w.Sent = u
	}
	e, err := p.enter(ctx, w, u)
	if err != nil {
		return false, false, err
	}
	defer func() { p.leave(e, ran && err == nil) }()
	session, err := e.wait(ctx)
	if err == nil {
		ran, err = true, do(session)
	}
	if err == nil {
		return ran, false, nil
	}
	mended, err = p.mend(ctx, w, u, e, err)
	return ran, mended, err
}

// Resolve tells whose credential a use would send; nil where the connector wants none. Where there is none that could be used the error
// says so, and what was opened with the one before ends.
func (p *Pool) Resolve(ctx context.Context, w Want) (*credentials.Usable, error) {
	return p.resolve(ctx, &w)
}

func (p *Pool) resolve(ctx context.Context, w *Want) (*credentials.Usable, error) {
	if w.Connector.Auth.Type == connectors.AuthNone {
		return nil, nil
	}
	at := ownerOf(w)
	if u, _, ok := p.remembered(at, w); ok {
		return u, nil
	}
	if w.Wait == nil {
		return p.read(ctx, at, w)
	}
	return p.readWaiting(ctx, at, w)
}

// readWaiting is read for a use that waits while the database is away.
func (p *Pool) readWaiting(ctx context.Context, at owner, w *Want) (u *credentials.Usable, err error) {
	err = p.o.Store.RetryOutside(ctx, w.Wait, func(ctx context.Context) error { // an authorization server may be asked, too
		u, err = p.read(ctx, at, w)
		return err
	})
	return u, err
}

// read reads a credential from the database, unless that was done meanwhile.
func (p *Pool) read(ctx context.Context, at owner, w *Want) (*credentials.Usable, error) {
	u, news, ok := p.remembered(at, w)
	if ok {
		return u, nil
	}
	ctx, span := tracing.Child(ctx, "credential")
	defer span.End()
	u, err := p.o.Credentials.Of(ctx, w.Tenant, w.Connector, w.Agent)
	if err == nil && u != nil {
		p.remember(at, w, u, news)
		return u, nil
	}
	if err != nil {
		span.Fail("unavailable")
		return nil, err
	}
	span.Fail("missing")
	p.end(func(e *entry) bool { return e.place.owner == at })
	return nil, p.o.Credentials.WhyMissing(ctx, w.Tenant, w.Connector, w.Agent)
}

// Stop ends all sessions, and none begins any more. What is under way may end by itself until ctx is done, and is then cut off. It
// returns when all are closed, at most three seconds after that.
func (p *Pool) Stop(ctx context.Context) {
	p.retireAll()
	closed := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(closed)
		p.open.Wait()
		p.crew.Wait()
	})
	select {
	case <-closed:
	case <-ctx.Done():
		p.end(func(*entry) bool { return true })
		<-closed // bounded by mcp.Session.Close
	}
}

// retireAll retires each session, and lets none begin any more.
func (p *Pool) retireAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.sweep != nil {
		p.sweep.Stop()
	}
	for _, e := range p.at {
		p.retire(e, false)
	}
}

func stopped() error {
	return fault.Errorf(fault.Unavailable, "Patchbay is stopping. Try again in a moment.")
}

// Sessions is how many there are, those that are being opened or closed among them.
func (p *Pool) Sessions() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.living)
}
