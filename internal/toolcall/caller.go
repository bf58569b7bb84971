package toolcall

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/history"
	"patchbay/internal/lifetime"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/toolcall/upstream"
)

// Options configure a [Caller]. Store, Access, Credentials, Dialer, Target, History and Instance are required.
type Options struct {
	Store       *store.Store
	Access      *access.Keeper
	Credentials *credentials.Resolver
	Dialer      *mcp.Dialer
	// Target is the connector's server as package mcp is told of it, with the headers that authenticate.
	Target func(context.Context, connectors.TenantID, connectors.Connector, []credentials.Header) (mcp.Target, error)
	// Seat is a place for a session with the connector's server, until leave is called; nil: there is room for all.
	Seat     func(context.Context, connectors.TenantID, connectors.Connector) (leave func(), err error)
	History  *history.Writer
	Instance connectors.InstanceID // this process
	BaseURL  string                // where people find Patchbay, without a slash at the end

	// Resync has a connector's tools read again, before a call that may destroy something and whose tool was seen too long ago; nil: a
	// definition of any age will do.
	Resync func(context.Context, connectors.TenantID, connectors.ConnectorID) error

	// Connect makes a link on which a person mends a missing account of a connector; empty: there is none. nil: nobody makes links.
	Connect func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent) string
	// Page is where whoever signs in connects the account that an agent has of its own at a connector: nobody gets anywhere by its address alone.
	// nil: there is none.
	Page func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent) string
	// Ended is told of every call that ended in this process, for the metrics; nil: nobody.
	Ended func(connectors.ToolCall)
	// OverQuota is told of every call that a quota refused, for the metrics: whose it is (tool, tenant), and of which period (minute, day); nil: nobody.
	OverQuota func(whose, period string)
	Log       *slog.Logger     // nil: nowhere
	Now       func() time.Time // nil: time.Now
}

// Caller makes calls. It is safe for concurrent use.
type Caller struct {
	o        Options
	pool     *upstream.Pool
	agents   limiter[connectors.AgentID]
	servers  limiter[connectors.ConnectorID]
	minutes  limiter[uuid.UUID] // of quotas
	days     days               // likewise
	underWay throng[connectors.AgentID]
	watching throng[connectors.AgentID]
	accounts throng[connectors.AccountRequestID] // that calls wait for
	breakers breakers
	ages     ages
	used     uses
	waits    waits
	talks    talks
	progress progress

	undelivered atomic.Int64 // answers that wait to be put on record as lost

	life context.Context // ends when what is under way is cut off
	cut  context.CancelFunc
	crew sync.WaitGroup // what goes on besides the calls

	mu      sync.Mutex // guards what follows
	stopped bool
	calls   sync.WaitGroup // under way; Add only under mu and while not stopped
	running map[connectors.ToolCallID]*stay
}

// New makes a Caller. Start begins what goes on besides the calls, Stop ends it.
func New(o Options) *Caller {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Caller{o: o, running: map[connectors.ToolCallID]*stay{}}
	c.life, c.cut = context.WithCancel(context.Background())
	c.pool = upstream.New(upstream.Options{
		Dialer: o.Dialer, Credentials: o.Credentials, Target: o.Target, Seat: o.Seat, Store: o.Store, Log: o.Log, Now: o.Now,
	})
	return c
}

var (
	errCancelled = errors.New("cancelled by a person")
	errStopped   = errors.New("the process stops")
)

// Start begins what goes on besides the calls: approved ones that nobody waits for are made, and what has lapsed is closed.
func (c *Caller) Start(ctx context.Context) {
	recalled := c.recallQuotas(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		safe.GoIn(&c.crew, safe.Background, func() { safe.RunLoop(c.life, "calls to be closed", func(context.Context) { c.sweepNowAndThen() }) })
		safe.GoIn(&c.crew, safe.Background, func() {
			safe.RunLoop(c.life, "uses of limits", func(context.Context) { c.tellUsesNowAndThen(recalled) })
		})
		safe.GoIn(&c.crew, safe.Background, func() {
			safe.RunLoop(c.life, "progress of calls", func(context.Context) { c.noteProgressNowAndThen() })
		})
	}
}

// Stop lets what is under way end until ctx is done, cuts the rest off, and waits. No call begins any more. The history is to be
// stopped after this.
func (c *Caller) Stop(ctx context.Context) {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.waits.wakeAll() // who waits for a person is told to come back
	ended := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(ended)
		c.calls.Wait()
	})
	select {
	case <-ended:
	case <-ctx.Done():
		c.cutOff()
		<-ended
	}
	c.cut()
	c.crew.Wait()
	c.CountQuotas(context.WithoutCancel(ctx))
	c.pool.Stop(ctx)
}

func (c *Caller) cutOff() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.running {
		one.End(errStopped)
	}
}

// stay is the context of a call in this process. It stands alone: what outlasts the call may have it, and keeps nothing else of the call.
type stay struct {
	lifetime.Context
	c  *Caller
	id connectors.ToolCallID
}

// enter begins a call under an id, by which it can be cancelled. Each enter needs a leave.
func (c *Caller) enter(ctx context.Context, id connectors.ToolCallID) (*stay, error) {
	s := &stay{c: c, id: id}
	s.Begin(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		s.End(nil)
		return nil, stopping()
	}
	c.calls.Add(1)
	c.running[id] = s
	return s, nil
}

func (s *stay) leave() {
	defer s.c.calls.Done()
	s.End(nil)
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	delete(s.c.running, s.id)
}

func stopping() *Refusal {
	return &Refusal{Code: CodeUnavailable, Sentence: "Patchbay is stopping. Try again in a moment.", RetryAfter: time.Second}
}

func (c *Caller) isStopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

// cancelHere ends a call of this process, and tells whether there was one.
func (c *Caller) cancelHere(id connectors.ToolCallID, because error) bool {
	c.mu.Lock()
	one := c.running[id]
	c.mu.Unlock()
	if one != nil {
		one.End(because)
	}
	return one != nil
}

// Hear takes a notice of [store.Store.Watch].
func (c *Caller) Hear(n store.Notice) {
	switch n.Kind {
	case "credential", "connector":
		c.reconsider(n)
	case "approval":
		if id, ok := connectors.Ref(n.ID).UUID(); ok {
			c.waits.wake(connectors.ToolCallID{UUID: id})
		}
	case store.NoticeAccount:
		if agent, ok := connectors.Ref(n.ID).UUID(); ok {
			c.waits.wake(connectors.ToolCallID{UUID: agent})
		}
	case store.NoticeUses:
		c.hearUses(n.ID)
	case "mail":
		c.hearMail(n.ID)
		c.hearTalk(n.ID)
	}
}

// reconsider lets go of what is in memory of a connector, or of its credentials.
func (c *Caller) reconsider(n store.Notice) {
	uuid, ok := connectors.Ref(n.ID).UUID()
	if !ok {
		return
	}
	id := connectors.ConnectorID{UUID: uuid}
	c.pool.Forget(n.Tenant, id)
	if n.Kind == "connector" {
		c.pool.LeaveConnector(n.Tenant, id)
		return
	}
	c.pool.Review(n.Tenant, id)
}

// Connected takes the state of [store.Store.Watch]: while nobody listens, no credential is trusted for longer than a second.
func (c *Caller) Connected(yes bool) {
	c.pool.Hearing(yes)
	c.waits.wakeAll()
}

// Watch hears what changes, until ctx ends. It is for a process in which nobody calls Hear and Connected.
func (c *Caller) Watch(ctx context.Context) error { return c.o.Store.Watch(ctx, c.Hear, c.Connected) }
