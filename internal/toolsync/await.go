package toolsync

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Intervals between two reads of a run that another process performs.
const (
	minPollInterval = 20 * time.Millisecond
	maxPollInterval = 250 * time.Millisecond
)

// Await performs a queued run, or waits for the process that performs it, and returns the finished row, failed
// or not. ctx bounds the waiting, not the run: when it ends first, Await returns the last row that it read and
// the context's error.
func (s *Syncer) Await(ctx context.Context, tenant connectors.TenantID, id connectors.SyncRunID) (connectors.SyncRun, error) {
	var last connectors.SyncRun
	for pause := minPollInterval; ; pause = min(2*pause, maxPollInterval) {
		run, err := s.store.Tenant(tenant).Syncs().Get(ctx, id)
		switch {
		case ctx.Err() != nil:
			return last, ctx.Err()
		case err != nil || run.State.Ended():
			return run, err
		}
		last = run
		if run.State == connectors.SyncQueued {
			if err := s.performQueued(ctx, tenant, run); err != nil {
				return run, err
			}
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// performQueued performs a queued run, unless another process has claimed it or another run of the connector is
// active. A failed run is no error, for its row says so; a run that did not begin is one.
func (s *Syncer) performQueued(ctx context.Context, tenant connectors.TenantID, run connectors.SyncRun) error {
	done := make(chan error, 1)
	safe.Go(safe.Sync, func() { // Stop waits for it
		done <- safe.Try(safe.Sync, func() error {
			_, err := s.Sync(ctx, tenant, Request{Connector: connectors.Ref(run.ConnectorID.String()), Run: &run.ID})
			return err
		})()
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		current, readErr := s.store.Tenant(tenant).Syncs().Get(ctx, run.ID)
		f := fault.As(err)
		if err == nil || f.Type == store.TypeSyncRunning || readErr == nil && current.State != connectors.SyncQueued {
			return nil
		}
		return err
	}
}
