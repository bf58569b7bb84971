package toolsync

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Refresh has a connector's tools read now: by a run of its own, or by one that is under way, here or in another process. It is for who
// may not act on an old list, and returns when there is a new one. ctx bounds the waiting, not the run.
func (s *Syncer) Refresh(ctx context.Context, tenant connectors.TenantID, id connectors.ConnectorID) error {
	asked := time.Now()
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		err := s.runOnce(ctx, tenant, id)
		if err == nil || fault.As(err).Type != store.TypeSyncRunning {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		at, err := s.store.Tenant(tenant).ToolsSyncedAt(ctx, id)
		if err != nil || at.After(asked) {
			return err
		}
	}
}

// runOnce performs a run, which goes on where ctx ends before it.
func (s *Syncer) runOnce(ctx context.Context, tenant connectors.TenantID, id connectors.ConnectorID) error {
	ended := make(chan error, 1)
	safe.Go(safe.Sync, func() { // Stop waits for it, as for every run
		ended <- safe.Try(safe.Sync, func() error {
			_, err := s.Sync(ctx, tenant, Request{Connector: connectors.Ref(id.String()), Trigger: connectors.TriggerSchedule})
			return err
		})()
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-ended:
		return err
	}
}
