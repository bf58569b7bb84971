package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// TypeSyncTaken is the problem type of starting a queued run that was started or ended already.
const TypeSyncTaken = "sync-taken"

// List lists a connector's sync runs, newest first.
func (t Syncs) List(ctx context.Context, id connectors.ConnectorID, p Page) (List[connectors.SyncRun], error) {
	before, err := p.afterID("sync_runs")
	if err != nil {
		return List[connectors.SyncRun]{}, err
	}
	rows, err := t.q.SyncRuns(ctx, dbgen.SyncRunsParams{TenantID: t.id, ConnectorID: id, BeforeID: before, MaxRows: p.rowLimit()})
	if err != nil {
		return List[connectors.SyncRun]{}, err
	}
	item := func(r dbgen.SyncRunsRow) connectors.SyncRun { return toRepeatedRun(dbgen.SyncRunRow(r)) }
	return newList(p, rows, item, "sync_runs", func(r dbgen.SyncRunsRow) []string { return []string{r.SyncRun.ID.String()} }), nil
}

// Get reads one run.
func (t Syncs) Get(ctx context.Context, id connectors.SyncRunID) (connectors.SyncRun, error) {
	row, err := t.q.SyncRun(ctx, t.id, id)
	if err != nil {
		return connectors.SyncRun{}, rowError(err, "sync run")
	}
	return toRepeatedRun(row), nil
}

// Start begins a new run, or the queued run s.Run. It fails with Conflict of type [TypeSyncRunning] if
// another run of the connector is active; runs of dead processes are closed first. A queued run that is no
// longer queued is a Conflict of type [TypeSyncTaken].
func (t Syncs) Start(ctx context.Context, s SyncStart) (connectors.SyncRun, error) {
	connector := s.ConnectorID
	if s.Run != nil {
		queued, err := t.Get(ctx, *s.Run)
		if err != nil {
			return connectors.SyncRun{}, err
		}
		if queued.State != connectors.SyncQueued {
			return connectors.SyncRun{}, errTaken()
		}
		connector = queued.ConnectorID
	}
	row, err := t.startRun(ctx, s)
	if errors.Is(err, pgx.ErrNoRows) {
		// Checked only now whether the other run's process lives: the usual start is one statement.
		closed, closeErr := t.q.CloseOrphanedRuns(ctx, t.id, connector, &s.Instance)
		switch {
		case closeErr != nil:
			return connectors.SyncRun{}, closeErr
		case closed == 0 && s.Run == nil:
			return connectors.SyncRun{}, t.explainTaken(ctx, connector)
		}
		row, err = t.startRun(ctx, s)
	}
	switch {
	case err == nil:
		return toSyncRun(row), nil
	case !errors.Is(err, pgx.ErrNoRows):
		return connectors.SyncRun{}, err
	case s.Run != nil:
		return connectors.SyncRun{}, t.explainNotStarted(ctx, *s.Run)
	}
	return connectors.SyncRun{}, errRunning()
}

func (t *tenant) startRun(ctx context.Context, s SyncStart) (row dbgen.SyncRun, err error) {
	if s.Run == nil {
		return t.startNewRun(ctx, s)
	}
	err = t.ensureTx(ctx, func(tx *Tenant) error { // without a row the claim must be rolled back
		row, err = tx.q.StartQueuedRun(ctx, s.Instance.UUID, tx.id, *s.Run)
		return err
	})
	return row, err
}

// startNewRun begins a run that was not queued, with its audit entry if it was requested.
func (t *tenant) startNewRun(ctx context.Context, s SyncStart) (row dbgen.SyncRun, err error) {
	p := dbgen.StartRunParams{
		TenantID:    t.id,
		ID:          connectors.SyncRunID{UUID: newID()},
		ConnectorID: s.ConnectorID,
		AgentID:     s.AgentID,
		Trigger:     s.Trigger,
		InstanceID:  s.Instance.UUID,
	}
	if s.AuditEvent == nil {
		return t.q.StartRun(ctx, p)
	}
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		if row, err = tx.q.StartRun(ctx, p); err != nil {
			return err
		}
		return tx.recordSync(ctx, s.AuditEvent, toSyncRun(row))
	})
	return row, err
}

// explainTaken distinguishes a busy connector from a missing one.
func (t *tenant) explainTaken(ctx context.Context, id connectors.ConnectorID) error {
	if _, err := t.q.IsConnectorClaimed(ctx, t.id, id); err != nil {
		return rowError(err, "connector")
	}
	return errRunning()
}

// explainNotStarted distinguishes a queued run that waits for another run from one that was taken.
func (t *tenant) explainNotStarted(ctx context.Context, id connectors.SyncRunID) error {
	run, err := t.asTenant().Syncs().Get(ctx, id)
	switch {
	case err != nil:
		return err
	case run.State == connectors.SyncQueued:
		return errRunning()
	}
	return errTaken()
}

func errRunning() error {
	return fault.Errorf(fault.Conflict, "A sync is already running.").WithType(TypeSyncRunning)
}

func errTaken() error {
	return fault.Errorf(fault.Conflict, "This sync has started.").WithType(TypeSyncTaken)
}

// toRepeatedRun adds the repetitions, which the clock row holds while the run is the newest.
func toRepeatedRun(r dbgen.SyncRunRow) connectors.SyncRun {
	run := toSyncRun(r.SyncRun)
	if r.Checks > 0 {
		run.Repeats, run.RepeatedAt = int(r.Checks), toUTC(r.CheckedAt)
	}
	return run
}

func toSyncRun(r dbgen.SyncRun) connectors.SyncRun {
	return connectors.SyncRun{
		Repeats:     int(r.Repeats),
		RepeatedAt:  toUTC(r.RepeatedAt),
		ID:          r.ID,
		ConnectorID: r.ConnectorID,
		AgentID:     r.AgentID,
		Trigger:     r.Trigger,
		State:       r.State,
		QueuedAt:    r.QueuedAt.UTC(),
		StartedAt:   toUTC(r.StartedAt),
		FinishedAt:  toUTC(r.FinishedAt),
		Counts: connectors.SyncCounts{
			Total:       int(r.ToolsTotal),
			Added:       int(r.ToolsAdded),
			Changed:     int(r.ToolsChanged),
			Removed:     int(r.ToolsRemoved),
			Quarantined: int(r.ToolsQuarantined),
		},
		Items:           decodeItemCounts(r.ItemCounts),
		ProtocolVersion: r.ProtocolVersion,
		ErrorCode:       textOrEmpty(r.ErrorCode),
		ErrorMessage:    textOrEmpty(r.ErrorMessage),
		CancelledBy:     textOrEmpty(r.CancelledBy),
		Upstream:        decodeUpstream(r.Upstream),
	}
}
