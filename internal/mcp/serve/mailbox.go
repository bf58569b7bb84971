package serve

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"sync"
	"time"
)

// mailboxName derives the unguessable name of a mailbox from its kind, caller, session and key.
func mailboxName(kind, caller, session, thing string) string {
	var space [256]byte
	text := append(space[:0], kind...)
	for _, part := range [...]string{caller, session, thing} {
		text = append(append(text, 0), part...)
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// Kinds of mailboxes.
const (
	mailboxResponse = "answer" // a client's response; keyed by our request id
	boxCancel       = "cancel" // a cancellation; keyed by the client's request id
	boxEnded        = "ended"  // the end of a session
	boxStream       = "stream" // events of a broken stream; keyed by the stream id
	boxLevel        = "level"  // the minimum level of log messages that a client set
	// See relay.go.
	boxOffers    = "offers"    // ids of requests for the session's stream of a GET
	boxRelayed   = "relayed"   // one of these requests; keyed by its id
	boxConfirmed = "confirmed" // the stream that a request is on; keyed by the request's id
	boxCheck     = "check"     // ids of requests for which a process checks such a stream; keyed by the stream's token
)

type mailboxes struct {
	mu      sync.Mutex // guards waiters
	waiters map[string]*mailboxWaiter
}

// mailboxWaiter is called with an arriving message; nil: it must be fetched. The call must not block.
type mailboxWaiter struct{ onMessage func(message []byte) }

// addWaiter calls onMessage for what arrives in the mailbox, until removeWaiter.
func (b *mailboxes) addWaiter(box string, onMessage func(message []byte)) *mailboxWaiter {
	w := &mailboxWaiter{onMessage}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiters == nil {
		b.waiters = map[string]*mailboxWaiter{}
	}
	b.waiters[box] = w
	return w
}

// removeWaiter removes the waiter unless a newer one replaced it.
func (b *mailboxes) removeWaiter(box string, w *mailboxWaiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiters[box] == w {
		delete(b.waiters, box)
	}
}

// deliver calls the mailbox's waiter and reports whether there was one.
func (b *mailboxes) deliver(box string, message []byte) bool {
	b.mu.Lock()
	w := b.waiters[box]
	b.mu.Unlock()
	if w != nil {
		w.onMessage(message)
	}
	return w != nil
}

// WaitingBoxes returns the mailboxes that requests of this process wait for.
func (s *Server) WaitingBoxes() []string {
	s.mailboxes.mu.Lock()
	defer s.mailboxes.mu.Unlock()
	return slices.Collect(maps.Keys(s.mailboxes.waiters))
}

// OnMailboxMessage reports that another process has posted to a mailbox. It does not block.
func (s *Server) OnMailboxMessage(box string) {
	if !s.mailboxes.deliver(box, nil) {
		s.postedBoxes.Put(box, true) // it may be the end or the level of a session
	}
}

func (s *Server) postMessage(caller, box string, message []byte, retention time.Duration) {
	if s.opts.Router == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), routerTimeout)
	defer stop()
	if err := s.opts.Router.Post(ctx, caller, box, message, retention); err != nil {
		s.opts.Log.ErrorContext(ctx, "message for another process lost", "reason", err)
	}
}

func (s *Server) fetchMessages(ctx context.Context, caller, box string) [][]byte {
	if s.opts.Router == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, routerTimeout)
	defer stop()
	messages, err := s.opts.Router.Fetch(ctx, caller, box)
	if err != nil && ctx.Err() == nil {
		s.opts.Log.ErrorContext(ctx, "messages from other processes not read", "reason", err)
	}
	return messages
}

const (
	routerTimeout  = 10 * time.Second // for one post or fetch
	briefRetention = time.Minute      // of messages with a waiter
)
