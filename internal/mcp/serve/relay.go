package serve

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"patchbay/internal/safe"
)

// The stream of a session's GET may be open in another process. A request for it then travels as messages:
//
//	process with the call                     process with the stream
//	request      ──► boxRelayed of the id
//	id           ──► boxOffers of the session ──► takes both, and writes the request
//	                 boxConfirmed of the id   ◄── token of the stream
//	id           ──► boxCheck of the token    ──► confirms while the stream is open, again and again
//
// If no process takes the request soon, it is taken back and goes on the stream of the reply. Taking is exclusive, so that
// the request is on one stream. The client's response arrives as any other ([exchange.handleResponse]).

const (
	offerTimeout   = time.Second      // for another process to take a request
	confirmTimeout = 5 * time.Second  // for a process to confirm what it took, or that its stream is open
	relayRetention = time.Minute      // of the messages
	relayCheck     = 10 * time.Second // between two checks of a stream: Options.RelayCheck
)

// requestRelay is one request on a stream in another process.
type requestRelay struct {
	x        *exchange
	id       string
	request  []byte
	confirms chan struct{} // signals that a confirmation may be there
	lost     chan struct{} // closed when the request is on no stream of another process
}

// startRelay offers a request to the other processes. lost is closed when none has sent it, or its stream has ended. stop ends
// the relay, and waits for it.
func (x *exchange) startRelay(ctx context.Context, id string, request []byte) (lost <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	r := &requestRelay{x: x, id: id, request: request, confirms: make(chan struct{}, 1), lost: make(chan struct{})}
	ended := make(chan struct{})
	safe.Go(safe.Message, func() {
		defer close(ended)
		defer close(r.lost) // after a panic, too
		r.relayRequest(ctx)
	})
	return r.lost, func() {
		cancel()
		<-ended
	}
}

func (r *requestRelay) mailboxFor(kind, thing string) string {
	return mailboxName(kind, r.x.caller, r.x.peer.Session, thing)
}

// relayRequest keeps the request on a stream of another process. It returns when there is none.
func (r *requestRelay) relayRequest(ctx context.Context) {
	box := r.mailboxFor(boxConfirmed, r.id)
	waiter := r.x.s.mailboxes.addWaiter(box, func([]byte) { trySignal(r.confirms) })
	defer r.x.s.mailboxes.removeWaiter(box, waiter)
	for {
		token := r.offerRequest(ctx)
		if token == "" {
			return
		}
		r.awaitStreamEnd(ctx, token)
		if ctx.Err() != nil {
			return
		}
	}
}

// offerRequest returns the token of the stream on which another process has sent the request; empty: on none.
func (r *requestRelay) offerRequest(ctx context.Context) (token string) {
	relayed := r.mailboxFor(boxRelayed, r.id)
	if r.x.postRelay(ctx, relayed, r.request) != nil {
		return ""
	}
	if r.x.postRelay(ctx, r.mailboxFor(boxOffers, ""), []byte(r.id)) == nil {
		if token, ok := r.awaitConfirmation(ctx, offerTimeout); ok {
			return token
		}
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), routerTimeout)
	defer cancel()
	if len(r.x.s.takeMessages(back, r.x.caller, relayed)) > 0 {
		return ""
	}
	token, _ = r.awaitConfirmation(ctx, confirmTimeout)
	return token
}

// awaitStreamEnd returns when the stream is not confirmed any more, or ctx ends.
func (r *requestRelay) awaitStreamEnd(ctx context.Context, token string) {
	tick := time.NewTicker(r.x.s.opts.RelayCheck)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if r.x.postRelay(ctx, r.mailboxFor(boxCheck, token), []byte(r.id)) != nil {
			continue // the database is away: no process can take the request
		}
		if _, ok := r.awaitConfirmation(ctx, confirmTimeout); !ok {
			return
		}
	}
}

// awaitConfirmation returns the token in a confirmation; empty: the stream has broken. ok: one came in time.
func (r *requestRelay) awaitConfirmation(ctx context.Context, timeout time.Duration) (token string, ok bool) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case <-r.confirms:
			for _, message := range r.x.s.takeMessages(ctx, r.x.caller, r.mailboxFor(boxConfirmed, r.id)) {
				token, ok = string(message), true
			}
			if ok {
				return token, true
			}
		case <-timer.C:
			return "", false
		case <-ctx.Done():
			return "", false
		}
	}
}

func (x *exchange) postRelay(ctx context.Context, box string, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, routerTimeout)
	defer cancel()
	return x.s.opts.Router.Post(ctx, x.caller, box, message, relayRetention)
}

func (s *Server) takeMessages(ctx context.Context, caller, box string) [][]byte {
	ctx, cancel := context.WithTimeout(ctx, routerTimeout)
	defer cancel()
	messages, err := s.opts.Router.Take(ctx, caller, box)
	if err != nil && ctx.Err() == nil {
		s.opts.Log.ErrorContext(ctx, "messages from other processes not read", "reason", err)
	}
	return messages
}

// watchOffers lets other processes send requests on the streams of a session, until stop.
func (s *Server) watchOffers(caller, session string) (stop func()) {
	if s.opts.Router == nil {
		return func() {}
	}
	box := mailboxName(boxOffers, caller, session, "")
	waiter := s.mailboxes.addWaiter(box, func([]byte) {
		s.relays.startTask(func() { s.acceptOffers(caller, session, box) })
	})
	return func() { s.mailboxes.removeWaiter(box, waiter) }
}

// acceptOffers writes the offered requests on the newest stream of the session, and confirms them.
func (s *Server) acceptOffers(caller, session, box string) {
	ctx, cancel := context.WithTimeout(context.Background(), routerTimeout)
	defer cancel()
	for _, id := range s.takeMessages(ctx, caller, box) {
		l := s.sessionListeners.findListener(caller, session)
		if l == nil {
			return
		}
		for _, request := range s.takeMessages(ctx, caller, mailboxName(boxRelayed, caller, session, string(id))) {
			token := ""
			if _, ok := l.sendRequest(request); ok {
				token = l.watchChecks()
			}
			s.postMessage(caller, mailboxName(boxConfirmed, caller, session, string(id)), []byte(token), relayRetention)
		}
	}
}

// watchChecks returns the token by which another process asks whether the stream is open; empty: it has ended.
func (l *listener) watchChecks() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ""
	}
	if l.relayToken == "" {
		l.relayToken = rand.Text()
		box := mailboxName(boxCheck, l.caller, l.filter.Peer.Session, l.relayToken)
		l.relayWaiter = l.s.mailboxes.addWaiter(box, func([]byte) {
			l.s.relays.startTask(func() { l.confirmChecks(box) })
		})
	}
	return l.relayToken
}

// confirmChecks confirms that the stream is open.
func (l *listener) confirmChecks(box string) {
	ctx, cancel := context.WithTimeout(context.Background(), routerTimeout)
	defer cancel()
	for _, id := range l.s.takeMessages(ctx, l.caller, box) {
		l.s.postMessage(l.caller, mailboxName(boxConfirmed, l.caller, l.filter.Peer.Session, string(id)), []byte(l.relayToken), relayRetention)
	}
}

// unwatchChecks ends the confirmations: the stream has ended.
func (l *listener) unwatchChecks() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.relayWaiter != nil {
		l.s.mailboxes.removeWaiter(mailboxName(boxCheck, l.caller, l.filter.Peer.Session, l.relayToken), l.relayWaiter)
	}
}

// taskGroup are goroutines of a server, which its Stop waits for. Each is bounded by timeouts. The zero value works.
type taskGroup struct {
	mu      sync.Mutex // guards stopped; held for Add
	stopped bool
	tasks   sync.WaitGroup
}

// startTask runs do, unless the server has stopped.
func (g *taskGroup) startTask(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.stopped {
		safe.GoIn(&g.tasks, safe.Task, do)
	}
}

// stopTasks refuses new tasks, and waits for the others.
func (g *taskGroup) stopTasks() {
	g.mu.Lock()
	g.stopped = true
	g.mu.Unlock()
	g.tasks.Wait()
}
