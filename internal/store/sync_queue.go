package store

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/queue"
	"patchbay/internal/store/dbgen"
)

// Queue stores a queued run and its job in one transaction. It returns the queued run if the connector has
// one.
func (t Syncs) Queue(ctx context.Context, r NewRun) (connectors.SyncRun, error) {
	var run connectors.SyncRun
	err := t.ensureTx(ctx, func(tx *Tenant) error {
		var err error
		if run, err = tx.queueSync(ctx, r); err != nil {
			return err
		}
		return tx.recordSync(ctx, r.AuditEvent, run)
	})
	return run, err
}

func (t *tenant) queueSync(ctx context.Context, r NewRun) (connectors.SyncRun, error) {
	row, err := t.q.QueueRun(ctx, dbgen.QueueRunParams{
		TenantID:    t.id,
		ID:          connectors.SyncRunID{UUID: newID()},
		ConnectorID: r.ConnectorID,
		AgentID:     r.AgentID,
		Trigger:     r.Trigger,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		row, err = t.q.QueuedRun(ctx, t.id, r.ConnectorID)
		if errors.Is(err, pgx.ErrNoRows) { // it began between the two statements
			return connectors.SyncRun{}, fault.Errorf(fault.Conflict, "A sync is already running.").WithType(TypeSyncRunning)
		}
		return toSyncRun(row), err
	}
	if err != nil {
		return connectors.SyncRun{}, err
	}
	waiting, err := t.q.WaitingRuns(ctx, t.id, queue.Few+1) // including this one
	if err != nil {
		return connectors.SyncRun{}, err
	}
	job := queue.SyncTools{TenantID: t.id.UUID, ConnectorID: row.ConnectorID.UUID, SyncRunID: row.ID.UUID, OfMany: waiting > queue.Few}
	return toSyncRun(row), classifyError(t.store.jobs.InsertTx(ctx, t.scope.tx, job))
}

// QueueAll queues a run of every enabled connector without one and returns their number. With the runs
// queued before they form a sweep, see [Syncs.NewestSweep]. asked is the audit entry; nil: none.
func (t Syncs) QueueAll(ctx context.Context, trigger connectors.SyncTrigger, asked *Event) (int, error) {
	queued := 0
	err := t.ensureTx(ctx, func(tx *Tenant) error {
		enabled, err := tx.q.EnabledConnectorIDs(ctx, tx.id)
		if err != nil {
			return err
		}
		if len(enabled) == 0 {
			return tx.recordAllSyncs(ctx, asked, 0)
		}
		params := dbgen.QueueRunsParams{TenantID: tx.id, Trigger: trigger, SweepID: newID()}
		for _, id := range enabled {
			params.Ids = append(params.Ids, newID())
			params.ConnectorIds = append(params.ConnectorIds, id.UUID)
		}
		rows, err := tx.q.QueueRuns(ctx, params)
		if err != nil {
			return err
		}
		waited := len(rows)
		rows = onlyNew(rows, params.Ids)
		queued = len(rows)
		if err := tx.store.jobs.InsertTx(ctx, tx.scope.tx, toJobs(tx.id.UUID, rows, waited-queued)...); err != nil {
			return classifyError(err)
		}
		return tx.recordAllSyncs(ctx, asked, queued)
	})
	return queued, err
}

// onlyNew drops the runs that were queued before, which have jobs.
func onlyNew(rows []dbgen.QueueRunsRow, made []uuid.UUID) []dbgen.QueueRunsRow {
	ours := make(map[uuid.UUID]bool, len(made))
	for _, id := range made {
		ours[id] = true
	}
	return slices.DeleteFunc(rows, func(r dbgen.QueueRunsRow) bool { return !ours[r.ID.UUID] })
}

// toJobs returns the jobs of runs, behind waiting others.
func toJobs(tenant uuid.UUID, rows []dbgen.QueueRunsRow, waiting int) []queue.SyncTools {
	jobs := make([]queue.SyncTools, len(rows))
	for i, r := range rows {
		jobs[i] = queue.SyncTools{TenantID: tenant, ConnectorID: r.ConnectorID.UUID, SyncRunID: r.ID.UUID, OfMany: waiting+i >= queue.Few}
	}
	return jobs
}
