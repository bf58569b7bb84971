package toolsync

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// How often Await looks whether a run that somebody else performs has ended.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// Await returns a stored run when it has ended, well or badly, which its row says: it performs a queued one, or waits for whoever
// does. ctx bounds the waiting, not the run: where it ends first, the run is returned as it was last seen, with the context's error.
func (s *Syncer) Await(ctx context.Context, tenant connectors.TenantID, id connectors.SyncRunID) (connectors.SyncRun, error) {
	var seen connectors.SyncRun
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		run, err := s.store.Tenant(tenant).SyncRun(ctx, id)
		switch {
		case ctx.Err() != nil:
			return seen, ctx.Err()
		case err != nil || run.State == connectors.SyncOK || run.State == connectors.SyncFailed:
			return run, err
		}
		seen = run
		if run.State == connectors.SyncQueued {
			if err := s.performQueued(ctx, tenant, run); err != nil {
				return run, err
			}
		}
		select {
		case <-ctx.Done():
			return seen, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// performQueued performs a queued run, unless somebody else was faster, or another run of the connector is under way. That it fails
// is no error: its row says so. It is one where the run did not begin.
func (s *Syncer) performQueued(ctx context.Context, tenant connectors.TenantID, run connectors.SyncRun) error {
	ended := make(chan error, 1)
	safe.Go(safe.Sync, func() { // Stop waits for it, as for every run
		ended <- safe.Try(safe.Sync, func() error {
			_, err := s.Sync(ctx, tenant, Request{Connector: connectors.Ref(run.ConnectorID.String()), Run: &run.ID})
			return err
		})()
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-ended:
		now, lost := s.store.Tenant(tenant).SyncRun(ctx, run.ID)
		f := fault.As(err)
		if err == nil || f.Type == store.TypeSyncRunning || lost == nil && now.State != connectors.SyncQueued {
			return nil
		}
		return err
	}
}
