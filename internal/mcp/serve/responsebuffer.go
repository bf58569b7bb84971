package serve

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// responseBuffer bounds the large responses that clients have not read yet: in all, and per caller. Above the
// bound it aborts the response without progress for the longest time, of the caller with the most bytes.
type responseBuffer struct {
	maxBytes       int64         // of all callers
	maxCallerBytes int64         // of one caller
	stall          time.Duration // how long a client may read nothing

	mu    sync.Mutex // guards the fields below
	size  int64
	byKey map[string]*callerBuffer
}

type callerBuffer struct {
	size      int64
	responses map[*pendingResponse]struct{}
}

type pendingResponse struct {
	buffer   *responseBuffer
	payer    string
	size     int64
	control  *http.ResponseController
	deadline time.Time // for the whole response

	lastProgress time.Time // guarded by responseBuffer.mu, like isRemoved
	isRemoved    bool
}

// errUnread means that a response was aborted before its client had read it.
var errUnread = errors.New("the client does not read its responses")

// add registers a response of size bytes and aborts others if they exceed the bounds.
func (b *responseBuffer) add(payer string, size int, control *http.ResponseController) *pendingResponse {
	now := time.Now()
	p := &pendingResponse{buffer: b, payer: payer, size: int64(size), control: control, lastProgress: now, deadline: now.Add(b.stall + maxTransferTime(int64(size)))}
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.byKey[payer]
	if own == nil {
		own = &callerBuffer{responses: map[*pendingResponse]struct{}{}}
		if b.byKey == nil {
			b.byKey = map[string]*callerBuffer{}
		}
		b.byKey[payer] = own
	}
	for own.size > 0 && own.size+p.size > b.maxCallerBytes {
		b.dropStalest(own)
	}
	for b.size > 0 && b.size+p.size > b.maxBytes {
		b.dropStalest(b.largestCaller())
	}
	own.responses[p] = struct{}{}
	own.size += p.size
	b.byKey[payer] = own // dropStalest may have removed it
	b.size += p.size
	return p
}

// largestCaller returns the caller with the most bytes. The caller holds mu, and the buffer is not empty.
func (b *responseBuffer) largestCaller() (largest *callerBuffer) {
	for _, p := range b.byKey {
		if largest == nil || p.size > largest.size {
			largest = p
		}
	}
	return largest
}

// dropStalest aborts the owner's response without progress for the longest time. The caller holds mu, and owner
// is not empty.
func (b *responseBuffer) dropStalest(owner *callerBuffer) {
	var oldest *pendingResponse
	for p := range owner.responses {
		if oldest == nil || p.lastProgress.Before(oldest.lastProgress) {
			oldest = p
		}
	}
	b.remove(oldest)
	_ = oldest.control.SetWriteDeadline(pastDeadline) // wakes the blocked Write
}

var pastDeadline = time.Unix(1, 0)

// remove removes a response if it is there. The caller holds mu.
func (b *responseBuffer) remove(p *pendingResponse) {
	if p.isRemoved {
		return
	}
	p.isRemoved = true
	b.size -= p.size
	own := b.byKey[p.payer]
	delete(own.responses, p)
	if own.size -= p.size; len(own.responses) == 0 {
		delete(b.byKey, p.payer)
	}
}

// extendDeadline sets the write deadline for the next piece: the stall time, but at most the response's
// deadline.
func (p *pendingResponse) extendDeadline() error {
	now := time.Now()
	p.buffer.mu.Lock()
	defer p.buffer.mu.Unlock()
	if p.isRemoved {
		return errUnread
	}
	p.lastProgress = now
	until := now.Add(p.buffer.stall)
	if p.deadline.Before(until) {
		until = p.deadline
	}
	_ = p.control.SetWriteDeadline(until)
	return nil
}

// release removes the response and clears the deadline, which the connection's next handler may not set.
func (p *pendingResponse) release() {
	p.buffer.mu.Lock()
	defer p.buffer.mu.Unlock()
	p.buffer.remove(p)
	_ = p.control.SetWriteDeadline(time.Time{})
}
