package toolsync

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// SyncNow syncs a connector now, or waits for its active run in any process, for callers that must not act on
// an old list. It returns when a new list is stored. ctx bounds the waiting, not the run.
func (s *Syncer) SyncNow(ctx context.Context, tenant connectors.TenantID, id connectors.ConnectorID) error {
	requestedAt := time.Now()
	for pause := minPollInterval; ; pause = min(2*pause, maxPollInterval) {
		err := s.syncOnce(ctx, tenant, id)
		if err == nil || fault.As(err).Type != store.TypeSyncRunning {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		syncedAt, err := s.store.Tenant(tenant).Tools().SyncedAt(ctx, id)
		if err != nil || syncedAt.After(requestedAt) {
			return err
		}
	}
}

// syncOnce performs a run, which continues when ctx ends first.
func (s *Syncer) syncOnce(ctx context.Context, tenant connectors.TenantID, id connectors.ConnectorID) error {
	done := make(chan error, 1)
	safe.Go(safe.Sync, func() { // Stop waits for it
		done <- safe.Try(safe.Sync, func() error {
			_, err := s.Sync(ctx, tenant, Request{Connector: connectors.Ref(id.String()), Trigger: connectors.TriggerSchedule})
			return err
		})()
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		return err
	}
}
