package agentview

import (
	"crypto/sha256"
	"sync"
	"time"
)

// unknownTokens remembers invalid tokens, so that repeating one costs no query. The TTL of a second is short
// enough for a token that has not reached this replica yet. The zero value is ready to use.
type unknownTokens struct {
	mu                sync.Mutex // guards the fields below
	current, previous map[[sha256.Size]byte]time.Time
}

const (
	unknownTTL       = time.Second
	maxUnknownTokens = 4096 // per generation; the older one is dropped as a whole
)

func (u *unknownTokens) has(sum [sha256.Size]byte, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	seenAt, ok := u.current[sum]
	if !ok {
		seenAt, ok = u.previous[sum]
	}
	return ok && now.Sub(seenAt) < unknownTTL
}

func (u *unknownTokens) add(sum [sha256.Size]byte, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.current == nil || len(u.current) >= maxUnknownTokens {
		u.previous, u.current = u.current, map[[sha256.Size]byte]time.Time{}
	}
	u.current[sum] = now
}
