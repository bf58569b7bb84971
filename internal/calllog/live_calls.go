package calllog

import (
	"sync"

	"patchbay/internal/connectors"
)

// liveBuffer is the number of calls that a reader may lag before it misses some.
const liveBuffer = 256

// liveCalls sends a tenant's calls to readers as they begin and end in this process. Writer.mu guards it; the
// zero value works.
type liveCalls struct {
	channels map[connectors.TenantID]map[chan connectors.ToolCall]struct{}
}

// send never blocks.
func (l *liveCalls) send(t connectors.TenantID, c connectors.ToolCall) {
	for ch := range l.channels[t] {
		select {
		case ch <- c:
		default:
		}
	}
}

// Tell sends a call that ended without this writer to the readers of Live.
func (w *Writer) Tell(t connectors.TenantID, c connectors.ToolCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.liveFeed.send(t, c)
}

// Live returns a tenant's calls of this process as they begin and end, until stop is called. A slow reader
// misses some; the rows are complete.
func (w *Writer) Live(t connectors.TenantID) (calls <-chan connectors.ToolCall, stop func()) {
	ch := make(chan connectors.ToolCall, liveBuffer)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.liveFeed.channels == nil {
		w.liveFeed.channels = map[connectors.TenantID]map[chan connectors.ToolCall]struct{}{}
	}
	if w.liveFeed.channels[t] == nil {
		w.liveFeed.channels[t] = map[chan connectors.ToolCall]struct{}{}
	}
	w.liveFeed.channels[t][ch] = struct{}{}
	return ch, sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.liveFeed.channels[t], ch)
		if len(w.liveFeed.channels[t]) == 0 {
			delete(w.liveFeed.channels, t)
		}
	})
}
