package toolcall

import (
	"sync"

	"patchbay/internal/connectors"
)

// waits are those in this process who wait for something to happen to an approval, or, under its agent's id, to an account. The zero value works.
type waits struct {
	mu sync.Mutex
	of map[connectors.ToolCallID]map[chan struct{}]struct{} // guarded by mu
}

// join hears when something may have happened, until leave is called.
func (w *waits) join(id connectors.ToolCallID) (woken <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[connectors.ToolCallID]map[chan struct{}]struct{}{}
	}
	if w.of[id] == nil {
		w.of[id] = map[chan struct{}]struct{}{}
	}
	w.of[id][c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.of[id], c)
		if len(w.of[id]) == 0 {
			delete(w.of, id)
		}
	}
}

func (w *waits) wake(id connectors.ToolCallID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.of[id] {
		poke(c)
	}
}

func (w *waits) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, all := range w.of {
		for c := range all {
			poke(c)
		}
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
