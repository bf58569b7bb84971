package mcp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/internal/mcp/wire"
	"patchbay/internal/safe"
)

const (
	closeTimeout    = 2 * time.Second
	courtesyTimeout = time.Second
)

// conversation is one life of a session: from its opening until it is closed, or the server has lost it. What the opening learns
// does not change any more, so that many requests may be under way at once.
type conversation struct {
	era     era
	name    Era // as it is remembered
	carrier carrier
	shared  bool          // the carrier has one stream for all
	timeout time.Duration // of one message with its answer
	retry   retry
	ids     *atomic.Int64
	report  func(Progress)
	trace   *Trace                                       // nil: nobody looks
	span    func(context.Context) (parent, state string) // nil: there are no traces
	program bool                                         // the server is a program, and hears no headers

	client       []byte // our clientInfo
	capabilities []byte // what the session's owner can answer
	version      string // of the protocol
	speaks       []byte // the version as JSON, in the modern era
	server       ServerInfo
	hasTools     bool          // the server says that it has tools
	hasLog       bool          // and log messages
	offers       []byte        // the capabilities that the server names; nil: none that can be read
	recalled     bool          // all of this is what was known: the server was not asked
	fresh        time.Duration // for which it may be taken for known; 0: the server did not say

	life  context.Context
	die   context.CancelFunc // of life
	tasks sync.WaitGroup     // what goes on besides the callers

	hearing  sync.Once // the stream that the server speaks on by itself is opened
	speaking sync.Once // the server was asked to say its log messages

	open sync.WaitGroup // exchanges under way

	mu        sync.Mutex // guards what follows
	flights   flights
	closed    bool
	retired   bool             // another one is in its place
	answering map[[16]byte]int // requests of the server that are being answered, by who answers
	watched   map[string]int   // how many watch a resource, in the handshake era
	callers   map[int]*caller  // who wants to hear what comes before the reply, by request
}

// exchange sends one message once and returns the reply, where there is to be one.
func (c *conversation) exchange(ctx context.Context, m outgoing) (*wire.Reply, *Error) {
	in, err := c.within(ctx, c.timeout, m)
	return in.reply, err
}

// within is exchange with a time of its own.
func (c *conversation) within(ctx context.Context, timeout time.Duration, m outgoing) (incoming, *Error) {
	timed := newTimed(ctx, time.Now().Add(timeout))
	defer timed.end()
	if err := c.enter(timed, m.phase); err != nil {
		return incoming{}, err
	}
	defer c.leave(timed)
	in, err := c.traced(timed, m)
	switch {
	case err != nil:
		if timed.Err() != nil {
			c.forget(ctx, m)
		}
		return incoming{}, err
	case in.reply != nil && in.reply.Error != nil:
		return incoming{}, rpcError(m.phase, in.reply.Error, in.status)
	}
	return in, nil
}

// traced is carrier.send, with what came of it taken down.
func (c *conversation) traced(ctx context.Context, m outgoing) (incoming, *Error) {
	if c.trace == nil {
		return c.carrier.send(ctx, m)
	}
	var seen traced
	if _, program := c.carrier.(*stdioCarrier); program {
		seen = c.trace.begin("", m, c.name)
	}
	in, err := c.carrier.send(ctx, m)
	seen.said(in)
	failure := err
	if err == nil && in.reply != nil && in.reply.Error != nil {
		failure = rpcError(m.phase, in.reply.Error, in.status)
	}
	c.trace.ended(m, failure)
	return in, err
}

// enter begins an exchange, unless the conversation is over. With that it ends.
func (c *conversation) enter(timed *timedContext, phase Phase) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.retired: // closed or not: another one goes on in its place
		return &Error{Phase: phase, Reason: ReasonHTTPStatus, HTTPStatus: http.StatusNotFound, Err: errSessionLost}
	case c.closed:
		return errClosed(phase)
	}
	if c.flights.add(timed) {
		c.flights.set(timed.at, c.strike)
	}
	c.open.Add(1)
	return nil
}

func (c *conversation) leave(timed *timedContext) {
	defer c.open.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights.under, timed)
}

// end ends the conversation's life, and all that is under way.
func (c *conversation) end() {
	defer safe.Recover(safe.Upstream)
	c.die()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flights.end()
}

// strike is called by the clock of the flights.
func (c *conversation) strike() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if next := c.flights.expire(); !next.IsZero() {
		c.flights.set(next, c.strike)
	}
}

// retire closes a conversation that the server has lost, once nothing is under way in it any more, or life ends.
func (c *conversation) retire(life context.Context) {
	c.mu.Lock()
	c.retired = true
	c.mu.Unlock()
	defer context.AfterFunc(life, c.end)()
	c.open.Wait()
	c.close(life)
}

// ask sends a request that may be sent twice, again where that may help, and returns its result.
func (c *conversation) ask(ctx context.Context, r request) (*wire.Reply, error) {
	var reply *wire.Reply
	r = c.tellTrace(ctx, r)
	err := c.retry.do(ctx, func() (failure *Error) {
		m := c.era.message(c, r, c.id())
		m.again = true
		reply, failure = c.exchange(ctx, m)
		return failure
	})
	return reply, err
}

// id is one for a request that no other has.
func (c *conversation) id() int { return int(c.ids.Add(1)) }

// forget tells the server that nobody waits for the reply any more. Nobody waits for that, either. An initialize must not be
// cancelled.
func (c *conversation) forget(ctx context.Context, m outgoing) {
	if m.id == 0 || m.method == initialize || !c.era.cancels(c) {
		return
	}
	reason := "cancelled"
	if ctx.Err() == nil {
		reason = "timeout"
	}
	note := notification(m.phase, "notifications/cancelled", wire.Object([]wire.Member{
		{Name: "requestId", Value: wire.Number(m.id)}, {Name: "reason", Value: wire.Text(reason)},
	}))
	c.start(func() { c.courtesy(context.WithoutCancel(ctx), note) })
}

// courtesy tells the server something that it may like and that nothing depends on, within a second.
func (c *conversation) courtesy(ctx context.Context, m outgoing) {
	ctx, cancel := context.WithTimeout(ctx, min(courtesyTimeout, c.timeout))
	defer cancel()
	_, _ = c.carrier.send(ctx, m)
}

// start does something besides the callers, unless the conversation is over.
func (c *conversation) start(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		safe.GoIn(&c.tasks, safe.Upstream, do)
	}
}

// close ends what is under way, and then the conversation, within three seconds and as a courtesy: its failure changes nothing. It
// works after ctx has ended, too.
func (c *conversation) close(ctx context.Context) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.tasks.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(closeTimeout, c.timeout))
	defer cancel()
	c.carrier.close(ctx)
}

// lost tells whether an error says that the server does not know the conversation any more.
func lost(err error) bool { return errors.Is(err, errSessionLost) }

// errSessionLost marks an answer that says that the server does not know our MCP session any more.
var errSessionLost = errors.New("the server does not know the session")

func notification(phase Phase, method string, params []byte) outgoing {
	return outgoing{phase: phase, method: method, body: wire.Notification(method, params)}
}
