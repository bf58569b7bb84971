package toolcall

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/safe"
)

// uses remembers when the use of a credential was noted last: once a minute is enough. The zero value works.
type uses struct {
	mu   sync.Mutex
	last map[connectors.CredentialID]time.Time // guarded by mu
}

// due tells whether a use is to be noted, and takes it for noted.
func (u *uses) due(id connectors.CredentialID, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.last[id]; ok && now.Sub(last) < time.Minute {
		return false
	}
	if u.last == nil || len(u.last) >= mostBuckets {
		u.last = map[connectors.CredentialID]time.Time{}
	}
	u.last[id] = now
	return true
}

const noteTime = 5 * time.Second

// note has the database know that a server took a credential. It is a note: nobody waits for it, and its failure fails no call.
func (c *Caller) note(t connectors.TenantID, u *credentials.Usable) {
	if u == nil || !c.used.due(u.ID, c.o.Now()) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	safe.GoIn(&c.crew, safe.Task, func() {
		ctx, cancel := context.WithTimeout(c.life, noteTime)
		defer cancel()
		if err := c.o.Credentials.MarkUsed(ctx, t, u); err != nil {
			c.o.Log.WarnContext(ctx, "credential use not noted", slog.Any("error", err))
		}
	})
}
