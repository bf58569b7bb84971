package toolsync

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// errCancelled is the cause of a cancelled run's context.
var errCancelled = errors.New("cancelled by a person")

// activeRuns are the runs of this process that can be cancelled. The zero value works.
type activeRuns struct {
	mu   sync.Mutex
	byID map[connectors.SyncRunID]activeRun // guarded by mu
}

type activeRun struct {
	tenant connectors.TenantID
	cancel context.CancelCauseFunc
}

// addRun registers a run. end must be called.
func (a *activeRuns) addRun(ctx context.Context, tenant connectors.TenantID, id connectors.SyncRunID) (cancellable context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID == nil {
		a.byID = map[connectors.SyncRunID]activeRun{}
	}
	a.byID[id] = activeRun{tenant: tenant, cancel: cancel}
	return ctx, func() {
		cancel(nil)
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.byID, id)
	}
}

// cancelRun cancels a run of this process; others are ignored.
func (a *activeRuns) cancelRun(id connectors.SyncRunID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if run, ok := a.byID[id]; ok {
		run.cancel(errCancelled)
	}
}

func (a *activeRuns) listRuns() map[connectors.SyncRunID]connectors.TenantID {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make(map[connectors.SyncRunID]connectors.TenantID, len(a.byID))
	for id, run := range maps.All(a.byID) {
		all[id] = run.tenant
	}
	return all
}

// Cancel ends a queued or running run, in any process. A member may. It is a Conflict if the run has ended. The run stores nothing, and
// its connector has not failed.
func (s *Syncer) Cancel(ctx context.Context, a auth.Actor, id connectors.SyncRunID) (run connectors.SyncRun, err error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return connectors.SyncRun{}, err
	}
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		queued, err := tx.Syncs().Get(ctx, id)
		if err != nil {
			return err
		}
		c, err := tx.Connectors().Get(ctx, connectors.Ref(queued.ConnectorID.String()))
		if err != nil {
			return err
		}
		event := a.Event("connector.sync_cancel", c.Slug)
		event.Detail = map[string]any{"connector_id": c.ID.String()}
		run, err = tx.Syncs().Cancel(ctx, id, a.Name, event)
		return err
	})
	if err != nil {
		return connectors.SyncRun{}, err
	}
	s.active.cancelRun(id) // without [store.Store.Watch], too
	s.finished(run)
	s.feed.send(a.Tenant.ID, Progress{Connector: run.ConnectorID, Run: id, Done: true})
	return run, nil
}

// OnNotify handles a notice of [store.Store.Watch].
func (s *Syncer) OnNotify(n store.ChangeEvent) {
	if n.Kind != store.NoticeSync {
		return
	}
	if id, err := uuid.Parse(n.ID); err == nil {
		s.active.cancelRun(connectors.SyncRunID{UUID: id})
	}
}

// abortCancelled aborts the cancelled runs of this process that got no notice.
func (s *Syncer) abortCancelled(ctx context.Context) {
	active := s.active.listRuns()
	if len(active) == 0 {
		return
	}
	cancelled, err := s.store.System().Syncs().CancelledAmong(ctx, active)
	if err != nil {
		return // the next heartbeat tries again
	}
	for _, id := range cancelled {
		s.active.cancelRun(id)
	}
}

// endCancelled returns the row of a run that failed because it was cancelled; ok is false for other failures.
func (r *run) endCancelled(ctx context.Context, err error) (done connectors.SyncRun, ok bool) {
	if !errors.Is(context.Cause(ctx), errCancelled) && fault.As(err).Type != store.TypeSyncCancelled {
		return connectors.SyncRun{}, false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	done, err = r.store.Tenant(r.tenant).Syncs().Get(ctx, r.id)
	if err != nil { // its requests are not stored
		r.log.WarnContext(ctx, "cancelled sync not read", slog.String("sync_run_id", r.id.String()), slog.Any("error", err))
	}
	return done, true
}
