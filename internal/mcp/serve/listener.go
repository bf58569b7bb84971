package serve

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"patchbay/internal/safe"
)

// listener is somebody who waits for what we have to say. Thousands of them sit there idle: it holds what it needs, and no more.
type listener struct {
	s       *Server
	backend Backend
	filter  Filter
	id      []byte // of the subscription; nil: the handshake era has none
	begin   []byte // the first events
	last    []byte // the event that ends the stream, where we do; nil: it just ends

	mu     sync.Mutex // guards what follows
	out    writer
	stop   context.CancelFunc
	timer  *time.Timer
	closed bool
}

// run serves the listener, here or, where the connection can be taken over, on its own after it has returned.
func (l *listener) run(v *visit) {
	ctx, stop := context.WithCancel(context.WithoutCancel(v.r.Context()))
	l.stop = stop
	leave, failure := l.join(v, stop)
	if failure != nil {
		stop()
		writeError(v.w, l.id, failure)
		return
	}
	if conn := takeOver(v); conn != nil {
		safe.Go(safe.Stream, func() { l.hold(ctx, conn, leave) })
		return
	}
	defer leave()
	defer context.AfterFunc(v.r.Context(), stop)()
	l.listen(ctx, openStream(v))
}

// join takes the listener a place among those of its caller, and of its session: what is told to a session is told to each of its streams.
func (l *listener) join(v *visit, stop func()) (leave func(), _ *RPCError) {
	me, failure := l.s.listeners.join(l.s.opts.Payer(v.who), stop)
	if failure != nil || l.filter.Peer.Session == "" {
		return func() { l.s.listeners.leave(me) }, failure
	}
	mine, failure := l.s.streams.join(v.who+"\x00"+l.filter.Peer.Session, stop)
	if failure != nil {
		l.s.listeners.leave(me)
		return nil, failure
	}
	return func() {
		l.s.streams.leave(mine)
		l.s.listeners.leave(me)
	}, nil
}

// hold serves the listener on a connection of its own.
func (l *listener) hold(ctx context.Context, conn *connection, leave func()) {
	defer leave()
	gone := make(chan struct{})
	safe.Go(safe.Stream, func() {
		defer close(gone)
		defer l.stop()
		conn.await()
	})
	defer func() {
		conn.close() // which ends the wait for the client
		<-gone
	}()
	l.listen(ctx, conn)
}

// listen hears the backend until one of the three has enough.
func (l *listener) listen(ctx context.Context, out writer) {
	defer l.stop()
	if out.write(l.begin) != nil {
		return
	}
	l.begin = nil
	l.mu.Lock()
	l.out = out
	l.timer = time.AfterFunc(l.s.opts.KeepAlive, l.breathe)
	l.mu.Unlock()
	defer l.close()
	if err := l.backend.Listen(ctx, l.filter, l.hear); err != nil && ctx.Err() == nil {
		l.s.opts.Log.WarnContext(ctx, "listening failed", "reason", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(l.last)
}

// close sees to it that nothing is written any more.
func (l *listener) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.timer.Stop()
}

// hear tells the client of a change.
func (l *listener) hear(method string, params json.RawMessage) {
	if !l.filter.passes(method) {
		return
	}
	switch {
	case l.id != nil:
		params = tagged(params, l.id)
	case !isObject(params):
		params = nil
	}
	event := message(method, params)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(event)
}

// breathe writes a comment, and comes back.
func (l *listener) breathe() {
	defer safe.Recover(safe.Timer)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(keepAlive)
	if !l.closed {
		l.timer.Reset(l.s.opts.KeepAlive)
	}
}

// send writes, unless that failed before. mu is held.
func (l *listener) send(event []byte) {
	if l.closed || len(event) == 0 {
		return
	}
	if l.out.write(event) != nil {
		l.closed = true
		l.stop()
	}
}
