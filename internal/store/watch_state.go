package store

import (
	"sync"
	"time"

	"patchbay/internal/safe"
)

// connectedState tracks whether notifications arrive, and calls notify when that changes.
type connectedState struct {
	notify func(bool)

	mu          sync.Mutex // guards isConnected
	isConnected bool
}

func (b *connectedState) set(now bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isConnected != now {
		b.isConnected = now
		b.notify(now)
	}
}

// expireUnlessSeen sets the state to disconnected after patience, unless seen is called before.
func (b *connectedState) expireUnlessSeen(patience time.Duration) (seen func()) {
	doubt := time.AfterFunc(patience, safe.Func(safe.Timer, func() { b.set(false) }))
	return func() {
		doubt.Stop()
		b.set(true) // also if the timer fires at this moment
	}
}
