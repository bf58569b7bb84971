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

// credentialUses remembers when each credential's use was last recorded: once a minute. The zero value works.
type credentialUses struct {
	mu   sync.Mutex
	last map[connectors.CredentialID]time.Time // guarded by mu
}

// claimDue reports whether a use is to be recorded, and marks it as recorded.
func (u *credentialUses) claimDue(id connectors.CredentialID, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.last[id]; ok && now.Sub(last) < time.Minute {
		return false
	}
	if u.last == nil || len(u.last) >= maxBuckets {
		u.last = map[connectors.CredentialID]time.Time{}
	}
	u.last[id] = now
	return true
}

const noteTimeout = 5 * time.Second

// recordCredentialUse stores in the background that a server accepted a credential. A failure is only logged.
func (c *Executor) recordCredentialUse(t connectors.TenantID, u *credentials.Credential) {
	if u == nil || !c.credentialUses.claimDue(u.ID, c.o.Now()) {
		return
	}
	c.running.startTask(safe.Task, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, noteTimeout)
		defer cancel()
		if err := c.o.Credentials.MarkUsed(ctx, t, u); err != nil {
			c.o.Log.WarnContext(ctx, "credential use not noted", slog.Any("error", err))
		}
	})
}
