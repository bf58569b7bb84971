package store

import (
	"context"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// NoticeSync says that a run was cancelled. ID is the run's.
const NoticeSync = "sync"

// TypeSyncCancelled is the problem type of a run that was cancelled.
const TypeSyncCancelled = "sync-cancelled"

// ErrSyncCancelled is the error of a run that was cancelled.
func ErrSyncCancelled() error {
	return fault.Errorf(fault.Conflict, "This sync was cancelled.").WithType(TypeSyncCancelled)
}

// Cancel ends a queued or running run and records asked. The process that performs the run is notified, and can store nothing more
// of it. It is a Conflict if the run has ended.
func (t Syncs) Cancel(ctx context.Context, id connectors.SyncRunID, by string, asked Event) (run connectors.SyncRun, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		state, err := tx.q.LockRun(ctx, tx.id, id)
		switch {
		case err != nil:
			return rowError(err, "sync run")
		case state.Ended():
			return tx.explainEnded(ctx, id)
		}
		row, err := tx.q.CancelRun(ctx, cleanText(by), tx.id, id)
		if err != nil {
			return err
		}
		run = toSyncRun(row)
		if err := tx.recordSync(ctx, &asked, run); err != nil {
			return err
		}
		return tx.notifyChange(nil, NoticeSync, id)
	})
	return run, err
}

// CancelledAmong returns those of the runs that were cancelled.
func (s SystemSyncs) CancelledAmong(ctx context.Context, runs map[connectors.SyncRunID]connectors.TenantID) ([]connectors.SyncRunID, error) {
	var tenants, ids []uuid.UUID
	for id, tenant := range runs {
		tenants, ids = append(tenants, tenant.UUID), append(ids, id.UUID)
	}
	return s.q.CancelledRuns(ctx, tenants, ids)
}
