package store

import (
	"sync"
	"time"

	"patchbay/internal/safe"
)

// belief is whether notices are believed to come in. It tells when that changes.
type belief struct {
	tell func(bool)

	mu  sync.Mutex // guards now
	now bool
}

func (b *belief) set(now bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now != now {
		b.now = now
		b.tell(now)
	}
}

// unless has the belief end after a while, unless what it is based on is seen before.
func (b *belief) unless(patience time.Duration) (seen func()) {
	doubt := time.AfterFunc(patience, safe.Func(safe.Timer, func() { b.set(false) }))
	return func() {
		doubt.Stop()
		b.set(true) // and once more next time, should the doubt come at this very moment
	}
}
