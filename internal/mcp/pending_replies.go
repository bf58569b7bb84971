package mcp

import (
	"context"
	"sync"

	"patchbay/internal/mcp/wire"
)

// pendingReplies matches the replies on a shared stream with the requests that wait for them. The goroutine
// that reads the stream calls deliverText for each message and failAll at the end.
type pendingReplies struct {
	onMessage messageHandler // nil: server messages are dropped

	mu         sync.Mutex // guards the fields below
	channels   map[int]chan []byte
	closeError *Error
	closed     chan struct{} // closed with closeError; nil: not needed yet
}

// expectReply registers a request that is about to be sent. The channel receives its reply. It is closed if the
// stream ends first, and failureFor returns why.
func (b *pendingReplies) expectReply(id int) <-chan []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := make(chan []byte, 1)
	if b.closeError != nil {
		close(c)
		return c
	}
	if b.channels == nil {
		b.channels = map[int]chan []byte{}
	}
	b.channels[id] = c
	return c
}

func (b *pendingReplies) dropRequest(id int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.channels, id)
}

// awaitReply returns the reply to m, which expectReply registered.
func (b *pendingReplies) awaitReply(ctx context.Context, m outgoingMessage, c <-chan []byte) (receivedReply, *Error) {
	defer b.dropRequest(m.id)
	select {
	case <-ctx.Done():
		return receivedReply{}, classifyError(ctx, m.phase, ctx.Err())
	case text, ok := <-c:
		if !ok {
			return receivedReply{}, b.failureFor(m.phase)
		}
		reply, err := wire.Finder{ID: m.id, Paged: m.paged}.Find(text)
		if err != nil {
			return receivedReply{}, classifyError(ctx, m.phase, errBroken)
		}
		return receivedReply{reply: reply}, nil
	}
}

// deliverText routes the messages of one JSON text: replies to their requests, all others to onMessage. It
// fails on invalid JSON; messages before the fault are delivered.
func (b *pendingReplies) deliverText(text []byte) error {
	return wire.Each(text, func(m wire.Message) {
		if m.Method == nil {
			b.deliverReply(m)
			return
		}
		if b.onMessage != nil {
			b.onMessage(0, m)
		}
	})
}

func (b *pendingReplies) deliverReply(m wire.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, ok := m.Number()
	if !ok && len(b.channels) == 1 && isErrorWithoutID(m) { // answers a request that could not be parsed
		for onlyID := range b.channels {
			id = onlyID
		}
	}
	if c := b.channels[id]; c != nil {
		c <- m.Raw
		delete(b.channels, id)
	}
}

// isErrorWithoutID reports whether m is a JSON-RPC error without an id, and not a log line that is JSON.
func isErrorWithoutID(m wire.Message) bool {
	if len(m.ID) > 0 && string(m.ID) != "null" {
		return false // answers another request
	}
	members, ok := wire.Members(m.Raw)
	return ok && hasMember(members, "error") && hasMember(members, "jsonrpc")
}

// failAll fails all waiting and later requests with err, in their own phase. The first call counts.
func (b *pendingReplies) failAll(err *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closeError != nil {
		return
	}
	b.closeError = err
	if b.closed != nil {
		close(b.closed)
	}
	for _, c := range b.channels {
		close(c)
	}
	b.channels = nil
}

// closedChannel returns a channel that is closed when the stream has ended.
func (b *pendingReplies) closedChannel() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed == nil {
		b.closed = make(chan struct{})
		if b.closeError != nil {
			close(b.closed)
		}
	}
	return b.closed
}

// checkOpen returns failureFor(phase) if the stream has ended; otherwise nil.
func (b *pendingReplies) checkOpen(phase Phase) *Error {
	b.mu.Lock()
	isClosed := b.closeError != nil
	b.mu.Unlock()
	if !isClosed {
		return nil
	}
	return b.failureFor(phase)
}

// failureFor returns why the stream ended, in a request's phase.
func (b *pendingReplies) failureFor(phase Phase) *Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := *b.closeError
	if err.Phase != PhaseConnect {
		err.Phase = phase
	}
	return &err
}
