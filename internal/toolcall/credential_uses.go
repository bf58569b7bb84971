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
func (cs *callSender) recordCredentialUse(t connectors.TenantID, u *credentials.Credential) {
	if u == nil || !cs.credentialUses.claimDue(u.ID, cs.o.Now()) {
		return
	}
	cs.running.startTask(safe.Task, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, noteTimeout)
		defer cancel()
		if err := cs.o.Credentials.MarkUsed(ctx, t, u); err != nil {
			cs.o.Log.WarnContext(ctx, "credential use not recorded", slog.Any("error", err))
		}
	})
}
