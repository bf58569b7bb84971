package mcp

import (
	"context"
	"sync"

	"patchbay/internal/mcp/wire"
)

// switchboard connects the replies that arrive on one shared stream with the requests that wait for them. It is for the carriers
// whose server answers on such a stream: the goroutine that reads it calls take for each text and fail at its end.
type switchboard struct {
	inbox inbox // nil: nobody listens

	mu      sync.Mutex // guards what follows
	waiting map[int]chan []byte
	failed  *Error
	gone    chan struct{} // closed with failed; nil: nobody waits for that
}

// expect says that a request is about to be sent. The channel gets the message that answers it; it is closed where the stream ends
// before, and failure tells why.
func (b *switchboard) expect(id int) <-chan []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := make(chan []byte, 1)
	if b.failed != nil {
		close(c)
		return c
	}
	if b.waiting == nil {
		b.waiting = map[int]chan []byte{}
	}
	b.waiting[id] = c
	return c
}

// forget says that nobody waits for the reply any more.
func (b *switchboard) forget(id int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, id)
}

// await returns the reply to m, for which expect was called before it was sent.
func (b *switchboard) await(ctx context.Context, m outgoing, c <-chan []byte) (incoming, *Error) {
	defer b.forget(m.id)
	select {
	case <-ctx.Done():
		return incoming{}, explain(ctx, m.phase, ctx.Err())
	case text, ok := <-c:
		if !ok {
			return incoming{}, b.failure(m.phase)
		}
		reply, err := wire.Finder{ID: m.id, Paged: m.paged}.Find(text)
		if err != nil {
			return incoming{}, explain(ctx, m.phase, errBroken)
		}
		return incoming{reply: reply}, nil
	}
}

// take hands the messages of one text on: replies to who waits for them, everything else to the inbox. The error says that the text
// is no JSON; what was whole before the fault was handed on.
func (b *switchboard) take(text []byte) error {
	return wire.Each(text, func(m wire.Message) {
		if m.Method == nil {
			b.answer(m)
			return
		}
		if b.inbox != nil {
			b.inbox(0, m)
		}
	})
}

func (b *switchboard) answer(m wire.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, ok := m.Number()
	if !ok && len(b.waiting) == 1 && isNamelessError(m) { // it answers a request that could not be read
		for only := range b.waiting {
			id = only
		}
	}
	if c := b.waiting[id]; c != nil {
		c <- m.Raw
		delete(b.waiting, id)
	}
}

// isNamelessError tells whether a message without an id is an error of JSON-RPC, and not a line of somebody's log.
func isNamelessError(m wire.Message) bool {
	if len(m.ID) > 0 && string(m.ID) != "null" {
		return false // it answers somebody else
	}
	members, ok := wire.Members(m.Raw)
	return ok && has(members, "error") && has(members, "jsonrpc")
}

// fail ends every wait, now and later, with this error in the phase of the request. The first one counts.
func (b *switchboard) fail(err *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed != nil {
		return
	}
	b.failed = err
	if b.gone != nil {
		close(b.gone)
	}
	for _, c := range b.waiting {
		close(c)
	}
	b.waiting = nil
}

// ended is closed when the stream has ended.
func (b *switchboard) ended() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone == nil {
		b.gone = make(chan struct{})
		if b.failed != nil {
			close(b.gone)
		}
	}
	return b.gone
}

// over is failure where the stream has ended; nil: it has not.
func (b *switchboard) over(phase Phase) *Error {
	b.mu.Lock()
	ended := b.failed != nil
	b.mu.Unlock()
	if !ended {
		return nil
	}
	return b.failure(phase)
}

// failure is why the stream ended, as a request of that phase sees it.
func (b *switchboard) failure(phase Phase) *Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := *b.failed
	if err.Phase != PhaseConnect {
		err.Phase = phase
	}
	return &err
}
