package toolcall

import (
	"sync"

	"patchbay/internal/connectors"
)

// waiterSet notifies requests of this process about an approval or, under the agent's id, an account. The zero
// value works.
type waiterSet struct {
	mu       sync.Mutex
	channels map[connectors.ToolCallID]map[chan struct{}]struct{} // guarded by mu
}

// subscribe returns a channel that is signalled on changes, until unsubscribe.
func (w *waiterSet) subscribe(id connectors.ToolCallID) (woken <-chan struct{}, unsubscribe func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.channels == nil {
		w.channels = map[connectors.ToolCallID]map[chan struct{}]struct{}{}
	}
	if w.channels[id] == nil {
		w.channels[id] = map[chan struct{}]struct{}{}
	}
	w.channels[id][c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.channels[id], c)
		if len(w.channels[id]) == 0 {
			delete(w.channels, id)
		}
	}
}

func (w *waiterSet) wake(id connectors.ToolCallID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.channels[id] {
		signalChannel(c)
	}
}

func (w *waiterSet) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, channels := range w.channels {
		for c := range channels {
			signalChannel(c)
		}
	}
}

func signalChannel(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
