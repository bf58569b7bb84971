package serve

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"patchbay/internal/safe"
)

// listener is one client's stream of notifications. Thousands are idle at a time, so it holds little memory.
type listener struct {
	s           *Server
	backend     Backend
	caller      string
	filter      Filter
	id          []byte // of the subscription; nil in the handshake era
	firstEvents []byte
	lastEvent   []byte // sent when this side ends the stream; nil: none

	done <-chan struct{} // closed when the stream ends

	mu     sync.Mutex // guards the fields below
	out    eventWriter
	stop   context.CancelFunc
	timer  *time.Timer
	closed bool

	relayToken  string // names the stream to other processes that have a request on it; empty: none had one
	relayWaiter *mailboxWaiter
}

// run serves the listener: on a goroutine of its own if the connection can be hijacked, else here.
func (l *listener) run(v *httpRequest) {
	ctx, stop := context.WithCancel(context.WithoutCancel(v.r.Context()))
	l.stop, l.done = stop, ctx.Done()
	unregister, failure := l.register(v, stop)
	if failure != nil {
		stop()
		writeError(v.w, l.id, failure)
		return
	}
	if conn := hijackConn(v); conn != nil {
		safe.Go(safe.Stream, func() { l.serveHijacked(ctx, conn, unregister) })
		return
	}
	defer unregister()
	defer context.AfterFunc(v.r.Context(), stop)()
	l.forwardChanges(ctx, openEventStream(v))
}

// register counts the listener for its caller and its session. Each stream of a session gets every
// notification, but for those of isSentOnce.
func (l *listener) register(v *httpRequest, stop func()) (unregister func(), _ *RPCError) {
	entry, failure := l.s.listeners.add(l.s.opts.BudgetKey(v.caller), stop)
	if failure != nil || l.filter.Peer.Session == "" {
		return func() { l.s.listeners.remove(entry) }, failure
	}
	sessionEntry, failure := l.s.sessionStreams.add(sessionListenerKey(v.caller, l.filter.Peer.Session), stop)
	if failure != nil {
		l.s.listeners.remove(entry)
		return nil, failure
	}
	return func() {
		l.s.sessionStreams.remove(sessionEntry)
		l.s.listeners.remove(entry)
	}, nil
}

func (l *listener) serveHijacked(ctx context.Context, conn *hijackedConn, unregister func()) {
	defer unregister()
	gone := make(chan struct{})
	safe.Go(safe.Stream, func() {
		defer close(gone)
		defer l.stop()
		conn.waitClosed()
	})
	defer func() {
		conn.close() // which ends waitClosed
		<-gone
	}()
	l.forwardChanges(ctx, conn)
}

// forwardChanges forwards the backend's notifications until the backend, the client or ctx ends.
func (l *listener) forwardChanges(ctx context.Context, out eventWriter) {
	defer l.stop()
	removeListener, ok := l.startWriting(out)
	defer l.unwatchChecks()
	defer removeListener()
	if !ok {
		return
	}
	defer l.close()
	if err := l.backend.Listen(ctx, l.filter, l.notifyClient); err != nil && ctx.Err() == nil {
		l.s.opts.Log.WarnContext(ctx, "listening failed", "reason", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeEvent(l.lastEvent)
}

// startWriting writes the first events, lets messages through, and starts the keep-alive. A client that has the first events
// is a listener of its session already. ok: the client is there.
func (l *listener) startWriting(out eventWriter) (removeListener func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	removeListener = l.s.sessionListeners.addListener(l, l.s.watchOffers)
	if out.write(l.firstEvents) != nil {
		l.closed = true
		return removeListener, false
	}
	l.firstEvents, l.out = nil, out
	l.timer = time.AfterFunc(l.s.opts.KeepAlive, l.writeKeepAlive)
	return removeListener, true
}

// close stops all further writes.
func (l *listener) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.timer.Stop()
}

func (l *listener) notifyClient(method string, params json.RawMessage) {
	if !l.filter.allowsMethod(method) {
		return
	}
	switch {
	case l.id != nil:
		params = withSubscriptionID(params, l.id)
	case !isObject(params):
		params = nil
	}
	event := notificationEvent(method, params)
	if isSentOnce(method) && !l.filter.Peer.Modern {
		if newest := l.s.sessionListeners.findListener(l.caller, l.filter.Peer.Session); newest != nil {
			l = newest
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeEvent(event)
}

// NotifySession sends a notification on the stream of a session's GET, and reports whether one is open in this process.
func (s *Server) NotifySession(caller, session, method string, params json.RawMessage) bool {
	l := s.sessionListeners.findListener(caller, session)
	if l != nil {
		l.notifyClient(method, params)
	}
	return l != nil
}

// isSentOnce reports whether a notification goes on one stream of a session: the newest. Those of changed lists go on each,
// because a client that misses one reads an old list.
func isSentOnce(method string) bool {
	return method == logMessage || method == "notifications/tasks/status"
}

// writeKeepAlive writes an SSE comment and rearms the timer.
func (l *listener) writeKeepAlive() {
	defer safe.Recover(safe.Timer)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeEvent(keepAlive)
	if !l.closed {
		l.timer.Reset(l.s.opts.KeepAlive)
	}
}

// writeEvent writes an event unless an earlier write failed. The caller holds mu.
func (l *listener) writeEvent(event []byte) {
	if l.closed || len(event) == 0 {
		return
	}
	if l.out.write(event) != nil {
		l.closed = true
		l.stop()
	}
}
