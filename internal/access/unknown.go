package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

// unknown are texts that were no token a moment ago: who sends one again and again costs the database nothing. A second is short enough for
// whoever copies a token before the database of the other replica has it. The zero value works.
type unknown struct {
	mu       sync.Mutex // guards what follows
	now, old map[[sha256.Size]byte]time.Time
}

const (
	unknownFor  = time.Second
	mostUnknown = 4096 // of each of two generations; the older goes as a whole
)

func (u *unknown) has(sum [sha256.Size]byte, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, there := u.now[sum]
	if !there {
		at, there = u.old[sum]
	}
	return there && now.Sub(at) < unknownFor
}

func (u *unknown) add(sum [sha256.Size]byte, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now == nil || len(u.now) >= mostUnknown {
		u.old, u.now = u.now, map[[sha256.Size]byte]time.Time{}
	}
	u.now[sum] = now
}
