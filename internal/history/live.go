package history

import (
	"sync"

	"patchbay/internal/connectors"
)

// liveBuffer is how far a listener may be behind before it misses something.
const liveBuffer = 256

// listeners hear of a tenant's calls as they begin and end in this process. The writer's mu guards it; the zero value works.
type listeners struct {
	of map[connectors.TenantID]map[chan connectors.ToolCall]struct{}
}

// tell does not wait for anybody.
func (l *listeners) tell(t connectors.TenantID, c connectors.ToolCall) {
	for hear := range l.of[t] {
		select {
		case hear <- c:
		default:
		}
	}
}

// Tell tells who listens of a call whose end was written by itself, and not with this history.
func (w *Writer) Tell(t connectors.TenantID, c connectors.ToolCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live.tell(t, c)
}

// Live tells of a tenant's calls of this process as they begin and end, until stop is called. Who is slow misses some: the rows have
// them all.
func (w *Writer) Live(t connectors.TenantID) (calls <-chan connectors.ToolCall, stop func()) {
	hear := make(chan connectors.ToolCall, liveBuffer)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live.of == nil {
		w.live.of = map[connectors.TenantID]map[chan connectors.ToolCall]struct{}{}
	}
	if w.live.of[t] == nil {
		w.live.of[t] = map[chan connectors.ToolCall]struct{}{}
	}
	w.live.of[t][hear] = struct{}{}
	return hear, sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.live.of[t], hear)
		if len(w.live.of[t]) == 0 {
			delete(w.live.of, t)
		}
	})
}
