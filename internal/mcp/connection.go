package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/internal/mcp/wire"
	"patchbay/internal/safe"
)

const (
	closeTimeout      = 2 * time.Second
	bestEffortTimeout = time.Second
)

// connection is one MCP session with a server, from its opening until it is closed or lost. Fields that the
// opening sets do not change afterwards, so that many requests can run at once.
type connection struct {
	era             eraProtocol
	eraName         Era
	transport       transport
	hasSharedStream bool          // the transport has one stream for all replies
	timeout         time.Duration // of one request with its response
	retry           retryPolicy
	lastID          *atomic.Int64
	reportProgress  func(Progress)
	trace           *Trace                                       // nil: not recorded
	traceContext    func(context.Context) (parent, state string) // nil: no trace context
	isProgram       bool                                         // a child process, which has no headers

	clientInfo         []byte
	capabilities       []byte // the client's, an object
	version            string // of MCP
	versionJSON        []byte // version as JSON, in the modern era
	server             ServerInfo
	icons              json.RawMessage // of serverInfo; nil: none
	hasTools           bool            // the server declares tools
	hasLogging         bool            // the server declares logging
	serverCapabilities []byte          // as the server wrote them; nil: none or unreadable
	usesCachedInfo     bool            // the server was not asked: its info comes from Target.Known
	infoTTL            time.Duration   // how long the server's info may be cached; 0: not declared

	ctx        context.Context
	cancel     context.CancelFunc // of ctx
	background sync.WaitGroup     // goroutines that no caller waits for

	streamOnce  sync.Once     // opens the stream of server messages
	streamWait  sync.Once     // waits until it is open
	streamOpen  chan struct{} // closed when it is open, or failed; set by streamOnce
	loggingOnce sync.Once     // asks for log messages

	inFlight sync.WaitGroup // running exchanges

	mu            sync.Mutex // guards the fields below
	deadlines     deadlineTimer
	isClosed      bool
	isReplaced    bool                             // a new connection has replaced this one
	answering     map[[16]byte]int                 // running answers to server requests, by caller key
	subscriptions map[string]*resourceSubscription // by resource URI, in the handshake era
	callbacks     map[int]*requestCallbacks        // by request id

	messageReceivers map[string]func(Message) // by the client's key
}

// exchangeMessage sends one message once and returns the reply, if one is expected.
func (c *connection) exchangeMessage(ctx context.Context, m outgoingMessage) (*wire.Reply, *Error) {
	in, err := c.exchangeWithin(ctx, c.timeout, m)
	return in.reply, err
}

func (c *connection) exchangeWithin(ctx context.Context, timeout time.Duration, m outgoingMessage) (receivedReply, *Error) {
	exchange := newExchangeContext(ctx, time.Now().Add(timeout))
	defer exchange.cancel()
	if err := c.beginExchange(exchange, m.phase); err != nil {
		return receivedReply{}, err
	}
	defer c.endExchange(exchange)
	in, err := c.sendTraced(exchange, m)
	switch {
	case err != nil:
		if exchange.Err() != nil {
			c.cancelRequest(ctx, m)
		}
		return receivedReply{}, err
	case in.reply != nil && in.reply.Error != nil:
		return receivedReply{}, newRPCError(m.phase, in.reply.Error, in.status)
	}
	return in, nil
}

func (c *connection) sendTraced(ctx context.Context, m outgoingMessage) (receivedReply, *Error) {
	if c.trace == nil {
		return c.transport.send(ctx, m)
	}
	var exchange exchangeTrace
	if _, program := c.transport.(*stdioTransport); program {
		exchange = c.trace.beginExchange("", m, c.eraName)
	}
	in, err := c.transport.send(ctx, m)
	exchange.recordReply(in)
	failure := err
	if err == nil && in.reply != nil && in.reply.Error != nil {
		failure = newRPCError(m.phase, in.reply.Error, in.status)
	}
	c.trace.recordOutcome(m, failure)
	return in, err
}

// beginExchange registers an exchange, which then ends with the connection. It fails if the connection is
// closed.
func (c *connection) beginExchange(exchange *exchangeContext, phase Phase) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isReplaced: // closed or not, its successor takes the requests
		return &Error{Phase: phase, Reason: ReasonHTTPStatus, HTTPStatus: http.StatusNotFound, Err: errSessionLost}
	case c.isClosed:
		return newClosedError(phase)
	}
	if c.deadlines.add(exchange) {
		c.deadlines.setTimer(exchange.deadline, c.onDeadline)
	}
	c.inFlight.Add(1)
	return nil
}

func (c *connection) endExchange(exchange *exchangeContext) {
	defer c.inFlight.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.deadlines.exchanges, exchange)
}

func (c *connection) cancelAll() {
	defer safe.Recover(safe.Upstream)
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlines.cancelAll()
}

func (c *connection) onDeadline() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed {
		return
	}
	if next := c.deadlines.expireDue(); !next.IsZero() {
		c.deadlines.setTimer(next, c.onDeadline)
	}
}

// closeWhenIdle closes a lost connection as soon as no exchange is running, or parent ends.
func (c *connection) closeWhenIdle(parent context.Context) {
	c.mu.Lock()
	c.isReplaced = true
	c.mu.Unlock()
	defer context.AfterFunc(parent, c.cancelAll)()
	c.inFlight.Wait()
	c.close(parent)
}

// requestIdempotent sends an idempotent request, with retries, and returns its reply.
func (c *connection) requestIdempotent(ctx context.Context, r rpcRequest) (*wire.Reply, error) {
	var reply *wire.Reply
	r = c.addTraceMeta(ctx, r)
	err := c.retry.do(ctx, func() (failure *Error) {
		m := c.era.newMessage(c, r, c.newID())
		m.idempotent = true
		reply, failure = c.exchangeMessage(ctx, m)
		return failure
	})
	return reply, err
}

func (c *connection) newID() int { return int(c.lastID.Add(1)) }

// cancelRequest sends notifications/cancelled for m in the background. An initialize must not be cancelled.
func (c *connection) cancelRequest(ctx context.Context, m outgoingMessage) {
	if m.id == 0 || m.method == methodInitialize || !c.era.canCancel(c) {
		return
	}
	reason := "cancelled"
	if ctx.Err() == nil {
		reason = "timeout"
	}
	note := newNotification(m.phase, "notifications/cancelled", wire.Object([]wire.Member{
		{Name: "requestId", Value: wire.Number(m.id)}, {Name: "reason", Value: wire.Text(reason)},
	}))
	note.idempotent = true
	c.startBackground(func() { c.sendBestEffort(context.WithoutCancel(ctx), note) })
}

// sendBestEffort sends a message on which nothing depends, within bestEffortTimeout.
func (c *connection) sendBestEffort(ctx context.Context, m outgoingMessage) {
	ctx, cancel := context.WithTimeout(ctx, min(bestEffortTimeout, c.timeout))
	defer cancel()
	_, _ = c.transport.send(ctx, m)
}

func (c *connection) startBackground(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isClosed {
		safe.GoIn(&c.background, safe.Upstream, do)
	}
}

// close cancels running exchanges, then closes the transport, within three seconds. Errors are ignored. It also
// works after ctx has ended.
func (c *connection) close(ctx context.Context) {
	c.mu.Lock()
	c.isClosed = true
	c.mu.Unlock()
	c.cancelAll()
	c.background.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(closeTimeout, c.timeout))
	defer cancel()
	c.transport.close(ctx)
}

func isSessionLost(err error) bool { return errors.Is(err, errSessionLost) }

// errSessionLost marks a response that says that the server no longer knows our MCP session.
var errSessionLost = errors.New("the server does not know the session")

func newNotification(phase Phase, method string, params []byte) outgoingMessage {
	return outgoingMessage{phase: phase, method: method, body: wire.Notification(method, params)}
}
