package calllog

import (
	"sync"

	"patchbay/internal/connectors"
)

// liveBuffer is the number of calls that a reader may lag before it misses some.
const liveBuffer = 256

// callFeed sends a tenant's calls to readers as they begin and end in this process. Writer.mu guards it; the
// zero value works.
type callFeed struct {
	channels map[connectors.TenantID]map[chan connectors.ToolCall]struct{}
}

// send never blocks.
func (l *callFeed) send(t connectors.TenantID, c connectors.ToolCall) {
	for ch := range l.channels[t] {
		select {
		case ch <- c:
		default:
		}
	}
}

// Publish sends a call that ended without this writer to the readers of Subscribe.
func (w *Writer) Publish(t connectors.TenantID, c connectors.ToolCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.callFeed.send(t, c)
}

// Subscribe returns a tenant's calls of this process as they begin and end, until stop is called. A slow reader
// misses some; the rows are complete.
func (w *Writer) Subscribe(t connectors.TenantID) (calls <-chan connectors.ToolCall, stop func()) {
	ch := make(chan connectors.ToolCall, liveBuffer)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.callFeed.channels == nil {
		w.callFeed.channels = map[connectors.TenantID]map[chan connectors.ToolCall]struct{}{}
	}
	if w.callFeed.channels[t] == nil {
		w.callFeed.channels[t] = map[chan connectors.ToolCall]struct{}{}
	}
	w.callFeed.channels[t][ch] = struct{}{}
	return ch, sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.callFeed.channels[t], ch)
		if len(w.callFeed.channels[t]) == 0 {
			delete(w.callFeed.channels, t)
		}
	})
}
